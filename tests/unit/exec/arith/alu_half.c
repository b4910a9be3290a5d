/* Cases of f16 and bf16 with one or two elements per lane. */
#include "unit/exec/arith/alu.h"

#include "isa/bytecode.h"
#include "num/approx.h"
#include "unit/exec/arith/alu_float.h"

#define WHICH (o->case_->which)

/* --- one reference for both, called for each element --- */
typedef uint16_t element_reference(const struct operands *o, const uint16_t *v, enum kind k);

static void for_each_element(const struct operands *o, struct results *r, element_reference *f)
{
    enum kind k = o->case_->a;
    bool pair = k == F16X2 || k == BF16X2;

    r->d = 0;
    for (int n = 0; n < 1 + pair; n++) {
        uint16_t v[3];

        for (int i = 0; i < 3; i++)
            v[i] = (uint16_t)(o->v[i] >> (16 * n));
        r->d |= (unsigned __int128)f(o, v, k == F16 || k == F16X2 ? F16 : BF16) << (16 * n);
    }
}

#define ELEMENT_REF(name)                                                                             \
    static uint16_t name##_element(const struct operands *o, const uint16_t *v, enum kind k);  \
    REF(name) { for_each_element(o, r, name##_element); }                                                  \
    static uint16_t name##_element(const struct operands *o, const uint16_t *v, enum kind k)

static uint16_t flushed(const struct operands *o, uint16_t a)
{
    return o->mods & PTXI_MOD_FTZ && !(a & 0x7c00) ? a & 0x8000 : a;
}

static bool is_nan(uint16_t a, enum kind k)
{
    return (a & 0x7fff) > (k == F16 ? 0x7c00 : 0x7f80);
}

/* which: 0 add, 1 sub, 2 mul, 3 fma */
ELEMENT_REF(arithmetic) { return half_result(WHICH, v, k, o->mods); }
ELEMENT_REF(fma_oob)
{
    return (v[0] & 0x7fff) == 0x7ff7 || (v[1] & 0x7fff) == 0x7ff7 ? 0 : half_result(3, v, k, o->mods);
}
ELEMENT_REF(neg) { return is_nan(v[0], k) ? 0x7fff : flushed(o, v[0]) ^ 0x8000; }
ELEMENT_REF(abs_) { return is_nan(v[0], k) ? 0x7fff : flushed(o, v[0]) & 0x7fff; }
ELEMENT_REF(minmax)
{
    return minmax_half_result(v[0], v[1], k, WHICH | (o->mods & PTXI_MOD_FTZ ? MINMAX_FTZ : 0) |
                              (o->mods & PTXI_MOD_NAN ? MINMAX_NAN : 0) |
                                                 (o->mods & PTXI_MOD_XORSIGN ? MINMAX_XOR : 0));
}

/* Only the lanes are tested. tests/conformance compares the functions with recordings. */
ELEMENT_REF(ex2) { (void)o; return k == F16 ? ptxi_num_ex2_approx_f16(v[0]) : ptxi_num_ex2_approx_ftz_bf16(v[0]); }
ELEMENT_REF(tanh_) { (void)o; return k == F16 ? ptxi_num_tanh_approx_f16(v[0]) : ptxi_num_tanh_approx_bf16(v[0]); }

/* which: the comparison, 0 to 13 */
static bool compare(const struct operands *o, uint16_t a, uint16_t b, enum kind k)
{
    quad x = exact_value(a, k, o->mods & PTXI_MOD_FTZ), y = exact_value(b, k, o->mods & PTXI_MOD_FTZ);
    bool number = x == x && y == y;

    switch (WHICH) {
    case 12: return number;
    case 13: return !number;
    default: break;
    }
    if (!number)
        return WHICH >= 6;
    return (bool[]){ x == y, x != y, x < y, x <= y, x > y, x >= y }[WHICH % 6];
}

REF(setp)
{
    enum kind k = o->case_->a;
    bool pair = k == F16X2 || k == BF16X2, c = (o->v[2] & 1) ^ !!(o->mods & PTXI_MOD_NOT_C), *out[2] = { &r->p, &r->q };

    k = k == F16 || k == F16X2 ? F16 : BF16;
    for (int n = 0; n < 2; n++) {
        bool t = n && !pair ? !compare(o, (uint16_t)o->v[0], (uint16_t)o->v[1], k)
                            : compare(o, (uint16_t)(o->v[0] >> (16 * n)), (uint16_t)(o->v[1] >> (16 * n)), k);

        *out[n] = (bool[]){ t, t && c, t || c, t != c }[(o->mods & PTXI_MOD_BOOL_MASK) >> PTXI_MOD_BOOL_SHIFT];
    }
}

/* --- modifiers to try --- */
enum { FTZ = PTXI_MOD_FTZ, SAT = PTXI_MOD_SAT, RELU = PTXI_MOD_RELU, QUIET = PTXI_MOD_NAN, XORSIGN = PTXI_MOD_XORSIGN };
MODS(none, 0)
MODS(ftzs, 0, FTZ)
#define BOOL(n) ((n) << PTXI_MOD_BOOL_SHIFT)
MODS(bools, 0, BOOL(1), BOOL(2), BOOL(3), BOOL(1) | PTXI_MOD_NOT_C, BOOL(2) | PTXI_MOD_NOT_C)
MODS(bools_ftz, 0, FTZ, BOOL(1) | FTZ, BOOL(2) | FTZ, BOOL(3) | FTZ, BOOL(3) | PTXI_MOD_NOT_C)
MODS(relus, 0, RELU)
MODS(ftz_sats, 0, FTZ, SAT, FTZ | SAT)
MODS(fma_mods, 0, FTZ, SAT, FTZ | SAT, RELU, FTZ | RELU)
MODS(minmax_mods, 0, QUIET, XORSIGN, QUIET | XORSIGN, FTZ, FTZ | QUIET, FTZ | XORSIGN, FTZ | QUIET | XORSIGN)
MODS(minmax_mods_bf16, 0, QUIET, XORSIGN, QUIET | XORSIGN)

#define OP_2(op, T, K, mods, which) CASE(op##_##T, K, K, K, NONE, NONE, arithmetic, mods, 0, 0, which)
#define COMMON(T, K, of_two, of_fma, of_sign, of_minmax) \
    OP_2(add, T, K, of_two, 0) OP_2(sub, T, K, of_two, 1) OP_2(mul, T, K, of_two, 2) \
    CASE(fma_##T, K, K, K, K, NONE, arithmetic, of_fma, 0, 0, 3) \
    CASE(fma_oob_##T, K, K, K, K, NONE, fma_oob, relus, 0, 0, 0) \
    CASE(neg_##T, K, K, NONE, NONE, NONE, neg, of_sign, 0, 0, 0) \
    CASE(abs_##T, K, K, NONE, NONE, NONE, abs_, of_sign, 0, 0, 0) \
    CASE(min_##T, K, K, K, NONE, NONE, minmax, of_minmax, 0, 0, 0) \
    CASE(max_##T, K, K, K, NONE, NONE, minmax, of_minmax, 0, 0, MINMAX_MAX) \
    CASE(ex2_approx_##T, K, K, NONE, NONE, NONE, ex2, none, 0, 0, 0) \
    CASE(tanh_approx_##T, K, K, NONE, NONE, NONE, tanh_, none, 0, 0, 0)
#define SETP(cmp, T, K, mods, which) CASE(setp_##cmp##_##T, PRED, K, K, PRED, NONE, setp, mods, SECOND, 2, which)
#define SETPS(cmp, which) \
    SETP(cmp, f16, F16, bools_ftz, which) SETP(cmp, f16x2, F16X2, bools_ftz, which) \
    SETP(cmp, bf16, BF16, bools, which) SETP(cmp, bf16x2, BF16X2, bools, which)
#define F16_CASES(T, K) COMMON(T, K, ftz_sats, fma_mods, ftzs, minmax_mods)
#define BF16_CASES(T, K) COMMON(T, K, none, relus, none, minmax_mods_bf16)

static const struct alu_case cases[] = {
    F16_CASES(f16, F16) F16_CASES(f16x2, F16X2)
    BF16_CASES(bf16, BF16) BF16_CASES(bf16x2, BF16X2)
    SETPS(eq, 0) SETPS(ne, 1) SETPS(lt, 2) SETPS(le, 3) SETPS(gt, 4) SETPS(ge, 5) SETPS(equ, 6) SETPS(neu, 7)
    SETPS(ltu, 8)
    SETPS(leu, 9) SETPS(gtu, 10) SETPS(geu, 11) SETPS(num, 12) SETPS(nan, 13)
};
ALU_TABLE(alu_half, cases)
