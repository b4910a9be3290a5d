/* Reference conversions for formats narrower than f32, which search among the values of all codes. */
#ifndef PTXI_TESTS_SMALL_H
#define PTXI_TESTS_SMALL_H

#include <stdbool.h>

enum { TF32, F16_, BF16_, E5M2, E4M3, E3M2, E2M3, E2M1, SMALLS, UE5M3 = SMALLS };

struct small {
    int fraction, exponent, bias;
    unsigned top, nan; /* codes of the largest number and of the NaN result */
    bool has_inf;      /* the code after `top` is infinity */
};
extern const struct small smalls[SMALLS + 1]; /* UE5M3, which has no sign, is the last one */

static inline unsigned small_sign(const struct small *f)
{
    return 1u << (f->fraction + f->exponent);
}

/* Value of a code without its sign. The code after the largest number is read as if it were a number, too. */
double small_value(const struct small *f, unsigned code);

/* Value of any code. */
double small_number(const struct small *f, unsigned code);

/* The first four have the numbers of the PTX rounding modes. */
enum { SMALL_RN, SMALL_RZ, SMALL_RM, SMALL_RP, SMALL_RNA, SMALL_RS };

/* SMALL_RS rounds up if the fraction, truncated to `bits` bits, plus the random number is at least 1. */
unsigned small_code(const struct small *f, double x, int rounding, bool finite, unsigned random, int bits);

/* s2f6: the signed byte that is nearest to x in units of 1/64. A NaN gives the largest byte. */
unsigned fixed_code(double x);

#endif
