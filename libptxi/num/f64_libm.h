/* sin, cos, lg2 and ex2 in f64, which the PTX ISA does not have (see isa/dialect.def): within four units in the last place (all but lg2:
 * two), and the same on every host, because its mathematical library is not asked. */
#ifndef PTXI_NUM_F64_LIBM_H
#define PTXI_NUM_F64_LIBM_H

/* Of a NaN, or where there is no result, some NaN. */
double ptxi_num_sin_f64(double x);
double ptxi_num_cos_f64(double x);
double ptxi_num_lg2_f64(double x);
double ptxi_num_ex2_f64(double x);

#endif
