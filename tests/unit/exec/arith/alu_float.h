/* Reference arithmetic of floats for test_alu.c, on bits. */
#ifndef PTXI_TESTS_ALU_FLOAT_H
#define PTXI_TESTS_ALU_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

#include "unit/exec/arith/alu.h"

/* IEEE binary128. Compilers name it differently; on aarch64 it is long double. */
#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad;
_Static_assert(__LDBL_MANT_DIG__ == 113, "no type with 113 bits of precision");
#endif

enum { MINMAX_MAX = 1, MINMAX_FTZ = 2, MINMAX_NAN = 4, MINMAX_XOR = 8 };

double from_f64(uint64_t bits);
float from_f32(uint32_t bits);
uint32_t flushed_f32(uint32_t bits);
bool nan_f32(uint32_t bits);

/* op: add sub mul fma div rcp sqrt; v: the operands; rounding and .sat from mods. */
uint32_t f32_result(int op, const unsigned __int128 *v, unsigned mods, bool ftz);
/* Arithmetic of f16 and bf16, op: add sub mul fma; .ftz, .sat and .relu from mods. */
uint16_t half_result(int op, const uint16_t *v, enum kind k, unsigned mods);
uint16_t minmax_half_result(uint16_t a, uint16_t b, enum kind k, int how);
uint64_t f64_result(int op, const unsigned __int128 *v, unsigned mods);
uint32_t minmax_f32_result(uint32_t a, uint32_t b, int how);
uint64_t minmax_f64_result(uint64_t a, uint64_t b, bool max);

/* The value of a float of a kind. With ftz, subnormals are zeros. */
quad exact_value(unsigned __int128 bits, enum kind k, bool ftz);
/* x rounded to an integer, then clamped. */
__int128 integral_clamped(quad x, unsigned mods, __int128 low, __int128 high);
/* x converted to a kind, rounded and saturated as mods say. `sign` is the sign of a zero. */
uint64_t rounded_with_sat(quad x, bool negative, enum kind k, unsigned mods);
/* cvt between floats, or to an integral value. */
uint64_t converted(unsigned __int128 bits, enum kind from, enum kind to, unsigned mods);
uint64_t rounded_integral(unsigned __int128 bits, enum kind k, unsigned mods);

#endif
