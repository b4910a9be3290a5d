/* The instruction table, in the form that the parser, the compiler and the tools use.
 *
 * A row describes one syntax of one instruction family: its qualifier slots, its operands, the PTX version and target
 * that introduced it, and the operation that executes it. gen.c generates the tables from the rows in the .def files
 * (insn.def explains them). */
#ifndef PTXI_ISA_ISA_H
#define PTXI_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types are qualifiers, too: the first PTXI_TYPE_COUNT qualifier ids are the types. */
enum ptxi_type {
#define TYPE(id, bits, class) PTXI_T_##id,
#include "isa/type.def"
#undef TYPE
    PTXI_TYPE_COUNT,
    PTXI_T_NONE = 0xff
};

struct ptxi_type_info {
    const char *name;
    uint8_t bits;
    char class; /* U, S, B, F, A, P: see type.def */
};
extern const struct ptxi_type_info ptxi_types[PTXI_TYPE_COUNT];

#define PTXI_MAX_SLOTS 16
#define PTXI_MAX_OPERANDS 12
#define PTXI_NO_WORD 0xffff

/* One qualifier slot: it takes exactly one of `words`. */
struct ptxi_slot {
    const char *name;
    const uint16_t *words; /* qualifier ids */
    uint16_t id;           /* the name as a number: enum ptxi_slot_name */
    uint8_t word_count;
    bool optional;
};

/* Lowering rules of the compiler. PTXI_RULE_PLAIN: the operands are in the order of the operation's fields. */
enum ptxi_lower_rule_id {
    PTXI_RULE_PLAIN,
#define RULE(name, function) PTXI_RULE_##name,
#include "isa/lower_rule.def"
#undef RULE
    PTXI_RULE_COUNT
};

/* Chapters of the PTX ISA. */
enum ptxi_chapter {
#define CHAPTER(id, title, pure) PTXI_CHAPTER_##id,
#define PURE(mnemonic)
#include "isa/chapter.def"
#undef CHAPTER
#undef PURE
    PTXI_CHAPTER_COUNT
};

enum ptxi_operand_kind {
    PTXI_OPK_VALUE,    /* register, constant, special register or symbol, of a type */
    PTXI_OPK_IMMEDIATE,/* constant expression only */
    /* [address], perhaps with more operands inside the brackets (PTXI_OPF_COORDS); with a type, the address is a
     * register of that type + offset (tensor memory) */
    PTXI_OPK_ADDRESS,
    PTXI_OPK_LABEL,    /* branch target */
    PTXI_OPK_TABLE,    /* label of .branchtargets */
    PTXI_OPK_CALL,     /* everything after `call`: parsed by its own rule */
    PTXI_OPK_SINK      /* only _ */
};

enum {
    PTXI_OPF_WRITE = 1,    /* = destination */
    PTXI_OPF_OPTIONAL = 2, /* ? may be missing, with all operands after it */
    PTXI_OPF_SINK = 4,     /* _ accepted for the whole operand */
    PTXI_OPF_NOT = 8,      /* !p accepted */
    PTXI_OPF_NEGATE = 16,  /* -a accepted (video instructions) */
    PTXI_OPF_WIDER = 32,   /* ~ the register may be wider than the type; that of an address narrower than 32 bits */
    PTXI_OPF_PAIR = 64,    /* | second half of d|p: belongs to the operand before it */
    PTXI_OPF_REGISTER = 128, /* $ no constant accepted */
    PTXI_OPF_BRACES = 256, /* *{n} braces also around one element */
    PTXI_OPF_COORDS = 512, /* inside the brackets of the address operand before it */
    PTXI_OPF_SAMPLER = 1024, /* an optional sampler may precede the coordinates */
    /* *? braces with any number of elements that fits, or a plain register (mov, pack and unpack) */
    PTXI_OPF_VECTOR_OK = 2048,
    PTXI_OPF_SYMBOL = 4096, /* & the address of a variable or function accepted */
    PTXI_OPF_SREG = 8192, /* % a special register accepted */
    /* ! a vector: longer ones are accepted, too; an address: a register of 32 bits is accepted in any space, and
     * narrower ones (~) only where the space is named */
    PTXI_OPF_UNCHECKED = 16384,
    PTXI_OPF_ANY_REGISTER = 32768, /* * an address: any register */
    PTXI_OPF_EACH = 65536, /* ^ each register of a vector must fit by itself, instead of all of them together */
    /* = ptxas takes it for another operand: braces around registers of exactly its type for a scalar, the last address
     * in a register of 16 bits for a mask */
    PTXI_OPF_CONFUSED = 131072
};

enum ptxi_type_rule {
    PTXI_TR_FIXED,  /* `type` */
    PTXI_TR_SLOT,   /* the word in slot `type` */
    PTXI_TR_DOUBLE, /* the slot's type at twice the width */
    PTXI_TR_BITS    /* the .bN type as wide as the slot's */
};

/* A vector's length that a qualifier gives: bits 0 to 7 are the qualifier's slot. The bits above are the logarithms of
 * a factor (4 bits) and a divisor. */
enum { PTXI_VECTOR_OF_SLOT = 0x8000, PTXI_VECTOR_TIMES = 8, PTXI_VECTOR_DIVIDED = 12 };

/* Every step-th value from first to last. */
struct ptxi_range {
    int64_t first, last, step;
};

struct ptxi_opspec {
    const char *name; /* the name in the PTX manual: d, a, b, c, p, q */
    uint16_t id;      /* the name as a number: enum ptxi_operand_resolve_name */
    uint8_t kind;     /* enum ptxi_operand_kind */
    uint8_t type_rule;
    uint8_t type;     /* type id, or slot index */
    uint16_t vector;  /* 0: scalar; else ptxi_isa_operand_vector() computes the number of elements */
    uint32_t flags;
    /* @ number of parts that a selector names: 0 no selector, 1 a byte or half, 2 halves, 4 bytes; a mask for
     * destinations */
    uint8_t selector;
    const struct ptxi_range *ranges; /* the values that a constant may have; NULL: any */
    uint8_t range_count;
};

/* An architecture that a row needs: sm_<number>, or the architecture-specific ('a') or family-specific ('f') one. */
struct ptxi_target {
    uint16_t sm;
    char suffix; /* 0, 'a' or 'f' */
};

struct ptxi_row {
    const char *mnemonic;
    const char *syntax;   /* the qualifiers as the .def file has them, for messages */
    const char *operands; /* the operands as the .def file has them */
    const char *section;  /* title of its section in the PTX ISA */
    const struct ptxi_slot *slots;
    const struct ptxi_opspec *specs;
    const struct ptxi_target *targets; /* one of them is needed */
    const uint16_t *ops;  /* op per combination of the words in exec_slots; NULL: no operation */
    uint8_t lower;        /* lowering rule: enum ptxi_lower_rule_id */
    uint8_t chapter;      /* chapter of its section: enum ptxi_chapter */
    bool pure;            /* depends only on its operands and cannot fail */
    uint16_t family;      /* index of the family: enum ptxi_mnemonic; rows of dialects may have numbers of their own */
    uint16_t ptx;         /* major * 10 + minor */
    uint16_t ptx_end;     /* first PTX version without it (e.g. vote without .sync), or 0 */
    uint16_t ptx_end_sm;  /* for targets from sm_<ptx_end_sm> on */
    uint8_t slot_count;
    uint8_t head_count; /* number of the first slots, which belong to the instruction's name */
    uint8_t spec_count, target_count;
    uint8_t exec_slot_count;
    uint8_t exec_slots[4];
};

/* The version and target that a word needs in addition to its row's. */
struct ptxi_need {
    const struct ptxi_target *targets;
    uint16_t word, ptx;
    uint8_t target_count;
};

/* The PTX ISA's rows, then those of the dialect (see dialect.def), which belong to no family. */
extern const struct ptxi_row ptxi_rows[];
extern const unsigned ptxi_row_count, ptxi_dialect_row_count;

/* The rows of one mnemonic, which are adjacent. */
struct ptxi_family {
    const char *mnemonic;
    uint16_t first, count;
    uint16_t first_need, need_count;
};
extern const struct ptxi_need ptxi_needs[];
extern const struct ptxi_family ptxi_families[];
extern const unsigned ptxi_family_count;

extern const char *const ptxi_words[]; /* spelling of each qualifier id, without the dot */
extern const uint16_t ptxi_word_mods[]; /* its bits in the `mods` field */
extern const unsigned ptxi_word_count;

/* The id of a qualifier, or PTXI_NO_WORD. `s` need not end in NUL. */
uint16_t ptxi_isa_word(const char *s, size_t n);

/* The family of a mnemonic, or NULL. */
const struct ptxi_family *ptxi_isa_family(const char *s, size_t n);

/* The qualifiers of an instruction, matched with one row. */
struct ptxi_match {
    const struct ptxi_row *row;
    uint16_t words[PTXI_MAX_SLOTS]; /* per slot: the word that fills it, or PTXI_NO_WORD */
    uint16_t mods;
};

/* Fills the row's slots with the qualifiers (ids, as written). Qualifiers are a set: order matters only among types,
 * state spaces, layouts (row, col), formats, and words that fit the same slots; and those of the row's head come first
 * and in order. Returns true and fills *m if all words and all mandatory slots are used. Otherwise *bad is the index of
 * the first word that fits no slot, or `count` if a mandatory slot is empty. */
bool ptxi_isa_match(const struct ptxi_row *row, const uint16_t *quals, unsigned count, struct ptxi_match *m,
                    unsigned *bad);

/* The index of a qualifier of the row's head that comes too late, if that is the only reason for which ptxi_isa_match()
 * fails; else -1. */
int ptxi_isa_misplaced_word(const struct ptxi_row *row, const uint16_t *quals, unsigned count);

/* The type an operand must have under a match; PTXI_T_NONE if it has none. */
enum ptxi_type ptxi_isa_operand_type(const struct ptxi_match *m, const struct ptxi_opspec *spec);

/* Number of elements of a vector operand under a match; 0 for a scalar. A vector of one needs its braces if
 * PTXI_OPF_BRACES is set. */
unsigned ptxi_isa_operand_vector(const struct ptxi_match *m, const struct ptxi_opspec *spec);

/* Whether this number depends on the qualifiers. */
bool ptxi_isa_vector_varies(const struct ptxi_opspec *spec);

/* The operation that executes this form, or PTXI_OP_NONE. */
uint16_t ptxi_isa_op(const struct ptxi_match *m);

/* The word that fills the slot of that name, or PTXI_NO_WORD. */
uint16_t ptxi_isa_slot(const struct ptxi_match *m, const char *name);
/* The same, by the name's number (enum ptxi_slot_name). */
uint16_t ptxi_isa_slot_word(const struct ptxi_match *m, unsigned slot);

/* True if any slot holds the qualifier `word`. */
bool ptxi_isa_has(const struct ptxi_match *m, const char *word);
/* The same, by the word's id. */
bool ptxi_isa_has_word(const struct ptxi_match *m, uint16_t word);

/* Whether a device sm_<sm> runs code for this target. PTX ISA, "PTX Module Directives: .target": code runs on its own
 * generation and later ones, architecture-specific code on its own only, family-specific code on its family. */
bool ptxi_isa_target_runs_on(struct ptxi_target target, unsigned sm);

/* Whether code for this target may use the row. */
bool ptxi_isa_target_ok(const struct ptxi_row *row, struct ptxi_target target);

/* The requirement of a form that code of `version` (major * 10 + minor) and target does not meet, or NULL. Its `word`
 * is the qualifier that has the requirement, or PTXI_NO_WORD if the row itself has it; then it is written to *need.
 * Targets from ptx_end_sm on do not meet a row that PTX has dropped (ptx_end). */
const struct ptxi_need *ptxi_isa_unmet_need(const struct ptxi_match *m, unsigned version, struct ptxi_target target,
                                            struct ptxi_need *need);

extern const char *const ptxi_op_names[];
/* enum ptxi_mnemonic of the first row that names the operation; 0xffff: none does */
extern const uint16_t ptxi_op_mnemonics[];

/* Properties of an operation, by enum ptxi_op. internal.def gives them; rows' operations have none of them. */
enum {
    PTXI_OP_FLAG_BRANCH = 1, /* branches by imm; a, and b if it compares, are the condition */
    PTXI_OP_FLAG_LOAD = 2,   /* loads from a + imm */
    PTXI_OP_FLAG_STORE = 4,  /* stores to a + imm */
    PTXI_OP_FLAG_V2 = 8,     /* accesses two elements */
    PTXI_OP_FLAG_V4 = 16,    /* accesses four elements */

    /* accesses an element of this size, which has the size of its register */
    PTXI_OP_FLAG_BYTES_2 = 32,
    PTXI_OP_FLAG_BYTES_4 = 64,
    PTXI_OP_FLAG_BYTES_8 = 128,

    /* the state space of such an access, unless no other thread writes to it */
    PTXI_OP_FLAG_GLOBAL = 256,
    PTXI_OP_FLAG_SHARED = 512,
    PTXI_OP_FLAG_GENERIC = 1024,

    PTXI_OP_FLAG_AT = 2048, /* a is an address register */
    PTXI_OP_FLAG_SIGNED = 4096 /* the sign of an element is extended to the register */
};
extern const uint16_t ptxi_op_flags[];

/* The number of elements that a load or store with these properties accesses. */
static inline unsigned ptxi_op_elements(unsigned flags)
{
    return flags & PTXI_OP_FLAG_V4 ? 4 : flags & PTXI_OP_FLAG_V2 ? 2 : 1;
}

#endif
