/* Reference for formats narrower than f32: by search among the values of their codes. */
#ifndef PTXI_TESTS_SMALL_H
#define PTXI_TESTS_SMALL_H

#include <stdbool.h>

enum { TF32, F16_, BF16_, E5M2, E4M3, E3M2, E2M3, E2M1, SMALLS };

struct small {
    int fraction, exponent, bias;
    unsigned top, nan; /* codes of the largest number and of a NaN result */
    bool has_inf;      /* as the code above top */
};
extern const struct small smalls[SMALLS];

static inline unsigned small_sign(const struct small *f)
{
    return 1u << (f->fraction + f->exponent);
}

/* Of a code without its sign, up to the one above the largest; as if that were a number. */
double small_value(const struct small *f, unsigned code);

/* Of any code. */
double small_number(const struct small *f, unsigned code);

/* The first four are numbered like PTX's roundings. */
enum { SMALL_RN, SMALL_RZ, SMALL_RM, SMALL_RP, SMALL_RNA, SMALL_RS };

/* SMALL_RS: rounded up where the fraction, cut to `bits` bits, and the random number make 1. */
unsigned small_code(const struct small *f, double x, int rounding, bool finite, unsigned random, int bits);

/* s2f6: the signed byte whose 64th is next to x; a NaN is the largest. */
unsigned fixed_code(double x);

#endif
