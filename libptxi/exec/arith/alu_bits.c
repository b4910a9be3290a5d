/* PTX ISA, "Logic and Shift Instructions", the bit operations of "Integer Arithmetic Instructions", and prmt. */
#include "exec/engine/op_shapes.h"
#include "num/integer.h"

#define LOGIC(n, t)                                              \
    OP2(and_b##n, t, t, t, a[l] & b[l])                          \
    OP2(or_b##n, t, t, t, a[l] | b[l])                           \
    OP2(xor_b##n, t, t, t, a[l] ^ b[l])                          \
    OP1(not_b##n, t, t, (t)~a[l])                                \
    OP1(cnot_b##n, t, t, a[l] == 0)                              \
    OP2(shl_b##n, t, t, uint32_t, ptxi_num_shl_b##n(a[l], b[l])) \
    OP2(shr_u##n, t, t, uint32_t, ptxi_num_shr_u##n(a[l], b[l])) \
    OP2(shr_s##n, int##n##_t, int##n##_t, uint32_t, ptxi_num_shr_s##n(a[l], b[l]))
LOGIC(16, uint16_t)
LOGIC(32, uint32_t)
LOGIC(64, uint64_t)
OP3(lea_32, uint32_t, uint32_t, uint32_t, uint32_t, ptxi_num_shl_b32(a[l], b[l]) + c[l])
OP3(lea_64, uint64_t, uint64_t, uint32_t, uint64_t, ptxi_num_shl_b64(a[l], b[l]) + c[l])

/* --- predicates are masks of lanes --- */
OP( and_pred )
{
    ptxi_set_pred(w, i->d, ptxi_pred(w, i->a) & ptxi_pred(w, i->b));
    NEXT;
}

OP( or_pred )
{
    ptxi_set_pred(w, i->d, ptxi_pred(w, i->a) | ptxi_pred(w, i->b));
    NEXT;
}

OP( xor_pred )
{
    ptxi_set_pred(w, i->d, ptxi_pred(w, i->a) ^ ptxi_pred(w, i->b));
    NEXT;
}

OP( not_pred )
{
    ptxi_set_pred(w, i->d, ~ptxi_pred(w, i->a));
    NEXT;
}

OP( and_pred_n )
{
    ptxi_set_pred(w, i->d, ptxi_pred(w, i->a) & ~ptxi_pred(w, i->b));
    NEXT;
}

OP( or_pred_n )
{
    ptxi_set_pred(w, i->d, ptxi_pred(w, i->a) | ~ptxi_pred(w, i->b));
    NEXT;
}

/* --- lop3: the low byte of imm is the truth table. Its bit 4a + 2b + c is the result for the bits a, b and c. --- */
#define SELECT_BITS(s, one, zero) ((zero) ^ ((s) & ((one) ^ (zero))))
#define TABLE_BIT(k) (uint32_t)-(int32_t)(lut >> (k) & 1)

OP( lop3_b32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d);
    unsigned lut = (uint8_t)i->imm;
    uint32_t r0 = TABLE_BIT(0), r1 = TABLE_BIT(1), r2 = TABLE_BIT(2), r3 = TABLE_BIT(3);
    uint32_t r4 = TABLE_BIT(4), r5 = TABLE_BIT(5), r6 = TABLE_BIT(6), r7 = TABLE_BIT(7);

    switch (lut) {
    case 0x96:
        WRITE_LANES(d, a[l] ^ b[l] ^ c[l]);
        break;
    default:
        WRITE_LANES(d, SELECT_BITS(a[l], SELECT_BITS(b[l], SELECT_BITS(c[l], r7, r6), SELECT_BITS(c[l], r5, r4)),
                                   SELECT_BITS(b[l], SELECT_BITS(c[l], r3, r2), SELECT_BITS(c[l], r1, r0))));
    }
    NEXT;
}

/* --- shf: funnel shifts of b:a --- */
#define SHF_L(x, y, n) ((y) << (n) | (x) >> 1 >> (31 - (n)))
#define SHF_R(x, y, n) ((x) >> (n) | (y) << 1 << (31 - (n)))

/* With .wrap, a shift of a register with itself is a rotation, which hosts have. With .clamp, a count of 32 or more
 * selects `beyond`. */
#define FUNNEL(name, shift, rotate, beyond)                                                       \
    OP( name )                                                                                    \
    {                                                                                             \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c); \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                         \
                                                                                                  \
        if (i->a == i->b && i->mods & PTXI_MOD_WRAP)                                              \
            WRITE_LANES(d, rotate(a[l], c[l] & 31));                                              \
        else if (i->mods & PTXI_MOD_WRAP)                                                         \
            WRITE_LANES(d, shift(a[l], b[l], c[l] & 31));                                         \
        else                                                                                      \
            WRITE_LANES(d, c[l] < 32 ? shift(a[l], b[l], c[l] & 31) : beyond[l]);                 \
        NEXT;                                                                                     \
    }
#define ROTATE_L(x, n) ((x) << (n) | (x) >> (-(n) & 31))
#define ROTATE_R(x, n) ((x) >> (n) | (x) << (-(n) & 31))
FUNNEL(shf_l_b32, SHF_L, ROTATE_L, a)
FUNNEL(shf_r_b32, SHF_R, ROTATE_R, b)

/* --- counting and finding --- */
OP1(popc_b32, uint32_t, uint32_t, ptxi_num_popc_b32(a[l]))
OP1(popc_b64, uint32_t, uint64_t, ptxi_num_popc_b64(a[l]))
OP1(clz_b32, uint32_t, uint32_t, ptxi_num_clz_b32(a[l]))
OP1(clz_b64, uint32_t, uint64_t, ptxi_num_clz_b64(a[l]))
OP1(brev_b32, uint32_t, uint32_t, ptxi_num_brev_b32(a[l]))
OP1(brev_b64, uint64_t, uint64_t, ptxi_num_brev_b64(a[l]))

/* bfind: the most significant bit that differs from the sign. */
#define BFIND(n, type, value)                                                   \
    OP( bfind_##type )                                                          \
    {                                                                           \
        const uint##n##_t *a = PTXI_SLOT(w, i->a);                              \
        uint32_t *d = PTXI_SLOT(w, i->d);                                       \
        bool shiftamt = i->mods & PTXI_MOD_SHIFTAMT;                            \
                                                                                \
        WRITE_LANES_COLD(d, ptxi_num_bfind_b##n(value, shiftamt));              \
        NEXT;                                                                   \
    }
#define SIGNLESS(n, x) ((x) ^ -((x) >> (n - 1)))
BFIND(32, u32, a[l])
BFIND(32, s32, SIGNLESS(32, a[l]))
BFIND(64, u64, a[l])
BFIND(64, s64, SIGNLESS(64, a[l]))

OP( fns_b32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    const int32_t *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES_COLD(d, ptxi_num_fns(a[l], b[l], c[l]));
    NEXT;
}

/* --- bit fields --- */
#define FIELDS(n, t)                                                                                      \
    OP3(bfe_u##n, t, t, uint32_t, uint32_t, ptxi_num_bfe_u##n(a[l], b[l], c[l]))                          \
    OP3(bfe_s##n, t, t, uint32_t, uint32_t, ptxi_num_bfe_s##n(a[l], b[l], c[l]))                          \
    OP( bfi_b##n )                                                                                        \
    {                                                                                                     \
        const t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                                         \
        const uint32_t *pos = PTXI_SLOT(w, i->c), *len = PTXI_SLOT(w, (uint16_t)i->imm);                  \
        t *d = PTXI_SLOT(w, i->d);                                                                        \
                                                                                                          \
        WRITE_LANES(d, ptxi_num_bfi_b##n(a[l], b[l], pos[l], len[l]));                                    \
        NEXT;                                                                                             \
    }
FIELDS(32, uint32_t)
FIELDS(64, uint64_t)

/* A count with .wrap is taken modulo 32. With .clamp a count above 32 is 32. */
static inline uint32_t wrap_or_clamp(uint32_t x, bool wrap)
{
    uint32_t clamped = x < 32 ? x : 32;

    return wrap ? x & 31 : clamped;
}

OP( bmsk_b32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    uint32_t *d = PTXI_SLOT(w, i->d);
    bool wrap = i->mods & PTXI_MOD_WRAP;

    WRITE_LANES_COLD(d, ptxi_num_shl_b32(ptxi_num_low_bits_32(wrap_or_clamp(b[l], wrap)), wrap_or_clamp(a[l], wrap)));
    NEXT;
}

OP( szext_u32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    uint32_t *d = PTXI_SLOT(w, i->d);
    bool wrap = i->mods & PTXI_MOD_WRAP;

    WRITE_LANES_COLD(d, a[l] & ptxi_num_low_bits_32(wrap_or_clamp(b[l], wrap)));
    NEXT;
}

OP( szext_s32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    uint32_t *d = PTXI_SLOT(w, i->d);
    bool wrap = i->mods & PTXI_MOD_WRAP;

    WRITE_LANES_COLD(d, ptxi_num_bfe_s32(a[l], 0, wrap_or_clamp(b[l], wrap)));
    NEXT;
}

/* --- prmt: selects bytes of b:a. A selector has four bits for each byte of the result; bit 3 selects the sign of the
 * byte instead. --- */
static inline uint32_t permute_byte(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t byte = (selector & 4 ? b : a) >> (8 * (selector & 3)) & 0xff;

    if (selector & 8)
        return byte & 0x80 ? 0xff : 0;
    return byte;
}

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    return permute_byte(a, b, selector) | permute_byte(a, b, selector >> 4) << 8 |
           permute_byte(a, b, selector >> 8) << 16 | permute_byte(a, b, selector >> 12) << 24;
}

OP( prmt_b32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES_COLD(d, permute(a[l], b[l], c[l]));
    NEXT;
}

/* A mode has four selectors. The low two bits of c choose one. */
#define PRMT_MODE(mode, s0, s1, s2, s3)                                                            \
    OP( prmt_##mode )                                                                              \
    {                                                                                              \
        static const uint16_t selectors[4] = { s0, s1, s2, s3 };                                   \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);  \
        uint32_t *d = PTXI_SLOT(w, i->d);                                                          \
                                                                                                   \
        WRITE_LANES_COLD(d, permute(a[l], b[l], selectors[c[l] & 3]));                             \
        NEXT;                                                                                      \
    }
PRMT_MODE(f4e, 0x3210, 0x4321, 0x5432, 0x6543)
PRMT_MODE(b4e, 0x5670, 0x6701, 0x7012, 0x0123)
PRMT_MODE(rc8, 0x0000, 0x1111, 0x2222, 0x3333)
PRMT_MODE(ecl, 0x3210, 0x3211, 0x3222, 0x3333)
PRMT_MODE(ecr, 0x0000, 0x1110, 0x2210, 0x3210)
PRMT_MODE(rc16, 0x1010, 0x3232, 0x1010, 0x3232)
