/* Test cases of test_alu.c: an operation, its operands, and a reference for one lane. */
#ifndef PTXI_TESTS_ALU_H
#define PTXI_TESTS_ALU_H

#include <stdbool.h>
#include <stdint.h>

enum kind { NONE, PRED, U8, S8, U16, S16, U32, S32, U64, S64, F16, F32, F64, BF16, F16X2, BF16X2, F32X2, B128,
            WORDS /* 64 bits in two parameter words */ };

static inline unsigned kind_bits(enum kind k)
{
    static const uint8_t bits[] = { 0, 1, 8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 64, 128, 64 };

    return bits[k];
}

static inline bool kind_signed(enum kind k)
{
    return k == S8 || k == S16 || k == S32 || k == S64;
}

/* The kind of the register: 8-bit values are in registers of 16 bits. */
static inline unsigned __int128 kind_mask(enum kind k)
{
    unsigned bits = kind_bits(k) == 8 ? 16 : kind_bits(k);

    return bits == 128 ? ~(unsigned __int128)0 : ((unsigned __int128)1 << bits) - 1;
}

enum { CARRY = 1, CC_IN_MODS = 2, SECOND = 4, DEST_IN_B = 8, FIFTH = 16 /* a fifth source of kind U32 */ };
enum { END_OF_MODS = 0xffff };

struct alu_case;

struct operands {
    const struct alu_case *case_;
    unsigned __int128 v[5]; /* a, b, c, the fourth and the fifth source */
    unsigned __int128 old;  /* the old value of d */
    unsigned mods;
    int32_t imm;
    bool carry;
};

struct results {
    unsigned __int128 d;
    bool p, q; /* predicate destinations; q: the second one, or the carry out */
};

struct alu_case {
    const char *name;
    uint16_t op;
    enum kind d, a, b, c, e;
    void (*ref)(const struct operands *, struct results *);
    const uint16_t *mods; /* values to try, terminated by END_OF_MODS */
    unsigned flags;
    unsigned imms; /* imm takes values below this; SECOND: with and without q */
    int which;     /* passed to the reference */
};

struct alu_table {
    const struct alu_case *cases;
    unsigned count;
};

extern const struct alu_table alu_general, alu_half, alu_cvt;
#define ALU_TABLE(name, cases) const struct alu_table name = { cases, sizeof cases / sizeof *cases };

#define REF(name) static void name(const struct operands *o, struct results *r)
#define MODS(name, ...) static const uint16_t name[] = { __VA_ARGS__, END_OF_MODS };
#define CASE(name, ...) { #name, PTXI_OP_##name, __VA_ARGS__ },

#endif
