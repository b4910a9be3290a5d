/* sin, cos, lg2 and ex2 in f64, which the PTX ISA does not have (see isa/dialect.def). The error is at most two units
 * in the last place, and four for lg2. Results are the same on every host, because they do not depend on its math
 * library. */
#ifndef PTXI_NUM_F64_LIBM_H
#define PTXI_NUM_F64_LIBM_H

/* The result is some NaN if the operand is a NaN or if there is no result. */
double ptxi_num_sin_f64(double x);
double ptxi_num_cos_f64(double x);
double ptxi_num_lg2_f64(double x);
double ptxi_num_ex2_f64(double x);

#endif
