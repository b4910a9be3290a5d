/* Bytecode: what compile/ makes and exec/ runs.
 *
 * A register is PTXI_LANES elements side by side in the warp's frame. Operands name frame slots in units of
 * PTXI_UNIT bytes: a 16-bit register takes 1 unit, 32 bits 2, 64 bits 4, 128 bits 8; a predicate is a lane mask in
 * the first bytes of 1 unit. So slot numbers do not depend on the lane count. Constants are registers, too: slots
 * filled once (struct ptxi_const), so that no operation needs a form for immediates.
 *
 * An operation's fields, unless internal.def says otherwise: d the destination, a, b, c the sources in the order of
 * the PTX operands; a second destination or a fourth source is the slot number in imm,
 * a fifth source that in its upper half; an instruction that reads or
 * writes the carry flag CC.CF has the predicate slot that holds it in imm. */
#ifndef PTXI_ISA_BYTECODE_H
#define PTXI_ISA_BYTECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/op.gen.h"

#ifndef PTXI_LANES
#define PTXI_LANES 32
#endif
#define PTXI_UNIT (2 * PTXI_LANES)
#define PTXI_NO_SLOT 0xffff

struct ptxi_insn {
    uint16_t op; /* enum ptxi_op */
    uint16_t d, a, b, c;
    uint16_t mods; /* isa/mods.def, unless the operation uses it otherwise */
    int32_t imm;
};

/* Backward branches: the loop reads memory that other threads may write; it is short and seems to wait for that; it does nothing else, see
 * compile/optimize/spin_loops.c. */
enum { PTXI_LOOP_READS = 1, PTXI_LOOP_WAITS = 2, PTXI_LOOP_POLLS = 4 };

enum { PTXI_MAX_CTA_THREADS = 1024 }; /* on every device */

/* bar, barrier: .aligned; the number and the count of threads are constants and right: imm has them, too, the count in front. */
enum { PTXI_BAR_ALIGNED = 1, PTXI_BAR_CONSTANT = 2, PTXI_BAR_COUNT_SHIFT = 4 };

/* mods.def's fields */
enum { PTXI_MOD_FTZ = 1, PTXI_MOD_SAT = 2, PTXI_MOD_RND_SHIFT = 2, PTXI_MOD_RND_MASK = 12, PTXI_MOD_NAN = 16, PTXI_MOD_CC = 16, PTXI_MOD_SHIFTAMT = 16,
       PTXI_MOD_WRAP = 16, PTXI_MOD_RELU = 32, PTXI_MOD_SATFINITE = 64, PTXI_MOD_XORSIGN = 64, PTXI_MOD_BOOL_SHIFT = 7, PTXI_MOD_BOOL_MASK = 3 << 7,
       PTXI_MOD_NOT_C = 1 << 9 /* the predicate source of set/setp/selp is negated: set by the compiler */ };
/* Set by the compiler for f64 operations. They only decide which NaN comes out of NaNs, and its sign. */
enum { PTXI_MOD_LATER_A = 16 /* a is made after b */, PTXI_MOD_MINUS_A = 32, PTXI_MOD_MINUS_C = 64 /* the operand's sign was changed */ };
enum ptxi_rounding { PTXI_RN, PTXI_RZ, PTXI_RM, PTXI_RP };

/* ld of a scalar: mods */
enum { PTXI_LD_STRONG = 1 };

/* ldmatrix, stmatrix: imm. Fragments of the matrices are d, b, c, mods (ldmatrix) or b, c, d, mods (stmatrix), a slot each; a holds the
 * addresses of rows. */
enum {
    PTXI_MATRIX_ROWS = 3,    /* as a mask: 8, 16 or 32 rows, in eights as a power of two */
    PTXI_MATRIX_GENERIC = 4, /* generic addresses */
    PTXI_MATRIX_TRANS = 8,
    PTXI_MATRIX_FORMAT = 4,  /* shift of: what a row holds, enum ptxi_matrix_format */
    PTXI_MATRIX_FORMAT_MASK = 3,
    PTXI_MATRIX_OFFSET = 6   /* shift of the signed rest: added to the addresses */
};
enum ptxi_matrix_format { PTXI_MATRIX_B16, PTXI_MATRIX_B8, PTXI_MATRIX_B6, PTXI_MATRIX_B4 };

/* wgmma: pool[imm]. `model` is what num/dot.h knows of the types and the architecture. mods: PTXI_MOD_NOT_C if scale-d is negated. */
enum ptxi_wgmma_kind { PTXI_WGMMA_F32, PTXI_WGMMA_F16, PTXI_WGMMA_S32, PTXI_WGMMA_BITS };
struct ptxi_wgmma {
    uint16_t n, k;       /* columns of D; of A, stored or not */
    uint16_t kind;
    uint16_t bits;       /* of an element of A and B */
    uint16_t a, b;       /* floats: enum ptxi_dot_type; integers: whether they have a sign */
    uint16_t model[5];   /* struct ptxi_dot_model, packed */
    uint16_t a_in_memory, sparse, selector;
    uint16_t negate_a, negate_b, turn_a, turn_b;
    uint16_t slots[];    /* D; C, as many; A: 4 registers or a descriptor; B; metadata; scale-d */
};

/* count_shared: mods, 0 for an operation that does not access shared memory. */
enum {
    PTXI_SHARED_BYTES = 31,    /* mask: of a lane's access */
    PTXI_SHARED_GENERIC = 32,  /* generic addresses, some of which may lead there */
    PTXI_SHARED_ATOMIC = 64,
    PTXI_SHARED_MATRIX = 128   /* ldmatrix, stmatrix: imm as above */
};

/* cp_async: mods. c is the bytes that come from the source, or with IGNORE a predicate: none do. */
enum { PTXI_CP_ASYNC_SIZE = 31 /* mask */, PTXI_CP_ASYNC_IGNORE = 32, PTXI_CP_ASYNC_NOT = 64 /* where it does not hold */ };

/* cp_async_wait, bulk_wait: imm is how many groups may stay incomplete; mods: */
enum { PTXI_WAIT_COMMITS = 1, PTXI_WAIT_READ = 2 /* until the sources have been read is enough */ };

/* bulk_copy: a where to, b where from, c the mbarrier or none (generic addresses), d bytes, imm's lower half a slot with a mask. async_store:
 * a where to, c the mbarrier, values in b, d and the slots that the halves of imm name. mods: */
enum {
    PTXI_BULK_MULTICAST = 1,   /* the mask names CTAs */
    PTXI_BULK_BYTE_MASK = 2,   /* it names bytes */
    PTXI_STORE_WIDTH = 3,      /* async_store: bytes of a value as a power of two */
    PTXI_BULK_REDUCE = 2       /* shift of: PTXI_OP_atom_..., what is done with each element; 0: copied */
};
_Static_assert(PTXI_OP_COUNT <= 65536 >> PTXI_BULK_REDUCE, "operations fit into mods");

/* tensor_copy: a the box in shared memory, b the tensor map, c the mbarrier or none (generic addresses), d a mask of CTAs or none, imm the
 * coordinates; mods: */
enum {
    PTXI_TENSOR_STORE = 1,  /* to global memory */
    PTXI_TENSOR_ROWS = 2,   /* four rows of two dimensions, each where a coordinate says */
    PTXI_TENSOR_IM2COL = 4,
    PTXI_TENSOR_WIDE = 8,   /* im2col::w */
    PTXI_TENSOR_W128 = 12,  /* im2col::w::128 */
    PTXI_TENSOR_MODE = 14,  /* mask */
    PTXI_TENSOR_PAIR = 16,  /* the mbarrier may be in the CTA's peer */
    PTXI_TENSOR_REDUCE = 5  /* shift of: exec/async/tma.h's enum ptxi_tensor_reduction */
};

/* tensormap_replace: a the map's generic address, b the new value, 64 bits; imm: which of several; mods: */
enum ptxi_tensor_field {
    PTXI_TENSOR_ADDRESS, PTXI_TENSOR_RANK, PTXI_TENSOR_BOX, PTXI_TENSOR_SIZE, PTXI_TENSOR_STRIDE, PTXI_TENSOR_STEP, PTXI_TENSOR_TYPE,
    PTXI_TENSOR_INTERLEAVE, PTXI_TENSOR_SWIZZLE, PTXI_TENSOR_ATOM, PTXI_TENSOR_FILL
};

/* cluster_cancel: a where the answer goes, c the mbarrier (generic addresses); mods 1: to all CTAs of the cluster. The answer: the
 * coordinates of the first CTA, and 1 where there is one. */

/* tcgen05_...: mods. a is an address of tensor memory, or of shared memory (generic); b the other operand */
enum { PTXI_TCGEN05_PAIR = 1 /* .cta_group::2 */, PTXI_TCGEN05_MULTICAST = 2 /* commit: b is a mask of CTAs */ };

/* tcgen05_ld, tcgen05_st: pool[imm]; a is the address. */
enum ptxi_tmem_shape { PTXI_TMEM_32X32B, PTXI_TMEM_16X64B, PTXI_TMEM_16X128B, PTXI_TMEM_16X256B, PTXI_TMEM_16X32BX2 };
enum { PTXI_TMEM_MAX = 1, PTXI_TMEM_F32 = 2, PTXI_TMEM_SIGNED = 4, PTXI_TMEM_ABS = 8, PTXI_TMEM_NAN = 16, PTXI_TMEM_REDUCE = 32 };
struct ptxi_tmem_move {
    uint16_t shape, count;  /* registers, but for that of a reduction, which is the last */
    uint16_t packed;        /* registers hold the lower halves of two columns */
    uint16_t reduce;        /* PTXI_TMEM_... */
    uint16_t split[2];      /* columns to the second part, low half first */
    uint16_t slots[];
};

/* tcgen05_mma: pool[imm]. mods: PTXI_MOD_NOT_C if enable-input-d is negated. */
enum ptxi_tmem_kind { PTXI_TMEM_F16, PTXI_TMEM_TF32, PTXI_TMEM_F8F6F4, PTXI_TMEM_I8, PTXI_TMEM_MXF8F6F4, PTXI_TMEM_MXF4 /* and mxf4nvf4 */ };
enum { PTXI_TMEM_MMA_D, PTXI_TMEM_MMA_A, PTXI_TMEM_MMA_B, PTXI_TMEM_MMA_IDESC, PTXI_TMEM_MMA_META, PTXI_TMEM_MMA_SCALE_A, PTXI_TMEM_MMA_SCALE_B,
       PTXI_TMEM_MMA_ENABLE_D, PTXI_TMEM_MMA_ZERO_MASK, PTXI_TMEM_MMA_DISABLED };
struct ptxi_tmem_mma {
    uint16_t kind, sm;       /* the architecture whose bits are wanted */
    uint16_t pair, ws, sparse;
    uint16_t a_in_tmem, shifted;
    uint16_t scale_d;        /* scale-input-d */
    uint16_t scales;         /* of a row of A; 0: none */
    uint16_t disabled;       /* registers with lanes that are not written */
    uint16_t slots[];        /* PTXI_TMEM_MMA_...; the last are as many as `disabled` says */
};

/* tcgen05_cp: imm */
enum { PTXI_TMEM_128X256B, PTXI_TMEM_4X256B, PTXI_TMEM_128X128B, PTXI_TMEM_64X128B_02_13, PTXI_TMEM_64X128B_01_23, PTXI_TMEM_32X128B,
       PTXI_TMEM_COPY_SHAPE = 7 /* mask */, PTXI_TMEM_COPY_PACKED = 3 /* shift of the bits of an element that is widened to 8, or 0 */ };

/* mbarrier_...: mods */
enum {
    PTXI_MBARRIER_GENERIC = 1, /* generic addresses */
    PTXI_MBARRIER_DROP = 2,
    PTXI_MBARRIER_NO_COMPLETE = 4,
    PTXI_MBARRIER_EXPECT_TX = 8, /* b is a tx-count */
    PTXI_MBARRIER_PARITY = 16,   /* b is a parity, no state */
    PTXI_MBARRIER_NO_INC = 32
};

/* mma: pool[imm]. Fragments are laid out as isa/fragment.h says; `model` is what num/dot.h knows of the types and the architecture. */
struct ptxi_mma {
    uint16_t m, k;           /* rows of A, its columns (of all elements, stored or not); n is 8 */
    uint16_t a_bits, b_bits; /* of the containers of elements */
    uint16_t a, b;           /* floats: enum ptxi_dot_type; integers: whether they have a sign */
    uint16_t c_f16, d_f16;   /* accumulators are f16, else of 32 bits or f64 */
    uint16_t a_col, b_col;   /* layouts of m8n8k4 */
    uint16_t model[5];       /* struct ptxi_dot_model, packed */
    uint16_t sparse, selector;
    uint16_t scale_bytes, scale_ue4m3; /* scales of a row of A; 0: none */
    uint16_t scale_select[4];/* byte and lane for A, for B */
    uint16_t first[8];       /* where the registers of d, a, b, c, the metadata and the two scales begin in `slots`, and their end */
    uint16_t slots[];
};

/* tex, tld4: a the texture, b the sampler or PTXI_NO_SLOT; pool[imm]. Registers: results, coordinates with the layer or sample first, level or
 * derivatives, offsets, the value to compare depths with. */
enum ptxi_tex_level { PTXI_TEX_BASE, PTXI_TEX_LEVEL, PTXI_TEX_GRAD };
enum ptxi_tex_result { PTXI_TEX_32, PTXI_TEX_16, PTXI_TEX_2X16 };
struct ptxi_tex {
    uint16_t dimensions, layered, cube, samples; /* samples: a register more that names one */
    uint16_t integer;                            /* coordinates and levels are integers */
    uint16_t level, result;
    uint16_t component;                          /* tld4: 1 + which; 0: tex */
    uint16_t first[6];                           /* where coordinates, level or dPdx, dPdy, offsets, the depth begin in `slots`, and their end */
    uint16_t slots[];
};

/* The modes that the initial value of a .samplerref variable names: addr_mode_0 in the lowest bits, as the driver numbers them; then these. */
enum { PTXI_SAMPLER_MODES = 2 /* bits of each */, PTXI_SAMPLER_LINEAR = 64, PTXI_SAMPLER_UNNORMALIZED = 128 };

/* txq, suq: d, a the texture or surface, b the level or none; mods: */
enum ptxi_txq {
    PTXI_TXQ_WIDTH, PTXI_TXQ_HEIGHT, PTXI_TXQ_DEPTH, PTXI_TXQ_CHANNEL_DATA_TYPE, PTXI_TXQ_CHANNEL_ORDER, PTXI_TXQ_NORMALIZED, PTXI_TXQ_ARRAY_SIZE,
    PTXI_TXQ_LEVELS, PTXI_TXQ_SAMPLES, PTXI_TXQ_FILTER, PTXI_TXQ_ADDRESS_0, PTXI_TXQ_ADDRESS_1, PTXI_TXQ_ADDRESS_2, PTXI_TXQ_UNNORMALIZED, PTXI_TXQ_LAYOUT,
    PTXI_TXQ_SURFACE = 64
};

/* suld, sust, sured: a the surface; pool[imm]. Registers: values, coordinates with the layer first. */
enum ptxi_surface_beyond { PTXI_SURFACE_TRAP, PTXI_SURFACE_CLAMP, PTXI_SURFACE_ZERO };
struct ptxi_surface {
    uint16_t dimensions, layered;
    uint16_t bytes, wide; /* of a value in memory, in its register */
    uint16_t values;
    uint16_t beyond;
    uint16_t formatted;   /* x counts texels */
    uint16_t reduce[2];   /* sured: PTXI_OP_atom_...; of integers without and with a sign */
    uint16_t slots[];
};

/* wmma.load, wmma.store: a the address, b the stride in elements or PTXI_NO_SLOT; pool[imm]. */
struct ptxi_wmma {
    uint16_t m, n, k, operand; /* operand: a, b, or c, which d is like */
    uint16_t bits, col;        /* of an element; layout in memory */
    uint16_t space;            /* 0 generic, 1 global, 2 shared */
    uint16_t offset[2];        /* added to the address, low half first */
    uint16_t count;            /* registers */
    uint16_t slots[];
};

enum ptxi_sreg {
#define SREG(id, spelling, type, vector, ptx, sm) PTXI_SREG_##id,
#include "isa/sreg.def"
#undef SREG
    PTXI_SREG_COUNT
};

struct ptxi_const {
    uint16_t slot;
    uint8_t bytes; /* 0: a predicate (all lanes or none), else 2, 4, 8; 128-bit constants are two of 8 */
    uint64_t value;
};

struct ptxi_slot_range {
    uint16_t first, units;
};

/* Calls. A function's parameters and return values live in 32-bit words (2 units each), one lane vector a word:
 * all words of the first parameter, of the second, ..., then of the return values, from unit 0 of the callee's
 * frame on. A parameter of n bytes takes (n + 3) / 4 words. A .param variable declared in a caller's body has its
 * words in the caller's frame.
 *
 * pool[imm] of a call: function index (low half, high half; of the module's function list; call_indirect: unused),
 * argument count, return count, then for each argument: slot of its first word here, slot in the callee, words;
 * then the same for each return value. Of a brx: words, how many targets there are and how far each is. */
static inline uint32_t ptxi_pool_word(const uint16_t *pool, uint32_t k)
{
    return pool[2 * k] | (uint32_t)pool[2 * k + 1] << 16;
}

struct ptxi_source_loc {
    uint32_t line;   /* of the PTX text */
    uint16_t column;
    uint16_t file;   /* of .loc, index into the module's files; 0 none */
    uint32_t source_line;
};

/* One compiled function. Immutable once made. */
struct ptxi_code {
    const char *name;
    const struct ptxi_insn *insns;
    uint32_t count;
    /* Entry functions: values that are the same for every CTA of a launch (functions of parameters, %tid, %ntid, ...) are
     * computed by `setup`, once per warp frame and launch with all lanes on; it ends with `end`. Their slots are never reused. */
    const struct ptxi_insn *setup;
    uint32_t setup_count;
    const struct ptxi_const *consts; /* filled when a frame is made */
    uint32_t const_count;
    const struct ptxi_slot_range *unwritten; /* registers that may be read before they are written: filled at each entry of the function */
    uint32_t unwritten_count;
    const uint16_t *pool;
    uint32_t pool_count;
    const struct ptxi_source_loc *locs; /* per instruction of insns */
    uint32_t frame_units;
    uint32_t local_bytes;  /* depot of .local variables, a multiple of 16 */
    uint32_t param_bytes;  /* entry: size of the kernel's parameter block */
    uint32_t shared_base;  /* entry: where its shared memory begins, behind what the system reserves */
    uint32_t shared_bytes; /* entry: static .shared used by it and what it can reach, and what aligns the dynamic shared memory behind it */
    uint32_t shared_end;   /* entry: where those that are named end; a dynamic array begins at the next place that suits it */
    bool uses_shared;      /* false: no instruction of it can access shared memory, and it calls nothing */
    bool in_clusters;      /* entry: addresses of its shared memory tell the CTA's rank */
    uint32_t arg_words, ret_words;
    uint32_t barriers;     /* highest barrier number used + 1, 16 if not known */
    const char *const *unsupported; /* text of instructions that op `unsupported` names by imm */
    uint32_t unsupported_count;     /* not 0: must not be launched */
    bool is_entry;
};

#endif
