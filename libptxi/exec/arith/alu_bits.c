/* PTX ISA, "Logic and Shift Instructions", the bit operations of "Integer Arithmetic Instructions", and prmt. */
#include "exec/engine/op_shapes.h"
#include "num/integer.h"

#define LOGIC(n, t)                                    \
    OP2(and_b##n, t, t, t, a[l] & b[l])                \
    OP2(or_b##n, t, t, t, a[l] | b[l])                 \
    OP2(xor_b##n, t, t, t, a[l] ^ b[l])                \
    OP1(not_b##n, t, t, (t)~a[l])                      \
    OP1(cnot_b##n, t, t, a[l] == 0)                    \
    OP2(shl_b##n, t, t, uint32_t, ptxi_num_shl_b##n(a[l], b[l])) \
    OP2(shr_u##n, t, t, uint32_t, ptxi_num_shr_u##n(a[l], b[l])) \
    OP2(shr_s##n, int##n##_t, int##n##_t, uint32_t, ptxi_num_shr_s##n(a[l], b[l]))
LOGIC(16, uint16_t)
LOGIC(32, uint32_t)
LOGIC(64, uint64_t)
OP3(lea_32, uint32_t, uint32_t, uint32_t, uint32_t, ptxi_num_shl_b32(a[l], b[l]) + c[l])
OP3(lea_64, uint64_t, uint64_t, uint32_t, uint64_t, ptxi_num_shl_b64(a[l], b[l]) + c[l])

/* --- predicates: masks of lanes --- */
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

/* --- lop3: the low byte of imm is the truth table: its bit 4a + 2b + c the result of bits a, b, c --- */
#define PICK(s, one, zero) ((zero) ^ ((s) & ((one) ^ (zero))))
#define TABLE_ROW(k) (uint32_t)-(int32_t)(lut >> (k) & 1)

OP( lop3_b32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d);
    unsigned lut = (uint8_t)i->imm;
    uint32_t r0 = TABLE_ROW(0), r1 = TABLE_ROW(1), r2 = TABLE_ROW(2), r3 = TABLE_ROW(3);
    uint32_t r4 = TABLE_ROW(4), r5 = TABLE_ROW(5), r6 = TABLE_ROW(6), r7 = TABLE_ROW(7);

    switch (lut) {
    case 0x96:
        WRITE_LANES(d, a[l] ^ b[l] ^ c[l]);
        break;
    default:
        WRITE_LANES(d, PICK(a[l], PICK(b[l], PICK(c[l], r7, r6), PICK(c[l], r5, r4)), PICK(b[l], PICK(c[l], r3, r2), PICK(c[l], r1, r0))));
    }
    NEXT;
}

/* --- funnel shifts of b:a --- */
#define SHF_L(x, y, n) ((y) << (n) | (x) >> 1 >> (31 - (n)))
#define SHF_R(x, y, n) ((x) >> (n) | (y) << 1 << (31 - (n)))

/* With .wrap one register by itself is rotated, which hosts have; with .clamp 32 and more leave it as it is. */
#define FUNNEL(name, shift, rotate, beyond)                                             \
    OP( name )                                                                          \
    {                                                                                   \
        const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c); \
        uint32_t *d = PTXI_SLOT(w, i->d);                                               \
                                                                                        \
        if (i->a == i->b && i->mods & PTXI_MOD_WRAP)                                    \
            WRITE_LANES(d, rotate(a[l], c[l] & 31));                                    \
        else if (i->mods & PTXI_MOD_WRAP)                                               \
            WRITE_LANES(d, shift(a[l], b[l], c[l] & 31));                               \
        else                                                                            \
            WRITE_LANES(d, c[l] < 32 ? shift(a[l], b[l], c[l] & 31) : beyond[l]);       \
        NEXT;                                                                           \
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

/* The most significant bit that differs from the sign. */
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

/* .clamp: a count of 32 and more is 32; .wrap: it counts modulo 32. */
#define COUNT(x) (wrap ? (x) & 31 : (x) < 32 ? (x) : 32)

OP( bmsk_b32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    uint32_t *d = PTXI_SLOT(w, i->d);
    bool wrap = i->mods & PTXI_MOD_WRAP;

    WRITE_LANES_COLD(d, ptxi_num_shl_b32(ptxi_num_low_bits_32(COUNT(b[l])), COUNT(a[l])));
    NEXT;
}

OP( szext_u32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    uint32_t *d = PTXI_SLOT(w, i->d);
    bool wrap = i->mods & PTXI_MOD_WRAP;

    WRITE_LANES_COLD(d, a[l] & ptxi_num_low_bits_32(COUNT(b[l])));
    NEXT;
}

OP( szext_s32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    uint32_t *d = PTXI_SLOT(w, i->d);
    bool wrap = i->mods & PTXI_MOD_WRAP;

    WRITE_LANES_COLD(d, ptxi_num_bfe_s32(a[l], 0, COUNT(b[l])));
    NEXT;
}

/* --- prmt: bytes of b:a, chosen by a number of four bits each, whose bit 3 asks for the byte's sign --- */
static inline uint32_t permuted_byte(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t byte = (selector & 4 ? b : a) >> (8 * (selector & 3)) & 0xff;

    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    return permuted_byte(a, b, selector) | permuted_byte(a, b, selector >> 4) << 8 | permuted_byte(a, b, selector >> 8) << 16 |
           permuted_byte(a, b, selector >> 12) << 24;
}

OP( prmt_b32 )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b), *c = PTXI_SLOT(w, i->c);
    uint32_t *d = PTXI_SLOT(w, i->d);

    WRITE_LANES_COLD(d, permute(a[l], b[l], c[l]));
    NEXT;
}

/* The modes stand for four selectors each, by the low two bits of c. */
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
