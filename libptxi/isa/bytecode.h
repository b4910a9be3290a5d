/* Bytecode, the output of compile/ and the input of exec/.
 *
 * A register is a vector of PTXI_LANES elements in the frame of the warp. Operands are slot numbers in units of
 * PTXI_UNIT bytes. A 16-bit register has 1 unit, a 32-bit register 2, a 64-bit register 4, and a 128-bit register 8. A
 * predicate is a lane mask in the first bytes of 1 unit. So slot numbers do not depend on the number of lanes.
 * Constants are registers too, which are filled once (struct ptxi_const), so that no operation needs a form for
 * immediates.
 *
 * The fields of an operation, unless internal.def says otherwise: d is the destination. a, b and c are the sources,
 * in the order of the PTX operands. A second destination or a fourth source is a slot number in imm, and a fifth
 * source is one in its upper half. If an instruction reads or writes the carry flag CC.CF, imm is the predicate slot
 * of the flag. */
#ifndef PTXI_ISA_BYTECODE_H
#define PTXI_ISA_BYTECODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/op.gen.h"
#include "isa/source_line.h"

#ifndef PTXI_LANES
#define PTXI_LANES 32
#endif
#define PTXI_UNIT (2 * PTXI_LANES) /* bytes */
#define PTXI_NO_SLOT 0xffff

struct ptxi_insn {
    uint16_t op; /* enum ptxi_op */
    uint16_t d, a, b, c;
    uint16_t mods; /* modifiers, as in isa/mods.def unless the operation defines its own */
    int32_t imm;
};

/* mods of backward branches, see compile/ir/spin_loops.c. */
enum {
    PTXI_LOOP_READS = 1, /* the loop reads memory that other threads may write */
    PTXI_LOOP_WAITS = 2, /* it is short and probably waits for such a write */
    PTXI_LOOP_POLLS = 4  /* it does nothing else */
};

enum { PTXI_MAX_CTA_THREADS = 1024 }; /* on every device */

/* bar, barrier: mods. */
enum {
    PTXI_BAR_ALIGNED = 1,
    PTXI_BAR_CONSTANT = 2,   /* barrier number and thread count are valid constants, which imm holds too */
    PTXI_BAR_COUNT_SHIFT = 4 /* of the count in imm; the low bits are the number */
};

/* The fields of mods.def. */
enum {
    PTXI_MOD_FTZ = 1,
    PTXI_MOD_SAT = 2,
    PTXI_MOD_RND_SHIFT = 2,
    PTXI_MOD_RND_MASK = 12,
    PTXI_MOD_NAN = 16,
    PTXI_MOD_CC = 16,
    PTXI_MOD_SHIFTAMT = 16,
    PTXI_MOD_WRAP = 16,
    PTXI_MOD_RELU = 32,
    PTXI_MOD_SATFINITE = 64,
    PTXI_MOD_XORSIGN = 64,
    PTXI_MOD_PZO = 128,
    PTXI_MOD_BOOL_SHIFT = 7,
    PTXI_MOD_BOOL_MASK = 3 << 7,
    PTXI_MOD_NOT_C = 1 << 9 /* set by the compiler: the predicate source of set, setp or selp is negated */
};
/* Set by the compiler for f64 operations. They affect results only if several operands are NaN: which NaN is the
 * result, and its sign. */
enum {
    PTXI_MOD_LATER_A = 16, /* a is computed after b */
    PTXI_MOD_MINUS_A = 32, /* the sign of a was changed */
    PTXI_MOD_MINUS_C = 64  /* the sign of c was changed */
};
enum ptxi_rounding { PTXI_RN, PTXI_RZ, PTXI_RM, PTXI_RP };

/* ld of a scalar: mods. */
enum { PTXI_LD_STRONG = 1 };

/* ldmatrix, stmatrix: imm. The slots of the fragments are d, b, c, mods (ldmatrix) or b, c, d, mods (stmatrix). a
 * holds the addresses of the rows. */
enum {
    PTXI_MATRIX_ROWS = 3,    /* mask of the logarithm of the number of rows / 8: 8, 16 or 32 rows */
    PTXI_MATRIX_GENERIC = 4, /* generic addresses */
    PTXI_MATRIX_TRANS = 8,
    PTXI_MATRIX_FORMAT = 4,  /* shift of the elements in memory, enum ptxi_matrix_format */
    PTXI_MATRIX_FORMAT_MASK = 7,
    PTXI_MATRIX_OFFSET = 7   /* shift of a signed offset, which is added to the addresses */
};
enum ptxi_matrix_format { PTXI_MATRIX_B16, PTXI_MATRIX_B8, PTXI_MATRIX_B6, PTXI_MATRIX_B4, PTXI_MATRIX_S4 };

/* cluster_arrive: mods. */
enum { PTXI_CLUSTER_RELAXED = 1 };

/* wgmma: pool[imm]. mods: PTXI_MOD_NOT_C if scale-d is negated. */
enum ptxi_wgmma_kind { PTXI_WGMMA_F32, PTXI_WGMMA_F16, PTXI_WGMMA_S32, PTXI_WGMMA_BITS };
struct ptxi_wgmma {
    uint16_t n, k;       /* columns of D, and columns of A, including those that a sparse A does not store */
    uint16_t kind;
    uint16_t bits;       /* bits of an element of A and B */
    uint16_t a, b;       /* floats: enum ptxi_dot_type; integers: true if signed */
    uint16_t model[5];   /* packed struct ptxi_dot_model: how num/dot.h rounds for these types and this architecture */
    uint16_t a_in_memory, sparse, selector;
    uint16_t negate_a, negate_b, turn_a, turn_b; /* turn: transposed */
    uint16_t slots[];    /* D, C of the same number, A (4 registers or a descriptor), B, metadata, scale-d */
};

/* count_shared: mods. 0 for an operation that does not access shared memory. */
enum {
    PTXI_SHARED_BYTES = 31,    /* mask of the bytes that a lane accesses */
    PTXI_SHARED_GENERIC = 32,  /* generic addresses, which may be in shared memory */
    PTXI_SHARED_ATOMIC = 64,
    PTXI_SHARED_MATRIX = 128   /* ldmatrix or stmatrix, with its imm */
};

/* check_access, track_access: mods. 0 for an operation that is not checked: it accesses no memory threads share. */
enum ptxi_check_scope { PTXI_SCOPE_CTA, PTXI_SCOPE_CLUSTER, PTXI_SCOPE_GPU, PTXI_SCOPE_SYS };
/* Atomic operations are strong, too. Volatile accesses are relaxed ones of scope .sys in PTX. */
enum ptxi_check_strength { PTXI_CHECK_WEAK, PTXI_CHECK_VOLATILE, PTXI_CHECK_STRONG, PTXI_CHECK_ATOMIC };
enum {
    PTXI_CHECK_BYTES = 31,         /* mask of the bytes that a lane accesses */
    PTXI_CHECK_STRENGTH_SHIFT = 5, /* enum ptxi_check_strength, two bits */
    PTXI_CHECK_SCOPE_SHIFT = 7,    /* enum ptxi_check_scope, two bits */
    PTXI_CHECK_WRITE = 1 << 9,
    PTXI_CHECK_SHARED = 1 << 10,   /* an address of 32 bits in shared memory */
    PTXI_CHECK_GENERIC = 1 << 11,
    PTXI_CHECK_ROW = 1 << 12,      /* a is an address register of 5 units */
    PTXI_CHECK_NO_RACE = 1 << 13,  /* only of the intermediate form: it is not checked for races */
    PTXI_CHECK_LOCAL = 1 << 14     /* the same: .local memory, which only the tracking of uninitialised values checks */
};

/* check_fence: mods, in addition to the scope. */
enum {
    PTXI_CHECK_FENCE_PROXY = 4, /* it is fence.proxy.async */
    PTXI_CHECK_FENCE_SC = 8,    /* it is fence.sc */
    PTXI_CHECK_FENCE_ACQUIRE = 16, /* it only acquires, or only releases, such as that of ld.acquire or st.release */
    PTXI_CHECK_FENCE_RELEASE = 32,
    PTXI_CHECK_FENCE_OF_ACCESS = 64, /* the access before it acquires, or that after it releases: no other location */
    PTXI_CHECK_FENCE_INIT = 128      /* it releases initialisations of mbarriers only: fence.mbarrier_init */
};

/* init_load, init_store: mods, in addition to the bytes and the space of check_access. */
enum {
    PTXI_INIT_CLASS_SHIFT = 5,   /* class of the register, three bits */
    PTXI_INIT_ROW = 1 << 12,     /* as PTXI_CHECK_ROW */
    PTXI_INIT_COMPUTED = 1 << 13, /* init_store: the value is a result of arithmetic */
    PTXI_INIT_SIGNED_LOAD = 1 << 13, /* init_load: the sign is extended to the register */
    PTXI_INIT_LOCAL = 1 << 14    /* as PTXI_CHECK_LOCAL */
};
/* check_object: mods, in addition to those of check_access. A bit for each of b, c, d. */
enum {
    /* b, c, d are constants with the bounds of shared or .local variables (track_shared.c). PTXI_CHECK_LOCAL has its
     * meaning, and no value is loaded. */
    PTXI_OBJECT_OF_VARIABLE = 1 << 8,
    PTXI_OBJECT_SAME_SHIFT = 5,    /* all lanes have the same value */
    PTXI_OBJECT_LOADED_SHIFT = 13  /* a loaded value, which need not be a pointer */
};
/* In such bounds: of a .local variable, relative to the frame's. */
#define PTXI_OBJECT_LOCAL (UINT64_C(1) << 63)
/* init_spread: imm, in addition to the class. */
enum { PTXI_INIT_UNDEFINED = 8 };
/* init_exact: mods. How the undefined bits of a result follow from those of the operands (exec/init/init_value.c). The
 * _S rules are those of signed numbers. le and ge are as gt and lt: the opposite is as undefined. */
enum ptxi_init_rule {
    PTXI_INIT_ALL, PTXI_INIT_AND, PTXI_INIT_AND_NOT, PTXI_INIT_OR, PTXI_INIT_OR_NOT, PTXI_INIT_XOR, PTXI_INIT_TABLE,
    PTXI_INIT_ADD, PTXI_INIT_SUB, PTXI_INIT_NEG, PTXI_INIT_MUL, PTXI_INIT_MAD, PTXI_INIT_EQ, PTXI_INIT_SELECT,
    PTXI_INIT_LT, PTXI_INIT_GT, PTXI_INIT_MIN, PTXI_INIT_MAX,
    PTXI_INIT_LT_S, PTXI_INIT_GT_S, PTXI_INIT_MIN_S, PTXI_INIT_MAX_S,
    PTXI_INIT_SIGNED = PTXI_INIT_LT_S - PTXI_INIT_LT
};
/* pool[imm] of an init_exact: what the instruction that it describes computes from. */
struct ptxi_init_exact {
    uint16_t class, operand_class; /* of the result; of a and b */
    uint16_t third_class;          /* of c */
    uint16_t not_c, table;         /* the predicate c is negated; of lop3 */
    uint16_t shadow;               /* slots: of the result's shadow, then of the operands' shadows and values */
    uint16_t shadows[3], values[3];
};
/* pool[imm] of init_mma, init_ldmatrix and the like: the instruction that they describe, with the shadows and masks of
 * its registers. Those of values that are always defined are PTXI_NO_SLOT. */
struct ptxi_init_list {
    uint16_t imm[2], mods;        /* of the instruction, low half first; of stores, mods 1: results of arithmetic */
    uint16_t head, writes, reads; /* words of the head of its own list; numbers of results and sources */
    uint16_t words[];             /* that head; then slots: shadows of the results, their masks; of the sources */
};
/* init_atomic: what the memory becomes. */
enum ptxi_init_update {
    PTXI_INIT_UPDATE_ALL,      /* a result of arithmetic, undefined if the memory or the operand is */
    PTXI_INIT_UPDATE_UPWARD,   /* the same from the lowest undefined bit on */
    PTXI_INIT_UPDATE_BITS,     /* bit by bit */
    PTXI_INIT_UPDATE_AND,
    PTXI_INIT_UPDATE_OR,
    PTXI_INIT_UPDATE_EXCHANGE, /* the operand */
    PTXI_INIT_UPDATE_KEEP      /* as undefined as before */
};
/* pool[imm] of an init_atomic. */
struct ptxi_init_atomic {
    uint16_t offset[2];            /* of the address, low half first */
    uint16_t access;               /* PTXI_CHECK_..., PTXI_INIT_COMPUTED of the operand */
    uint16_t class, update;        /* of the operand; enum ptxi_init_update */
    uint16_t result;               /* slots: of the result's shadow, */
    uint16_t operand, value;       /* the operand's shadow, and the operand */
};
/* check_passed: imm is below this number. mods: the code is behind a barrier of the CTA, too. */
enum { PTXI_PASSED_POINTS = 16, PTXI_PASSED_BARRIER = 1 };
/* check_wgmma: imm. Why the next instruction, an access to an accumulator or a wgmma, is invalid. */
enum ptxi_wgmma_misuse { PTXI_WGMMA_NO_FENCE, PTXI_WGMMA_NOT_COMMITTED, PTXI_WGMMA_NOT_WAITED };
/* init_use: imm. */
enum ptxi_init_use { PTXI_INIT_BRANCH, PTXI_INIT_GUARD, PTXI_INIT_ADDRESS };

/* cp_async: mods. c is the number of bytes to read from the source. */
enum {
    PTXI_CP_ASYNC_SIZE = 31,   /* mask of the number of bytes */
    PTXI_CP_ASYNC_IGNORE = 32, /* c is a predicate instead: no bytes are read where it holds */
    PTXI_CP_ASYNC_NOT = 64     /* ... where it does not hold */
};

/* cp_async_wait, bulk_wait: imm is the number of groups that may stay incomplete. mods: */
enum {
    PTXI_WAIT_COMMITS = 1,
    PTXI_WAIT_READ = 2 /* wait only until the sources have been read */
};

/* bulk_copy: a is the destination, b the source, c the mbarrier or none (generic addresses), d the number of bytes.
 * The lower half of imm is a slot with a mask, the upper half is enum ptxi_copy_report. async_store: a is the
 * destination, c the mbarrier. The values are in b, d and the slots in the halves of imm. mods: */
enum {
    PTXI_BULK_MULTICAST = 1,   /* the mask has 32 bits and selects CTAs */
    PTXI_BULK_BYTE_MASK = 2,   /* the mask has 16 bits and selects bytes */
    PTXI_BULK_ENDS = 4,        /* instead, the slots in imm have the bytes to ignore at the start and the end */
    PTXI_STORE_WIDTH = 3,      /* async_store: mask of the logarithm of the words of a value */
    PTXI_BULK_REDUCE = 3       /* shift of the reduction, PTXI_OP_atom_...; 0: copy */
};
_Static_assert(PTXI_OP_COUNT <= 65536 >> PTXI_BULK_REDUCE, "operations fit into mods");

/* The data that a copy reports to its mbarrier. PTX ISA, "Report Mechanisms for Asynchronous Copy Operations". */
enum ptxi_copy_report {
    PTXI_REPORT_NONE,
    PTXI_REPORT_FF,       /* bytes 0xff */
    PTXI_REPORT_NEGATIVE_ZERO_4, /* elements of 4 bits that are -0, one in each 16 bytes; then 8, 16, 32 bits */
    PTXI_REPORT_NEGATIVE_ZERO_8,
    PTXI_REPORT_NEGATIVE_ZERO_16,
    PTXI_REPORT_NEGATIVE_ZERO_32
};

/* tensor_coords: a, b, c, d, imm are arguments of the next tensor copy, and mods is the number of the first one. */
enum ptxi_tensor_argument {
    PTXI_TENSOR_FIRST_COORD = 0,
    PTXI_TENSOR_FIRST_OFFSET = 5,  /* of im2col */
    /* PTX ISA, "Overriding tensor property value" */
    PTXI_TENSOR_NEW_ADDRESS = 8,   /* lower and upper word */
    PTXI_TENSOR_NEW_SIZES = 10,
    PTXI_TENSOR_NEW_STRIDES = 15,  /* lower words, from dimension 1 on */
    PTXI_TENSOR_UPPER_STRIDES = 19, /* four bits of each */
    PTXI_TENSOR_ARGUMENTS
};

/* tensor_copy: a is the box in shared memory, b the tensor map, c the mbarrier or none (generic addresses), d a mask
 * of CTAs or none, imm the number of coordinates. mods: */
enum {
    PTXI_TENSOR_STORE = 1,  /* to global memory */
    PTXI_TENSOR_ROWS = 2,   /* tile::gather4, tile::scatter4: four rows with a coordinate each */
    PTXI_TENSOR_IM2COL = 4,
    PTXI_TENSOR_WIDE = 8,   /* im2col::w */
    PTXI_TENSOR_W128 = 12,  /* im2col::w::128 */
    PTXI_TENSOR_MODE = 14,  /* mask of the mode */
    PTXI_TENSOR_PAIR = 16,  /* the mbarrier may be in the other CTA of the pair */
    PTXI_TENSOR_REDUCE = 5, /* shift of the reduction, enum ptxi_tensor_reduction of exec/async/tensor_map.h */
    PTXI_TENSOR_REDUCE_MASK = 15,
    PTXI_TENSOR_OVERRIDE = 512,       /* an argument replaces the map's address */
    PTXI_TENSOR_OVERRIDE_SIZES = 1024, /* ... and its sizes and strides */
    PTXI_TENSOR_REPORT = 11           /* shift of enum ptxi_copy_report */
};

/* The bit of a tensor map that tensormap.query reads. */
enum { PTXI_TENSOR_LARGE_BIT = 85 };

/* tensormap_replace: a is the generic address of the map, b the new value (64 bits), imm the index in the field.
 * mods: */
enum ptxi_tensor_field {
    PTXI_TENSOR_ADDRESS,
    PTXI_TENSOR_RANK,
    PTXI_TENSOR_BOX,
    PTXI_TENSOR_SIZE,
    PTXI_TENSOR_STRIDE,
    PTXI_TENSOR_STEP,
    PTXI_TENSOR_TYPE,
    PTXI_TENSOR_INTERLEAVE,
    PTXI_TENSOR_SWIZZLE,
    PTXI_TENSOR_ATOM,
    PTXI_TENSOR_FILL
};

/* cluster_cancel: a is the address of the response, c the mbarrier (generic addresses). mods 1: the response goes to
 * all CTAs of the cluster. It has the coordinates of the first CTA, and 1 if there is one. */

/* tcgen05_...: mods. a is an address of tensor memory or a generic address of shared memory, b the other operand. */
enum {
    PTXI_TCGEN05_PAIR = 1,     /* .cta_group::2 */
    PTXI_TCGEN05_MULTICAST = 2, /* commit: b is a mask of CTAs, of 32 bits */
    PTXI_TCGEN05_EXCLUSIVE = 4, /* alloc, dealloc */
    PTXI_TCGEN05_SM_107 = 8     /* alloc: tensor memory has more columns */
};

/* tcgen05_ld, tcgen05_st: pool[imm]; a is the address. */
enum ptxi_tmem_shape { PTXI_TMEM_32X32B, PTXI_TMEM_16X64B, PTXI_TMEM_16X128B, PTXI_TMEM_16X256B, PTXI_TMEM_16X32BX2 };
enum { PTXI_TMEM_MAX = 1, PTXI_TMEM_F32 = 2, PTXI_TMEM_SIGNED = 4, PTXI_TMEM_ABS = 8, PTXI_TMEM_NAN = 16,
      PTXI_TMEM_REDUCE = 32 };
struct ptxi_tmem_move {
    uint16_t shape, count;  /* enum ptxi_tmem_shape; number of registers, without that of a reduction */
    uint16_t meta;          /* not 0: two of four columns are kept, and the first registers are metadata, this many */
    uint16_t packed;        /* a register holds the lower halves of two columns */
    uint16_t reduce;        /* the reduction, or selection: PTXI_TMEM_MAX ... PTXI_TMEM_REDUCE */
    uint16_t split[2];      /* 16x32bx2: columns from the first part to the second, low half first */
    uint16_t slots[];       /* the last one is the result of a reduction */
};

/* spcompress, spdecompress: pool[imm]. The registers of a lane are strings of bits, low register first. */
enum { PTXI_SPARSE_MAX_REGISTERS = 253 };
struct ptxi_sparse {
    uint16_t element, index;                /* bits of an element, and of an index */
    uint16_t source, target;                /* elements of a group: compressed, and not */
    uint16_t meta_count, cdata_count, data_count; /* registers */
    uint16_t slots[];                       /* results, then sources; each in the order of the instruction */
};

/* tcgen05_mma: pool[imm]. mods: PTXI_MOD_NOT_C if enable-input-d is negated. */
enum ptxi_tmem_kind {
    PTXI_TMEM_F16,
    PTXI_TMEM_TF32,
    PTXI_TMEM_F8F6F4,
    PTXI_TMEM_I8,
    PTXI_TMEM_TI16,
    PTXI_TMEM_MXF8F6F4,
    PTXI_TMEM_MXF4 /* also mxf4nvf4 */
};
/* Index of each operand in struct ptxi_tmem_mma's `slots`. */
enum {
    PTXI_TMEM_MMA_D,
    PTXI_TMEM_MMA_A,
    PTXI_TMEM_MMA_B,
    PTXI_TMEM_MMA_IDESC,
    PTXI_TMEM_MMA_META,
    PTXI_TMEM_MMA_SCALE_A,
    PTXI_TMEM_MMA_SCALE_B,
    PTXI_TMEM_MMA_ENABLE_D,
    PTXI_TMEM_MMA_ZERO_MASK,
    PTXI_TMEM_MMA_DISABLED
};
struct ptxi_tmem_mma {
    uint16_t kind, sm;       /* enum ptxi_tmem_kind; the architecture that defines the rounding */
    uint16_t pair, ws, sparse;
    uint16_t a_in_tmem, shifted;
    uint16_t scale_d;        /* scale-input-d */
    uint16_t scales;         /* number of scales of a row of A; 0: none */
    uint16_t disabled;       /* number of registers with masks of lanes that are not written */
    uint16_t slots[];        /* by PTXI_TMEM_MMA_...; `disabled` slots from PTXI_TMEM_MMA_DISABLED on */
};

/* tcgen05_cp: imm. */
enum {
    PTXI_TMEM_128X256B,
    PTXI_TMEM_4X256B,
    PTXI_TMEM_128X128B,
    PTXI_TMEM_64X128B_02_13,
    PTXI_TMEM_64X128B_01_23,
    PTXI_TMEM_32X128B,
    PTXI_TMEM_COPY_SHAPE = 7, /* mask of the shape */
    PTXI_TMEM_COPY_PACKED = 3 /* shift of the bits of an element that is widened to 8, or 0 */
};

/* mbarrier_...: mods. */
enum {
    PTXI_MBARRIER_GENERIC = 1, /* generic addresses */
    PTXI_MBARRIER_DROP = 2,
    PTXI_MBARRIER_NO_COMPLETE = 4,
    PTXI_MBARRIER_EXPECT_TX = 8, /* b is a tx-count */
    PTXI_MBARRIER_PARITY = 16,   /* b is a parity, not a state */
    PTXI_MBARRIER_NO_INC = 32,
    PTXI_MBARRIER_LAYOUT_1 = 128, /* init, check: .layout::v1 */
    PTXI_MBARRIER_ONLY_WAITS = 64, /* test_wait, try_wait: in a loop that does nothing but wait, see
                                    * compile/codegen/mbarrier_wait_loops.c */
    PTXI_MBARRIER_CONDITIONAL = 256, /* ... for the conditional phase */
    PTXI_MBARRIER_REPORT = 512       /* ... and mbarrier_report follows */
};

/* mma: pool[imm]. isa/fragment.h defines the layout of the fragments. */
struct ptxi_mma {
    uint16_t m, k;           /* rows and columns of A, including columns that a sparse A does not store; n is 8 */
    uint16_t a_bits, b_bits; /* bits of the container of an element */
    uint16_t a, b;           /* floats: enum ptxi_dot_type; integers: true if signed */
    uint16_t c_f16, d_f16;   /* true if the accumulator is f16, else it has 32 bits or is f64 */
    uint16_t a_col, b_col;   /* m8n8k4: column-major layout */
    uint16_t model[5];       /* packed struct ptxi_dot_model: how num/dot.h rounds */
    uint16_t sparse, selector;
    uint16_t scale_bytes, scale_type; /* scales of a row of A, 0: none; enum ptxi_dot_scale_type */
    uint16_t scale_select[4];/* byte and lane for A, byte and lane for B */
    uint16_t selects_by_register; /* mask: scale_select[k] is a position in `slots` */
    uint16_t first[8];       /* start of d, a, b, c, the metadata and the two scales in `slots`, and their end */
    uint16_t slots[];
};

/* tex, tld4: a is the texture, b the sampler or PTXI_NO_SLOT; pool[imm]. The slots are the results, the coordinates
 * (the layer or sample first), the level or the derivatives, the offsets, and the depth to compare with. */
enum ptxi_tex_level { PTXI_TEX_BASE, PTXI_TEX_LEVEL, PTXI_TEX_GRAD };
enum ptxi_tex_result { PTXI_TEX_32, PTXI_TEX_16, PTXI_TEX_2X16 };
struct ptxi_tex {
    uint16_t dimensions, layered, cube, samples; /* samples: the first coordinate is a sample */
    uint16_t integer;                            /* coordinates and levels are integers */
    uint16_t level, result;                      /* enum ptxi_tex_level, enum ptxi_tex_result */
    uint16_t component;                          /* tld4: 1 + the component; tex: 0 */
    uint16_t first[6]; /* start of coordinates, level or dPdx, dPdy, offsets, depth in `slots`, and the end */
    uint16_t slots[];
};

/* The initial value of a .samplerref variable: addr_mode_0 in the lowest bits, addr_mode_1 and addr_mode_2, numbered
 * as in the driver API, and flags. */
enum {
    PTXI_SAMPLER_MODES = 2, /* bits of each mode */
    PTXI_SAMPLER_LINEAR = 64,
    PTXI_SAMPLER_UNNORMALIZED = 128
};

/* txq, suq: d is the result, a the texture or surface, b the level or none. mods: */
enum ptxi_txq {
    PTXI_TXQ_WIDTH,
    PTXI_TXQ_HEIGHT,
    PTXI_TXQ_DEPTH,
    PTXI_TXQ_CHANNEL_DATA_TYPE,
    PTXI_TXQ_CHANNEL_ORDER,
    PTXI_TXQ_NORMALIZED,
    PTXI_TXQ_ARRAY_SIZE,
    PTXI_TXQ_LEVELS,
    PTXI_TXQ_SAMPLES,
    PTXI_TXQ_FILTER,
    PTXI_TXQ_ADDRESS_0,
    PTXI_TXQ_ADDRESS_1,
    PTXI_TXQ_ADDRESS_2,
    PTXI_TXQ_UNNORMALIZED,
    PTXI_TXQ_LAYOUT,
    PTXI_TXQ_SURFACE = 64 /* added for a surface */
};

/* suld, sust, sured: a is the surface; pool[imm]. The slots are the values and the coordinates (the layer first). */
enum ptxi_surface_beyond { PTXI_SURFACE_TRAP, PTXI_SURFACE_CLAMP, PTXI_SURFACE_ZERO };
struct ptxi_surface {
    uint16_t dimensions, layered;
    uint16_t bytes, wide; /* bytes of a value in memory, and in its register */
    uint16_t values;      /* number of values */
    uint16_t beyond;      /* enum ptxi_surface_beyond: what happens outside of the surface */
    uint16_t formatted;   /* x counts texels, not bytes */
    uint16_t reduce[2];   /* sured: PTXI_OP_atom_... for unsigned and for signed integers */
    uint16_t slots[];
};

/* wmma.load, wmma.store: a is the address, b the stride in elements or PTXI_NO_SLOT; pool[imm]. */
struct ptxi_wmma {
    uint16_t m, n, k, operand; /* operand: 'a', 'b', or 'c' for C and D */
    uint16_t bits, col;        /* bits of an element; column-major layout in memory */
    uint16_t space;            /* 0 generic, 1 global, 2 shared */
    uint16_t offset[2];        /* added to the address, low half first */
    uint16_t count;            /* number of registers */
    uint16_t slots[];
};

enum ptxi_sreg {
#define SREG(id, spelling, type, vector, ptx, sm, scope) PTXI_SREG_##id,
#include "isa/sreg.def"
#undef SREG
    PTXI_SREG_COUNT
};

enum ptxi_sreg_scope { PTXI_SCOPE_LANE, PTXI_SCOPE_FIXED, PTXI_SCOPE_ANY }; /* sreg.def describes them */

static inline enum ptxi_sreg_scope ptxi_sreg_scope(uint32_t id)
{
    static const uint8_t scopes[PTXI_SREG_COUNT] = {
#define SREG(id, spelling, type, vector, ptx, sm, scope) PTXI_SCOPE_##scope,
#include "isa/sreg.def"
#undef SREG
    };

    return scopes[id];
}

struct ptxi_const {
    uint16_t slot;
    uint8_t bytes; /* 0 for a predicate (all lanes or none), else 2, 4 or 8; a 128-bit constant is two of 8 bytes */
    uint64_t value;
};

/* The first and the last instruction that begins a block where a register in a unit is live. If there is no such block,
 * first > last. */
struct ptxi_live_heads {
    uint32_t first, last;
};

struct ptxi_slot_range {
    uint16_t first, units;
};

/* Calls. Parameters and return values of a function are 32-bit words, each a vector of lanes with 2 units. The words of
 * all parameters, and then those of all return values, begin at unit 0 of the frame of the callee. A parameter of n
 * bytes has (n + 3) / 4 words. The words of a .param variable in the body of the caller are in the frame of the caller.
 *
 * pool[imm] of a call: the index of the function in the module (low half, high half; unused in call_indirect), the
 * number of arguments, and the number of return values. Then for each argument: the slot of its first word in the
 * caller, the slot in the callee, and the number of words. Then the same for each return value.
 *
 * pool[imm] of a brx, in 32-bit words: the number of targets, and the distance to each. */
static inline uint32_t ptxi_pool_word(const uint16_t *pool, uint32_t k)
{
    return pool[2 * k] | (uint32_t)pool[2 * k + 1] << 16;
}

struct ptxi_source_loc {
    uint32_t line;   /* line of the PTX text */
    uint16_t column;
    const struct ptxi_source_line *source; /* the .loc, or NULL */
};

/* A variable of the source that is a part of a .local variable, or several that share memory. */
struct ptxi_local_part {
    uint32_t start, end; /* in the .local memory of the function */
    const char *name;    /* NULL: not known */
};

/* What the engine has learnt about a function. */
struct ptxi_function_state {
    _Atomic bool long_ctas; /* entry: a cluster took long, so a launch wakes all workers before its first one */
    _Atomic(void *) code;   /* struct ptxi_native_code (native/native.h); NULL: not compiled so far */
    _Atomic uint32_t heat;  /* how often warps have started or continued it, about */
};

/* A compiled function. It does not change after it was created, except for what `state` refers to. */
struct ptxi_code {
    const char *name;
    uint64_t id;  /* 1, 2, ... in the order of creation; never reused, unlike the address */
    void *module; /* that it was compiled for: the ctx of the options; not of interest to the engine */
    const struct ptxi_insn *insns;
    uint32_t count;
    /* Entry functions: `setup` computes the values that are the same for every CTA of a launch, which depend on
     * parameters, %tid, %ntid and the like. It runs once per warp frame and launch with all lanes active, and ends
     * with `end`. The slots of these values are never reused. */
    const struct ptxi_insn *setup;
    uint32_t setup_count;
    const struct ptxi_const *consts; /* filled when a frame is created */
    uint32_t const_count;
    const struct ptxi_slot_range *unwritten; /* registers that may be read unwritten, filled at each entry */
    uint32_t unwritten_count;
    const struct ptxi_live_heads *live_heads; /* by unit of the frame */
    const uint32_t *block_starts; /* bit k % 32 of word k / 32: whether a block begins at instruction k */
    const uint16_t *pool;
    uint32_t pool_count;
    const struct ptxi_source_loc *locs; /* one for each instruction of `insns` */
    const struct ptxi_local_part *parts; /* checked code: as far as debug data tells, in their order */
    uint32_t part_count;
    uint32_t first_place;  /* checked code: instruction k has place first_place + k (exec/check/place.h); else 0 */
    uint32_t frame_units;
    uint32_t local_bytes;  /* size of the .local variables, a multiple of 16 */
    uint32_t param_bytes;  /* entry: size of the kernel's parameter block */
    uint32_t shared_base;  /* entry: start of its shared memory, after the part that the system reserves */
    uint32_t shared_bytes; /* entry: static .shared memory of it and its callees, and padding before dynamic memory */
    uint32_t shared_end;   /* entry: end of the static variables; a dynamic array begins at the next aligned address */
    bool uses_shared;      /* false if it calls nothing and none of its instructions can access shared memory */
    bool in_clusters;      /* entry: addresses of its shared memory include the rank of the CTA */
    uint32_t arg_words, ret_words;
    uint32_t barriers;     /* highest barrier number + 1, or 16 if unknown */
    const char *const *unsupported; /* texts of the instructions that the operation `unsupported` names by imm */
    uint32_t unsupported_count;     /* if not 0, the function must not be launched */
    bool async_proxy;    /* checked code: its module has bulk or matrix operations on shared memory */
    bool is_entry;
    struct ptxi_function_state *state; /* NULL: it never has machine code */
    uint32_t polls_at;   /* a loop around a strong load, which may wait for other CTAs: its branch; UINT32_MAX: none */
};

#endif
