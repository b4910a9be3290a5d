/* Machine code of x86-64: encodes instructions one by one into a buffer.
 *
 *     struct ptxi_x86 x = { .wide = true };                         512-bit vectors (EVEX), else 256-bit ones (VEX)
 *     ptxi_x86_vector(&x, PTXI_V_ADDPS, 0, 1, ptxi_x86_at(PTXI_RBP, 64));
 *     ... use x.bytes, x.size; free(x.bytes)
 *
 * Without memory `oom` is set, and the bytes are worthless. Vector instructions read and write 16 registers, or 32 if
 * `wide`. */
#ifndef PTXI_NATIVE_ENCODER_H
#define PTXI_NATIVE_ENCODER_H

#include <stdbool.h>
#include <stdint.h>

struct ptxi_x86 {
    unsigned char *bytes;
    uint32_t size, capacity;
    bool oom, wide;
};

enum ptxi_x86_register {
    PTXI_RAX, PTXI_RCX, PTXI_RDX, PTXI_RBX, PTXI_RSP, PTXI_RBP, PTXI_RSI, PTXI_RDI,
    PTXI_R8, PTXI_R9, PTXI_R10, PTXI_R11, PTXI_R12, PTXI_R13, PTXI_R14, PTXI_R15,
    PTXI_RIP,          /* as a base: the displacement is an offset in the buffer */
    PTXI_NO_REGISTER
};

/* The operand of an instruction that may be a register or in memory. */
struct ptxi_x86_rm {
    bool memory;
    uint8_t reg;       /* the register, or the base */
    uint8_t index;     /* of memory, or PTXI_NO_REGISTER */
    uint8_t scale;     /* the index is multiplied by 1 << scale */
    int32_t disp;
};

static inline struct ptxi_x86_rm ptxi_x86_reg(unsigned reg)
{
    return (struct ptxi_x86_rm){ false, (uint8_t)reg, PTXI_NO_REGISTER, 0, 0 };
}

static inline struct ptxi_x86_rm ptxi_x86_at(unsigned base, int32_t disp)
{
    return (struct ptxi_x86_rm){ true, (uint8_t)base, PTXI_NO_REGISTER, 0, disp };
}

static inline struct ptxi_x86_rm ptxi_x86_scaled(unsigned base, unsigned index, unsigned scale, int32_t disp)
{
    return (struct ptxi_x86_rm){ true, (uint8_t)base, (uint8_t)index, (uint8_t)scale, disp };
}

static inline struct ptxi_x86_rm ptxi_x86_indexed(unsigned base, unsigned index, int32_t disp)
{
    return ptxi_x86_scaled(base, index, 0, disp);
}

/* --- vector instructions ---
 *
 * PTXI_V(prefix, map, opcode, w): prefix 0 none, 1 66, 2 F3, 3 F2; map 1 0F, 2 0F38, 3 0F3A; w: 2: only with EVEX. */
enum ptxi_x86_shift { PTXI_SHIFT_RIGHT = 2, PTXI_SHIFT_LEFT = 6, PTXI_ROTATE_LEFT = 1 }; /* rotate: EVEX only */
#define PTXI_V(prefix, map, opcode, w) ((uint32_t)(prefix) | (map) << 2 | (w) << 4 | (opcode) << 8)
enum ptxi_x86_vector_op {
    PTXI_V_MOV = PTXI_V(1, 1, 0x6f, 0),        /* aligned; the same to memory: MOV_TO */
    PTXI_V_MOV_TO = PTXI_V(1, 1, 0x7f, 0),
    PTXI_V_MOVU = PTXI_V(2, 1, 0x6f, 0),
    PTXI_V_MOVU_TO = PTXI_V(2, 1, 0x7f, 0), PTXI_V_MOVU_64_TO = PTXI_V(2, 1, 0x7f, 1), /* elements of 64 bits: EVEX */
    PTXI_V_BROADCASTD = PTXI_V(1, 2, 0x58, 0), /* from memory or the lowest element of a register */
    PTXI_V_BROADCASTQ = PTXI_V(1, 2, 0x59, 2),
    PTXI_V_ADDPS = PTXI_V(0, 1, 0x58, 0), PTXI_V_ADDPD = PTXI_V(1, 1, 0x58, 1),
    PTXI_V_MULPS = PTXI_V(0, 1, 0x59, 0), PTXI_V_MULPD = PTXI_V(1, 1, 0x59, 1),
    PTXI_V_SUBPS = PTXI_V(0, 1, 0x5c, 0), PTXI_V_SUBPD = PTXI_V(1, 1, 0x5c, 1),
    PTXI_V_DIVPS = PTXI_V(0, 1, 0x5e, 0), PTXI_V_DIVPD = PTXI_V(1, 1, 0x5e, 1),
    PTXI_V_SQRTPS = PTXI_V(0, 1, 0x51, 0),
    PTXI_V_MINPS = PTXI_V(0, 1, 0x5d, 0), PTXI_V_MAXPS = PTXI_V(0, 1, 0x5f, 0), /* rm, if equal or with a NaN */
    PTXI_V_FMADD231PS = PTXI_V(1, 2, 0xb8, 0), PTXI_V_FMADD231PD = PTXI_V(1, 2, 0xb8, 1),
    PTXI_V_CMPPS = PTXI_V(0, 1, 0xc2, 0), PTXI_V_CMPPD = PTXI_V(1, 1, 0xc2, 1),
    PTXI_V_PADDD = PTXI_V(1, 1, 0xfe, 0), PTXI_V_PADDQ = PTXI_V(1, 1, 0xd4, 1),
    PTXI_V_PSUBD = PTXI_V(1, 1, 0xfa, 0), PTXI_V_PSUBQ = PTXI_V(1, 1, 0xfb, 1),
    PTXI_V_PMULLD = PTXI_V(1, 2, 0x40, 0),
    PTXI_V_PMULLQ = PTXI_V(1, 2, 0x40, 1),     /* EVEX only */
    /* first = rm, shifted by imm; reg: enum ptxi_x86_shift */
    PTXI_V_SHIFT_IMM_D = PTXI_V(1, 1, 0x72, 0), PTXI_V_SHIFT_IMM_Q = PTXI_V(1, 1, 0x73, 1),
    PTXI_V_PROLVD = PTXI_V(1, 2, 0x15, 0), PTXI_V_PRORVD = PTXI_V(1, 2, 0x14, 0), /* EVEX only */
    PTXI_V_PMULDQ = PTXI_V(1, 2, 0x28, 1), PTXI_V_PMULUDQ = PTXI_V(1, 1, 0xf4, 1),
    PTXI_V_PAND = PTXI_V(1, 1, 0xdb, 0), PTXI_V_POR = PTXI_V(1, 1, 0xeb, 0), PTXI_V_PXOR = PTXI_V(1, 1, 0xef, 0),
    PTXI_V_PSLLVD = PTXI_V(1, 2, 0x47, 0), PTXI_V_PSLLVQ = PTXI_V(1, 2, 0x47, 1),
    PTXI_V_PSRLVD = PTXI_V(1, 2, 0x45, 0), PTXI_V_PSRLVQ = PTXI_V(1, 2, 0x45, 1),
    PTXI_V_PSRAVD = PTXI_V(1, 2, 0x46, 0),
    PTXI_V_PMINSD = PTXI_V(1, 2, 0x39, 0), PTXI_V_PMINUD = PTXI_V(1, 2, 0x3b, 0),
    PTXI_V_PMAXSD = PTXI_V(1, 2, 0x3d, 0), PTXI_V_PMAXUD = PTXI_V(1, 2, 0x3f, 0),
    PTXI_V_PABSD = PTXI_V(1, 2, 0x1e, 0),
    PTXI_V_PCMPEQD = PTXI_V(1, 1, 0x76, 0), PTXI_V_PCMPGTD = PTXI_V(1, 1, 0x66, 0),
    PTXI_V_PCMPEQQ = PTXI_V(1, 2, 0x29, 1), PTXI_V_PCMPGTQ = PTXI_V(1, 2, 0x37, 1),
    PTXI_V_PMOVSXDQ = PTXI_V(1, 2, 0x25, 0), PTXI_V_PMOVZXDQ = PTXI_V(1, 2, 0x35, 0),
    PTXI_V_CVTDQ2PS = PTXI_V(0, 1, 0x5b, 0),
    PTXI_V_PTEST = PTXI_V(1, 2, 0x17, 0),      /* VEX only */
    PTXI_V_UCOMISS = PTXI_V(0, 1, 0x2e, 0), PTXI_V_UCOMISD = PTXI_V(1, 1, 0x2e, 0), /* with 128 bits: elements 0 */
    PTXI_V_PERMD = PTXI_V(1, 2, 0x36, 0),      /* `first` has the numbers of elements of rm */
    PTXI_V_BLENDD = PTXI_V(1, 3, 0x02, 0),     /* VEX only: imm: the elements of rm */
    PTXI_V_SHUFPS = PTXI_V(0, 1, 0xc6, 0), PTXI_V_PERMQ = PTXI_V(1, 3, 0x00, 1),
    PTXI_V_MOVMSKPS = PTXI_V(0, 1, 0x50, 0), PTXI_V_MOVMSKPD = PTXI_V(1, 1, 0x50, 0), /* to a general register */
    PTXI_V_BLENDVB = PTXI_V(1, 3, 0x4c, 0),    /* VEX only */
    PTXI_V_PCMPD = PTXI_V(1, 3, 0x1f, 0), PTXI_V_PCMPUD = PTXI_V(1, 3, 0x1e, 0), /* EVEX only, to a mask */
    PTXI_V_PCMPQ = PTXI_V(1, 3, 0x1f, 1), PTXI_V_PCMPUQ = PTXI_V(1, 3, 0x1e, 1),
    PTXI_V_PEXPANDQ = PTXI_V(1, 2, 0x89, 1),   /* EVEX only, masked: the lowest elements of rm to those of the mask */
    PTXI_V_ALIGNQ = PTXI_V(1, 3, 0x03, 1),     /* EVEX only: 8 elements of rm and `first`, from number imm on */
    PTXI_V_TESTMD = PTXI_V(1, 2, 0x27, 0), PTXI_V_TESTMQ = PTXI_V(1, 2, 0x27, 1),
    PTXI_V_BLENDMD = PTXI_V(1, 2, 0x64, 0), PTXI_V_BLENDMQ = PTXI_V(1, 2, 0x64, 1),
    PTXI_V_PMOVQD_TO = PTXI_V(2, 2, 0x35, 0),  /* EVEX only: the lower words of elements, to half of a register */
    PTXI_V_PMOVDW_TO = PTXI_V(2, 2, 0x33, 0), PTXI_V_PACKUSDW = PTXI_V(1, 2, 0x2b, 0), /* to 16 bits */
    PTXI_V_INSERT_HALF = PTXI_V(1, 3, 0x3a, 1), /* EVEX only: imm 1: the upper half */
    PTXI_V_EXTRACT_HALF = PTXI_V(1, 3, 0x3b, 1), /* EVEX only: from reg to rm */
    PTXI_V_INSERT_128 = PTXI_V(1, 3, 0x38, 0), PTXI_V_EXTRACT_128 = PTXI_V(1, 3, 0x39, 0), /* the same with VEX */
    PTXI_V_UNPCKLPS = PTXI_V(0, 1, 0x14, 0), PTXI_V_UNPCKHPS = PTXI_V(0, 1, 0x15, 0),
    PTXI_V_UNPCKLPD = PTXI_V(1, 1, 0x14, 1), PTXI_V_UNPCKHPD = PTXI_V(1, 1, 0x15, 1),
    /* with 128 bits: 8 bytes from or to memory */
    PTXI_V_MOVQ = PTXI_V(1, 1, 0x6e, 1), PTXI_V_MOVQ_TO = PTXI_V(1, 1, 0x7e, 1), /* also general registers */
    PTXI_V_MOVD = PTXI_V(1, 1, 0x6e, 0), PTXI_V_MOVD_TO = PTXI_V(1, 1, 0x7e, 0),   /* the same for 4 bytes */
    PTXI_V_MOVHPS_TO = PTXI_V(0, 1, 0x17, 0),
    /* VEX only: stores the elements of `reg` whose sign bit is set in `first` */
    PTXI_V_PMASKMOVD_TO = PTXI_V(1, 2, 0x8e, 0), PTXI_V_PMASKMOVQ_TO = PTXI_V(1, 2, 0x8e, 1),
    /* for ptxi_x86_gather(): the first letter is the width of an index, the second one that of an element */
    PTXI_V_GATHERDD = PTXI_V(1, 2, 0x90, 0), PTXI_V_GATHERDQ = PTXI_V(1, 2, 0x90, 1),
    PTXI_V_GATHERQD = PTXI_V(1, 2, 0x91, 0), PTXI_V_GATHERQQ = PTXI_V(1, 2, 0x91, 1),
    PTXI_V_SCATTERDD = PTXI_V(1, 2, 0xa0, 0), PTXI_V_SCATTERDQ = PTXI_V(1, 2, 0xa0, 1), /* EVEX only */
    PTXI_V_SCATTERQD = PTXI_V(1, 2, 0xa1, 0), PTXI_V_SCATTERQQ = PTXI_V(1, 2, 0xa1, 1)
};

/* op reg, first, rm. An instruction with one source has `first` 0. */
void ptxi_x86_vector(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm);
void ptxi_x86_vector_imm(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm,
                         unsigned imm);
/* With a mask register (EVEX): elements without a bit remain. */
void ptxi_x86_vector_masked(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm,
                            int imm, unsigned mask);
/* With VEX, on 128 bits. */
void ptxi_x86_vector_128(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm);
/* Moves elements between `reg` and base + the elements of vector `index` + disp. `mask` has the elements to be moved,
 * and loses them: a vector (VEX) or a mask register (EVEX). Registers below 16. */
void ptxi_x86_gather(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned base, unsigned index, int32_t disp,
                     unsigned mask);
void ptxi_x86_vmovd(struct ptxi_x86 *x, unsigned vector, unsigned reg);      /* vector = reg */
void ptxi_x86_vmovd_from(struct ptxi_x86 *x, unsigned reg, unsigned vector); /* reg = vector, 32 bits; vector < 16 */
void ptxi_x86_vzeroupper(struct ptxi_x86 *x);
void ptxi_x86_kmovw_load(struct ptxi_x86 *x, unsigned k, struct ptxi_x86_rm memory);
void ptxi_x86_kmovb_load(struct ptxi_x86 *x, unsigned k, struct ptxi_x86_rm memory);
void ptxi_x86_kmovw_to(struct ptxi_x86 *x, unsigned k, unsigned reg);
void ptxi_x86_kmovw_from(struct ptxi_x86 *x, unsigned reg, unsigned k);
void ptxi_x86_kortestw(struct ptxi_x86 *x, unsigned k);

/* --- instructions with general registers; `bits`: 32 or 64 --- */
enum ptxi_x86_alu { PTXI_ADD = 0, PTXI_OR = 1, PTXI_AND = 4, PTXI_SUB = 5, PTXI_XOR = 6, PTXI_CMP = 7 };
enum ptxi_x86_condition {
    PTXI_B = 2, PTXI_AE = 3, PTXI_E = 4, PTXI_NE = 5, PTXI_BE = 6, PTXI_A = 7, PTXI_P = 10,
    PTXI_NP = 11, PTXI_L = 12, PTXI_GE = 13, PTXI_LE = 14,
    PTXI_G = 15
};

void ptxi_x86_load(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm);
void ptxi_x86_store(struct ptxi_x86 *x, unsigned bits, struct ptxi_x86_rm rm, unsigned reg);
void ptxi_x86_load_part(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm); /* 8 or 16, to 32 */
void ptxi_x86_load_signed_part(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm);
void ptxi_x86_store_part(struct ptxi_x86 *x, unsigned bits, struct ptxi_x86_rm rm, unsigned reg);
void ptxi_x86_store_imm(struct ptxi_x86 *x, unsigned bits, struct ptxi_x86_rm rm, int32_t imm);
void ptxi_x86_imm(struct ptxi_x86 *x, unsigned reg, uint64_t imm);
void ptxi_x86_alu(struct ptxi_x86 *x, enum ptxi_x86_alu op, unsigned bits, unsigned reg, struct ptxi_x86_rm rm);
void ptxi_x86_alu_imm(struct ptxi_x86 *x, enum ptxi_x86_alu op, unsigned bits, struct ptxi_x86_rm rm, int32_t imm);
void ptxi_x86_test(struct ptxi_x86 *x, unsigned bits, unsigned a, unsigned b);
void ptxi_x86_test_imm(struct ptxi_x86 *x, struct ptxi_x86_rm rm, int32_t imm); /* 32 bits */
void ptxi_x86_store_byte(struct ptxi_x86 *x, struct ptxi_x86_rm rm, int8_t imm);
void ptxi_x86_cmp_byte(struct ptxi_x86 *x, struct ptxi_x86_rm rm, int8_t imm);
void ptxi_x86_not(struct ptxi_x86 *x, unsigned reg); /* 32 bits */
void ptxi_x86_shl(struct ptxi_x86 *x, unsigned bits, unsigned reg, unsigned count);
void ptxi_x86_shr(struct ptxi_x86 *x, unsigned bits, unsigned reg, unsigned count);
void ptxi_x86_shlx(struct ptxi_x86 *x, unsigned reg, unsigned from, unsigned count); /* 64 bits */
void ptxi_x86_shl_cl(struct ptxi_x86 *x, unsigned reg); /* 32 bits */
void ptxi_x86_tzcnt(struct ptxi_x86 *x, unsigned reg, unsigned from); /* 32 bits: the number of the lowest bit */
void ptxi_x86_popcnt(struct ptxi_x86 *x, unsigned reg, unsigned from); /* 32 bits */
void ptxi_x86_imul(struct ptxi_x86 *x, unsigned reg, struct ptxi_x86_rm rm);   /* 64 bits */
void ptxi_x86_div(struct ptxi_x86 *x, unsigned reg); /* rax = rdx:rax / reg, unsigned; rdx = the remainder */
void ptxi_x86_movsxd(struct ptxi_x86 *x, unsigned reg, struct ptxi_x86_rm rm); /* 32 to 64 bits */
void ptxi_x86_lea(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm);
void ptxi_x86_prefetch(struct ptxi_x86 *x, struct ptxi_x86_rm rm);
void ptxi_x86_push(struct ptxi_x86 *x, unsigned reg);
void ptxi_x86_pop(struct ptxi_x86 *x, unsigned reg);
void ptxi_x86_call(struct ptxi_x86 *x, unsigned reg);
void ptxi_x86_jump_reg(struct ptxi_x86 *x, unsigned reg);
void ptxi_x86_ret(struct ptxi_x86 *x);

/* Jumps. The result is the place of the distance, for ptxi_x86_patch(). */
uint32_t ptxi_x86_jump(struct ptxi_x86 *x);
uint32_t ptxi_x86_jump_if(struct ptxi_x86 *x, enum ptxi_x86_condition condition);
void ptxi_x86_patch(struct ptxi_x86 *x, uint32_t place, uint32_t target);

/* Appends data. */
void ptxi_x86_data(struct ptxi_x86 *x, const void *data, uint32_t size);

#endif
