/* Random operands. See words.h. */
#include "conformance/words.h"

#define ANY UINT32_MAX

const char *const words_kinds[WORDS_KINDS] = { "any bits", "far exponents", "near exponents" };

const struct words_masks words_f16 = { { ANY, 0xbfffbfff, 0x8fff8fff }, { 0, 0, 0x30003000 } };
const struct words_masks words_bf16 = { { ANY, 0x8fff8fff, 0x81ff81ff }, { 0, 0x30003000, 0x3e003e00 } };
const struct words_masks words_tf32 = { { ANY, 0x8fffffff, 0x81ffffff }, { 0, 0x30000000, 0x3e000000 } };
const struct words_masks words_e4m3 = { { ANY, 0xbfbfbfbf, 0x9f9f9f9f }, { 0, 0, 0x20202020 } };
const struct words_masks words_e5m2 = { { ANY, 0xbfbfbfbf, 0x8f8f8f8f }, { 0, 0, 0x30303030 } };
const struct words_masks words_f32 = { { ANY, 0x87ffffff, 0x81ffffff }, { 0, 0x38000000, 0x3e000000 } };
const struct words_masks words_f64 = { { ANY, 0x87ffffff, 0x801fffff }, { 0, 0x38000000, 0x3fe00000 } };
const struct words_masks words_bits = { { ANY, ANY, ANY }, { 0, 0, 0 } };
const struct words_masks words_sum = { { ANY, 0x8003ffff, 0x8003ffff }, { 0, 0x80000000, 0x7ffc0000 } };

void words_put(FILE *out, const char *x, const char *index)
{
    fprintf(out,
            "    mad.lo.u32 %s, %s, 0x9e3779b9, %%seed;\n    shr.u32 %%s, %s, 16;\n    xor.b32 %s, %s, %%s;\n    "
            "mul.lo.u32 %s, %s, 0x85ebca6b;\n"
            "    shr.u32 %%s, %s, 13;\n    xor.b32 %s, %s, %%s;\n    mul.lo.u32 %s, %s, 0xc2b2ae35;\n    shr.u32 %%s, "
            "%s, 16;\n    xor.b32 %s, %s, %%s;\n",
            x, index, x, x, x, x, x, x, x, x, x, x, x, x, x);
}

void words_mask(FILE *out, const char *x, const struct words_masks *m, unsigned kind)
{
    if (m->keep[kind] != ANY)
        fprintf(out, "    and.b32 %s, %s, 0x%08x;\n", x, x, m->keep[kind]);
    if (m->set[kind])
        fprintf(out, "    or.b32 %s, %s, 0x%08x;\n", x, x, m->set[kind]);
}
