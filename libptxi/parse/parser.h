/* What the files of parse/ share: the parser's state, name scopes, constant expressions. */
#ifndef PTXI_PARSE_PARSER_H
#define PTXI_PARSE_PARSER_H

#include "base/hash.h"
#include "parse/ast.h"
#include "parse/lex.h"

enum {
    PTXI_MAX_SCOPES = 128,         /* nested braces */
    PTXI_MAX_EXPR_DEPTH = 200,     /* nested operators and parentheses */
    PTXI_MAX_DIMENSIONS = 8,
    PTXI_MAX_REGS = 1 << 20,       /* of one function */
    PTXI_MAX_NAME_RANGE = 1 << 16, /* variables or labels declared as x<n> */
    PTXI_MAX_PARAMS = 8192,        /* kernel parameters take 32764 bytes at most */
    PTXI_MAX_RAW = 16,             /* operands of one instruction */
    PTXI_MAX_ELEMENTS = 1024,      /* elements of all its vectors */
    PTXI_MAX_ALIGN = 1 << 27,
    PTXI_MAX_CONST = 1 << 16,
    PTXI_MAX_FILES = 1 << 20 /* numbers above have no names */
};
#define PTXI_MAX_SIZE ((uint64_t)1 << 42) /* bytes of one variable */

/* A growing array, reused from function to function; what stays is copied to the arena. */
struct ptxi_vec {
    char *data;
    size_t count, cap; /* objects */
};

struct parser;

/* Room for one more object of `size` bytes, zeroed and counted; NULL when memory is short. */
void *ptxi_vec_push(struct parser *p, struct ptxi_vec *v, size_t size);
/* A copy in the arena; the vector is empty afterwards. */
void *ptxi_vec_take(struct parser *p, struct ptxi_vec *v, size_t size);

/* ---- names ---- */

enum ptxi_sym_kind {
    PTXI_SYM_REG,      /* register, or a range of them */
    PTXI_SYM_VAR,
    PTXI_SYM_FUNC,
    PTXI_SYM_LABEL,
    PTXI_SYM_BRANCHES, /* label of .branchtargets */
    PTXI_SYM_PROTO,    /* of .callprototype */
    PTXI_SYM_TARGETS   /* of .calltargets */
};

/* One meaning of a name, in one scope. */
struct ptxi_sym {
    uint8_t kind;   /* enum ptxi_sym_kind */
    uint8_t type;   /* registers: enum ptxi_type */
    uint8_t vector; /* registers: elements, 1 for a scalar */
    uint8_t chain;  /* enum ptxi_chain */
    uint16_t depth;
    uint16_t text;  /* which of several concatenated modules */
    struct ptxi_loc loc;
    struct ptxi_sym *outer;   /* meaning of the same name that this one hides */
    struct ptxi_sym *sibling; /* next of the same scope */
    struct ptxi_entry *entry;
    union {
        struct { uint32_t first, count; }; /* registers: ids, and names in the range */
        struct ptxi_var *var;
        struct ptxi_func *func;
        uint32_t target;
        struct ptxi_targets *table;
        struct ptxi_signature *signature;
        struct { const struct ptxi_func **funcs; uint32_t func_count; };
    };
};

/* A name's meanings, innermost first: of the name itself, of name<n>, and as a label. */
enum ptxi_chain { PTXI_CHAIN_EXACT, PTXI_CHAIN_RANGE, PTXI_CHAIN_LABEL, PTXI_CHAINS };

struct ptxi_entry {
    const struct ptxi_name *name;
    struct ptxi_sym *meaning[PTXI_CHAINS];
    struct ptxi_sym *linked; /* what it means to the parts of a linked module that declare it with linkage; or NULL */
    bool numbered_names; /* some name + number has been declared by itself */
    uint32_t section_text; /* text + 1 where it is a label of a .section */
    UT_hash_handle hh;
};

/* A label used before it is known. */
struct ptxi_label_ref {
    struct ptxi_label_ref *next;
    struct ptxi_entry *entry;
    struct ptxi_loc loc;
    uint32_t *slot;
};

struct ptxi_scope {
    struct ptxi_sym *syms;
    struct ptxi_label_ref *refs, **refs_end; /* in the order of the text */
};

struct ptxi_names_in_scope {
    struct ptxi_entry *table;
    struct ptxi_scope scopes[PTXI_MAX_SCOPES];
    unsigned depth;        /* scopes[depth] is the innermost; 0 the module */
    struct ptxi_entry *recent[64]; /* of short names, by their bytes: register prefixes are looked up all the time */
    struct ptxi_sym *free_syms;
    struct ptxi_label_ref *free_refs;
};

/* What a name in an expression means; `index` is the number behind a range's prefix. */
struct ptxi_found {
    struct ptxi_sym *sym;
    uint32_t index;
};

bool ptxi_scope_open(struct parser *p);
/* A part of a linked module ends: its names are forgotten, but for those with linkage, which later parts may take up again. */
void ptxi_scope_end_part(struct parser *p);
struct ptxi_sym *ptxi_scope_take_up(struct parser *p, struct ptxi_entry *e); /* NULL: no part has linkage for it */
void ptxi_scope_close(struct parser *p); /* labels still unknown pass to the scope around it, or are reported at the function's end */
struct ptxi_entry *ptxi_scope_entry(struct parser *p, const char *s, size_t n); /* made if new; NULL when memory is short */
/* Declares a name in the innermost scope. NULL, reported, if it is taken there, or when memory is short. */
struct ptxi_sym *ptxi_scope_add(struct parser *p, enum ptxi_sym_kind kind, enum ptxi_chain chain, const char *s, size_t n, struct ptxi_loc loc,
                                uint32_t range);
bool ptxi_scope_find(struct parser *p, const char *s, size_t n, struct ptxi_found *out);
/* The label's instruction index goes to *slot, at once or when it is known. */
bool ptxi_scope_use_label(struct parser *p, const char *s, size_t n, struct ptxi_loc loc, uint32_t *slot);

/* ---- constant expressions (PTX ISA, "Constant Expressions") ---- */

enum ptxi_value_kind { PTXI_VAL_INT, PTXI_VAL_F64, PTXI_VAL_F32 };

struct ptxi_value {
    uint8_t kind; /* enum ptxi_value_kind */
    bool is_unsigned;
    uint64_t bits;
    struct ptxi_loc loc;
};

bool ptxi_expr_parse(struct parser *p, struct ptxi_value *out);
/* An integer in lo..hi, no expression; `what` names it in messages. */
bool ptxi_expr_uint(struct parser *p, uint64_t lo, uint64_t hi, const char *what, uint64_t *out);
/* An expression whose value is an integer; `what` is expected, and `wrong` says why a float will not do. */
bool ptxi_expr_int(struct parser *p, const char *what, const char *wrong, int64_t *out);
bool ptxi_expr_offset(struct parser *p, int64_t *out); /* the one behind an address's '+' */
bool ptxi_expr_starts(const struct parser *p); /* the current token can begin one */
/* Bits of a value as a constant of type t, or false: an integer where a float is needed, or the other way round. */
bool ptxi_expr_convert(const struct ptxi_value *v, enum ptxi_type t, bool initialiser, uint64_t *bits);

/* ---- operands as written ---- */

enum ptxi_raw_kind {
    PTXI_RAW_SINK,
    PTXI_RAW_REG,
    PTXI_RAW_CONST,
    PTXI_RAW_SREG,
    PTXI_RAW_VAR,     /* var, var+offset, var[constant] */
    PTXI_RAW_FUNC,
    PTXI_RAW_NAME,    /* not declared: may be a label */
    PTXI_RAW_VECTOR,  /* braces */
    PTXI_RAW_ADDRESS, /* brackets, or var[register+constant] */
    PTXI_RAW_LABEL    /* a table or prototype */
};

struct ptxi_raw {
    uint8_t kind;     /* enum ptxi_raw_kind */
    uint8_t type;     /* registers */
    uint8_t vector;   /* registers: elements, 0 for a scalar */
    uint8_t value_kind;
    bool is_unsigned;
    bool negated;     /* ! */
    bool minus;       /* - before a register */
    bool pair;        /* behind | */
    bool inside;      /* in the brackets of the address before it */
    bool based;       /* address: reg is valid */
    bool bare;        /* var[index] without brackets around it */
    bool unified;     /* [address].unified */
    uint16_t count;   /* elements */
    uint16_t selector; /* as in struct ptxi_operand */
    struct ptxi_loc loc;
    const char *s;    /* as written */
    uint32_t reg;
    union {
        uint64_t bits;
        int64_t offset;
        struct ptxi_raw *elements;
    };
    union {
        const struct ptxi_var *var;
        const struct ptxi_func *func;
        struct ptxi_sym *sym;
        struct ptxi_entry *entry;
    };
    uint32_t scale;
};

/* Whether ptxas puts other instructions in the place of one, and so looks at each register: that depends on the target or not. */
enum ptxi_expansion { PTXI_ALWAYS_SO, PTXI_EXPANDED, PTXI_NOT_EXPANDED };

/* A match under which a spelling's operands are checked, with what can be known before they are seen. */
struct ptxi_candidate {
    const struct ptxi_match *match;
    struct ptxi_candidate *next;
    uint8_t types[PTXI_MAX_OPERANDS];
    uint8_t vectors[PTXI_MAX_OPERANDS];
    uint8_t spec_count;
    uint8_t spaces[2]; /* enum ptxi_space of its first and second state space word */
    uint8_t space_count, address_count;
    uint8_t expansion; /* enum ptxi_expansion */
    bool plain;     /* no operand is optional, a pair or in brackets: they correspond one to one */
    bool available; /* under the module's version and target */
};

/* An instruction's name with its qualifiers as written, and what it can mean. */
struct ptxi_spelling {
    const char *s;
    uint32_t n;
    struct ptxi_candidate *candidates; /* at least one; those that version and target allow come first */
    UT_hash_handle hh;
};

/* ---- the parser ---- */

struct ptxi_body { /* text of a function's body, to compare those of concatenated modules */
    const char *s, *e;
    uint16_t text;
};

struct parser {
    struct ptxi_lexer lx;
    struct ptxi_token tok;
    const struct ptxi_parse_options *options;
    struct ptxi_arena *arena;
    struct ptxi_diag *diags;
    struct ptxi_module_tree *tree;
    struct ptxi_names_in_scope names;
    struct ptxi_spelling *spellings;
    struct ptxi_vec funcs, vars, files, bodies; /* of the module */
    uint16_t text;      /* number of .version directives - 1 */
    uint16_t part_text; /* the first one of the part of a linked module that is being read */
    uint32_t part_files; /* files of the parts before it */
    uint16_t version;
    struct ptxi_target target;
    bool have_version, have_address_size;
    unsigned expr_depth;
    uint64_t const_size; /* bytes of .const variables so far */
    bool have_dwarf;
    /* of the function being read */
    struct ptxi_func *fn;
    const char *body_end; /* behind the closing brace of the body read last */
    uint32_t next_reg;
    struct ptxi_vec insts, regs, fn_vars, labels, marks;
    bool mark_pending;
    struct ptxi_line_mark mark;
    /* scratch */
    struct ptxi_vec init, relocs;
    unsigned raw_count, element_count;
    struct ptxi_raw raw[PTXI_MAX_RAW]; /* from here on not zeroed at the start */
    struct ptxi_raw elements[PTXI_MAX_ELEMENTS];
};

static inline void ptxi_parse_next(struct parser *p)
{
    ptxi_lex_next(&p->lx, &p->tok);
}

void ptxi_parse_error(struct parser *p, struct ptxi_loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void ptxi_parse_warn(struct parser *p, struct ptxi_loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void ptxi_parse_note(struct parser *p, struct ptxi_loc loc, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool ptxi_parse_expected(struct parser *p, const char *what); /* reports the current token; false */
bool ptxi_parse_want(struct parser *p, uint8_t kind);         /* passes over a token that must be there */
bool ptxi_parse_accept(struct parser *p, uint8_t kind);       /* ... that may be there */
/* After an error in the statement that began there: to the next one. */
void ptxi_parse_recover(struct parser *p, const char *start, uint32_t start_line);

/* Whether something of this text number is of another part of a linked module. */
static inline bool ptxi_parse_linked(const struct parser *p, uint16_t text)
{
    return text < p->part_text;
}

static inline struct ptxi_loc ptxi_parse_loc(const struct parser *p)
{
    return ptxi_token_loc(&p->tok);
}

static inline bool ptxi_parse_is_word(const struct parser *p, const char *w)
{
    size_t n = strlen(w);

    return p->tok.kind == PTXI_TOK_WORD && p->tok.n == n && !memcmp(p->tok.s, w, n);
}

/* At a name that is not that of a constant, as WARP_SZ is. */
static inline bool ptxi_parse_at_name(const struct parser *p)
{
    return p->tok.kind == PTXI_TOK_NAME && !ptxi_expr_starts(p);
}

/* One of the names that x<n> stands for. */
struct ptxi_numbered {
    struct ptxi_token tok;
    char text[1100];
};
bool ptxi_parse_numbered(struct parser *p, const struct ptxi_token *name, uint32_t i, struct ptxi_numbered *out);

bool ptxi_parse_is_register_type(enum ptxi_type t);

enum ptxi_directive {
#define DIRECTIVE(word) PTXI_D_##word,
#include "parse/directive.def"
#undef DIRECTIVE
    PTXI_D_COUNT,
    PTXI_D_NONE = PTXI_D_COUNT
};
enum ptxi_directive ptxi_parse_directive(const struct ptxi_token *t);
/* The state space that a directive or a qualifier names, or -1. */
int ptxi_parse_space(const char *s, size_t n);

/* module.c */
bool ptxi_module_target(struct parser *p); /* also between the statements of a body */
enum ptxi_pragma_place { PTXI_PRAGMA_MODULE, PTXI_PRAGMA_HEAD /* between a function's head and body */, PTXI_PRAGMA_BODY };
bool ptxi_module_pragma(struct parser *p, enum ptxi_pragma_place place);
bool ptxi_module_definition(struct parser *p);
enum { PTXI_ATTRIBUTE_MANAGED = 1, PTXI_ATTRIBUTE_UNIFIED = 2 };
bool ptxi_module_attribute(struct parser *p, uint8_t *attributes);

/* var.c */
struct ptxi_decl { /* [.align] [.attribute] [.vN] .type, in front of names */
    uint8_t space, type, vector, opaque, linkage, ptr_space;
    bool is_reg, has_align;
    uint8_t attributes; /* PTXI_ATTRIBUTE_MANAGED ... */
    uint32_t align;
};
bool ptxi_var_starts(const struct parser *p); /* the current token can begin a declaration */
bool ptxi_var_declaration(struct parser *p, uint8_t linkage); /* from the space's word, or what stands in front of it, to ';' */
struct ptxi_var *ptxi_var_param(struct parser *p, bool entry, bool prototype); /* one parameter; not yet declared as a name */
bool ptxi_var_declare_reg(struct parser *p, struct ptxi_var *v);

/* func.c */
bool ptxi_func_parse(struct parser *p, uint8_t linkage, bool entry);
bool ptxi_func_alias(struct parser *p);
uint32_t ptxi_func_new_regs(struct parser *p, const struct ptxi_name *name, enum ptxi_type type, unsigned vector, uint32_t count, bool numbered,
                            struct ptxi_loc loc); /* first id; PTXI_NO_REG, reported, if there are too many */

/* head.c */
bool ptxi_head_parse(struct parser *p, struct ptxi_func *head, struct ptxi_token *name); /* from .entry or .func to in front of the body */
bool ptxi_head_prototype(struct parser *p, struct ptxi_func *f);                         /* what is behind .callprototype */
/* With `types` also what the parameters are called, not only their shapes. */
bool ptxi_head_same(const struct ptxi_signature *a, const struct ptxi_signature *b, bool types);

/* label.c */
bool ptxi_label_parse(struct parser *p); /* name ':' and a directive that needs one; the colon is the next character */

/* inst.c */
bool ptxi_inst_parse(struct parser *p); /* guard and instruction, to behind ';' */
bool ptxi_inst_push(struct parser *p, const struct ptxi_inst *in); /* behind those of the function so far */

/* operand.c */
bool ptxi_operand_list(struct parser *p); /* up to ';', to p->raw */
bool ptxi_operand_parse(struct parser *p, struct ptxi_raw *r);
void ptxi_operand_start(struct parser *p, struct ptxi_raw *r); /* nothing yet, at the current token */
void ptxi_operand_name(struct parser *p, struct ptxi_raw *r);  /* what the name at the current token means */
bool ptxi_operand_undefined(struct parser *p, const struct ptxi_raw *r);    /* reports it; false */
bool ptxi_operand_want_address(struct parser *p, const struct ptxi_raw *r); /* the register in *r can be an index or a function */
bool ptxi_operand_is_sreg(const char *s, size_t n);

/* check.c */
/* Gives the operands in p->raw to the first candidate that takes them; fills in->match and in->operands. */
bool ptxi_check_inst(struct parser *p, const struct ptxi_spelling *sp, struct ptxi_loc loc, struct ptxi_inst *in);
/* A register, constant or variable as a call's argument or result for `formal`. */
bool ptxi_check_arg(struct parser *p, const struct ptxi_raw *r, const struct ptxi_var *formal, bool result, struct ptxi_operand *out);

/* spell.c */
const struct ptxi_spelling *ptxi_spell_find(struct parser *p, const struct ptxi_token *op, struct ptxi_loc loc); /* NULL after an error */
void ptxi_spell_note_accepted(struct parser *p, const struct ptxi_row *row);
/* Reports what the module's version or target lacks for the form `s`. */
void ptxi_spell_require(struct parser *p, const struct ptxi_match *m, struct ptxi_loc loc, const char *s, size_t n);

/* width.c */
struct ptxi_width {
    unsigned bits, container;
    char letter;         /* s, u or b */
    uint32_t at, length; /* of its qualifier in the instruction's name, without the dot */
};
/* Whether an instruction's name has an integer type of a width that PTX does not have, and can be made of others. */
bool ptxi_width_find(const struct ptxi_token *op, struct ptxi_width *w);
/* The instructions that do it, for the operands in p->raw. `like` has the place and guard. */
bool ptxi_width_inst(struct parser *p, const struct ptxi_token *op, struct ptxi_width *w, struct ptxi_loc loc, const struct ptxi_inst *like);

/* debug.c */
bool ptxi_debug_file(struct parser *p);
bool ptxi_debug_loc(struct parser *p);
bool ptxi_debug_section(struct parser *p);
bool ptxi_debug_dwarf(struct parser *p);

#endif
