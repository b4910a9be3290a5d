/* The instruction set as data: what insn.def says, in the form that the parser, the compiler and the tools use.
 *
 * A row describes one syntax of one instruction family: its qualifier slots, its operands, the PTX version and
 * target that brought it, and which handler executes it. Everything here is generated from the rows by gen.c. */
#ifndef PTXI_ISA_ISA_H
#define PTXI_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types are qualifiers too: the first PTXI_TYPE_COUNT qualifier ids are the types. */
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

/* One qualifier slot: exactly one of `words` may stand in it. */
struct ptxi_slot {
    const char *name;      /* "" when anonymous */
    const uint16_t *words; /* qualifier ids */
    uint8_t word_count;
    bool optional;
};

enum ptxi_operand_kind {
    PTXI_OPK_VALUE,    /* register, constant, special register or symbol, of a type */
    PTXI_OPK_IMMEDIATE,/* constant expression only */
    PTXI_OPK_ADDRESS,  /* [address], perhaps with more operands inside the brackets (PTXI_OPF_COORDS); with a type, the address is
                          a register of that type + offset (tensor memory) */
    PTXI_OPK_LABEL,    /* branch target */
    PTXI_OPK_TABLE,    /* label of .branchtargets */
    PTXI_OPK_CALL,     /* everything behind `call`: parsed by its own rule */
    PTXI_OPK_SINK      /* _ and nothing else */
};

enum {
    PTXI_OPF_WRITE = 1,    /* = destination */
    PTXI_OPF_OPTIONAL = 2, /* ? may be missing, with everything behind it */
    PTXI_OPF_SINK = 4,     /* _ accepted for the whole operand */
    PTXI_OPF_NOT = 8,      /* !p accepted */
    PTXI_OPF_NEGATE = 16,  /* -a accepted (video instructions) */
    PTXI_OPF_WIDER = 32,   /* ~ the register may be wider than the type; that of an address narrower than 32 bits */
    PTXI_OPF_PAIR = 64,    /* | second half of d|p: belongs to the operand before it */
    PTXI_OPF_REGISTER = 128, /* $ no constant accepted */
    PTXI_OPF_BRACES = 256, /* *{n} braces also around one element */
    PTXI_OPF_COORDS = 512, /* stands inside the brackets of the address operand before it */
    PTXI_OPF_SAMPLER = 1024, /* an optional second name may stand between texture and coordinates */
    PTXI_OPF_VECTOR_OK = 2048, /* *? braces with any fitting number of elements, or a plain register (mov, pack and unpack) */
    PTXI_OPF_SYMBOL = 4096, /* & the address of a variable or function accepted */
    PTXI_OPF_SREG = 8192, /* % a special register accepted */
    PTXI_OPF_UNCHECKED = 16384, /* ! a vector: longer ones, too; an address: a register of 32 bits in any space, and narrower ones (~) only
                                   where the space is named */
    PTXI_OPF_ANY_REGISTER = 32768, /* * an address: any register */
    PTXI_OPF_EACH = 65536 /* ^ each register of a vector must fit by itself, not all of them together */
};

enum ptxi_type_rule {
    PTXI_TR_FIXED,  /* `type` */
    PTXI_TR_SLOT,   /* the word in slot `type` */
    PTXI_TR_DOUBLE, /* the slot's type at twice the width */
    PTXI_TR_BITS    /* the .bN type as wide as the slot's */
};

/* A vector's length that a qualifier says: bits 0 to 7 are its slot, and above are logarithms of a factor (4 bits) and a divisor. */
enum { PTXI_VECTOR_OF_SLOT = 0x8000, PTXI_VECTOR_TIMES = 8, PTXI_VECTOR_DIVIDED = 12 };

/* Every step-th value from first to last. */
struct ptxi_range {
    int32_t first, last, step;
};

struct ptxi_opspec {
    const char *name; /* as the PTX manual calls it: d, a, b, c, p, q */
    uint8_t kind;     /* enum ptxi_operand_kind */
    uint8_t type_rule;
    uint8_t type;     /* type id, or slot index */
    uint16_t vector;  /* 0 scalar, else what ptxi_isa_operand_vector() makes its number of elements of */
    uint32_t flags;
    uint8_t selector; /* @ what a selector chooses: 0 none accepted, 1 a byte or half, 2 halves, 4 bytes; of a destination they are a mask */
    const struct ptxi_range *ranges; /* the values that a constant may have here; any when there are none */
    uint8_t range_count;
};

/* An architecture that a row needs: sm_<number>, or the architecture- ('a') or family- ('f') specific one. */
struct ptxi_target {
    uint16_t sm;
    char suffix; /* 0, 'a' or 'f' */
};

struct ptxi_row {
    const char *mnemonic;
    const char *syntax;   /* the qualifier part as insn.def has it, for messages */
    const char *operands; /* likewise */
    const char *section;  /* title of its section in the PTX ISA */
    const struct ptxi_slot *slots;
    const struct ptxi_opspec *specs;
    const struct ptxi_target *targets; /* any of them will do */
    const uint16_t *ops;  /* op per combination of the words in exec_slots; NULL when not executable */
    const char *lower;    /* name of the compiler's lowering rule, or NULL for the plain one */
    uint16_t family;      /* enum ptxi_mnemonic: index of the family; dialects have more of them */
    uint16_t ptx;         /* major * 10 + minor */
    uint16_t ptx_end;     /* first PTX version without it, 0 if none (e.g. vote without .sync) */
    uint8_t slot_count, head_count, spec_count, target_count; /* head_count: of the first slots, which belong to the instruction's name */
    uint8_t exec_slot_count;
    uint8_t exec_slots[4];
};

/* What a word asks for beyond its row. */
struct ptxi_need {
    const struct ptxi_target *targets;
    uint16_t word, ptx;
    uint8_t target_count;
};

/* The PTX ISA's rows, and behind them those of the dialect (see dialect.def), which belong to no family. */
extern const struct ptxi_row ptxi_rows[];
extern const unsigned ptxi_row_count, ptxi_dialect_row_count;

/* Rows of one mnemonic stand together. */
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

/* What an instruction's written qualifiers mean under one row. */
struct ptxi_match {
    const struct ptxi_row *row;
    uint16_t words[PTXI_MAX_SLOTS]; /* per slot the word that fills it, or PTXI_NO_WORD */
    uint16_t mods;
};

/* Fill the row's slots with the qualifiers (ids, as written). Qualifiers are a set: order matters only among types, state spaces,
 * layouts (row, col), formats, and words that could stand in the same slots; and those of the row's head come first and in order.
 * Returns true and fills *m if all words and all mandatory slots are used; else *bad is the index of the first word with no place,
 * or `count` when a mandatory slot stays empty. */
bool ptxi_isa_match(const struct ptxi_row *row, const uint16_t *quals, unsigned count, struct ptxi_match *m, unsigned *bad);

/* Which qualifier, one of the row's head, is all that keeps ptxi_isa_match() from taking them: it stands too late. -1 if none. */
int ptxi_isa_late(const struct ptxi_row *row, const uint16_t *quals, unsigned count);

/* The type an operand must have under a match; PTXI_T_NONE if it has none. */
enum ptxi_type ptxi_isa_operand_type(const struct ptxi_match *m, const struct ptxi_opspec *spec);

/* Number of elements of a vector operand under a match; 0 for a scalar. A vector of one needs its braces if PTXI_OPF_BRACES is set. */
unsigned ptxi_isa_operand_vector(const struct ptxi_match *m, const struct ptxi_opspec *spec);

/* Whether that depends on the qualifiers. */
bool ptxi_isa_vector_varies(const struct ptxi_opspec *spec);

/* The operation that executes this form, or PTXI_OP_NONE. */
uint16_t ptxi_isa_op(const struct ptxi_match *m);

/* The word filling the slot of that name, or PTXI_NO_WORD. */
uint16_t ptxi_isa_slot(const struct ptxi_match *m, const char *name);

/* True if the match holds the qualifier `word` anywhere. */
bool ptxi_isa_has(const struct ptxi_match *m, const char *word);

/* Whether code for this target may use the row. */
bool ptxi_isa_target_ok(const struct ptxi_row *row, struct ptxi_target target);

/* What keeps code of `version` (major * 10 + minor) and target from using a form: NULL if nothing does, else the
 * requirement that is not met; its `word` is the qualifier that asks for it, or PTXI_NO_WORD for the row itself.
 * *need is room for the latter. A row that PTX dropped (ptx_end) is not met from sm_70 on. */
const struct ptxi_need *ptxi_isa_lacks(const struct ptxi_match *m, unsigned version, struct ptxi_target target, struct ptxi_need *need);

extern const char *const ptxi_op_names[];

#endif
