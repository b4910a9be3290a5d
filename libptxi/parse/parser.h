/* The state of the parser, its messages, and the steps from token to token. All files of parse/ use this.
 *
 * The parser is a recursive descent parser with one token of lookahead. A function that parses something starts with
 * the first token of it as the current token, and ends at the token after it. It returns false after an error, which
 * it has reported, or when memory is short. The caller then skips to the next statement. */
#ifndef PTXI_PARSE_PARSER_H
#define PTXI_PARSE_PARSER_H

#include <assert.h>
#include <string.h>

#include "parse/lex.h"
#include "parse/raw_operand.h"
#include "parse/symbol.h"

enum {
    PTXI_MAX_RAW = 16,        /* operands of one instruction */
    PTXI_MAX_ELEMENTS = 1024, /* elements of all vectors and arguments of one instruction */
};

/* A growing array. It is reused from function to function; its final contents are copied to the arena. */
struct ptxi_vec {
    char *data;
    size_t count, cap; /* in objects */
};

/* Appends one zeroed object of `size` bytes. NULL when memory is short. */
void *ptxi_vec_push(struct parser *p, struct ptxi_vec *v, size_t size);
/* Copies the contents to the arena and empties the vector. NULL when memory is short. */
void *ptxi_vec_move_to_arena(struct parser *p, struct ptxi_vec *v, size_t size);

/* Text of a function's body, to compare the copies in concatenated modules. */
struct ptxi_body {
    const char *s, *e;
    uint16_t text; /* number of the module */
};

struct parser {
    struct ptxi_lexer lx;
    struct ptxi_token tok; /* the current token */
    const struct ptxi_parse_options *options;
    struct ptxi_arena *arena;
    struct ptxi_diag *diags;
    struct ptxi_module_ast *ast;
    struct ptxi_names_in_scope names;
    struct ptxi_opcode *opcodes; /* cache of opcodes, valid for one version and target */
    struct ptxi_vec funcs, vars, files, bodies; /* of the module */
    struct ptxi_vec debug_str; /* bytes of .debug_str of this text */
    struct ptxi_vec debug_info, debug_abbrev, debug_places; /* the same of others; see debug_variables.c */
    struct ptxi_inlined_place *inlined_places; /* hash table; see inlined.c */
    struct ptxi_inlined_name *inlined_names;   /* list, of this text */
    uint16_t text;       /* number of .version directives - 1 */
    uint16_t part_text;  /* `text` at the start of the current part of a linked module */
    uint32_t part_files; /* number of files of the parts before it */
    uint16_t version;    /* major * 10 + minor */
    struct ptxi_target target;
    bool have_version, have_address_size, have_dwarf, have_metadata;
    bool debug; /* .target has debug */
    bool narrow_addresses; /* .address_size is 32, or it is absent and an instruction has an address of 32 bits */
    unsigned expr_depth;
    uint64_t const_size; /* bytes of .const variables so far */

    /* The function that is being parsed. */
    struct ptxi_func *fn;
    const char *body_end; /* end of the last body, after its closing brace */
    uint32_t next_reg;    /* first free register id */
    struct ptxi_vec insts, regs, fn_vars, labels, marks;
    bool mark_pending;    /* `mark` belongs to the next instruction */
    bool intends_race;    /* of the next instruction */
    struct ptxi_line_mark mark;

    /* Scratch memory. */
    struct ptxi_vec init, relocs; /* of the initializer that is being parsed */
    unsigned raw_count, element_count;
    struct ptxi_raw raw[PTXI_MAX_RAW]; /* operands of the current instruction; from here on not zeroed at the start */
    struct ptxi_raw elements[PTXI_MAX_ELEMENTS];
};

static inline void ptxi_parse_next(struct parser *p)
{
    ptxi_lex_next(&p->lx, &p->tok);
    assert(p->tok.s <= p->lx.end && p->tok.n <= (size_t)(p->lx.end - p->tok.s));
}

void ptxi_parse_error(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void ptxi_parse_warn(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void ptxi_parse_note(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports that `what` was expected before the current token; false. */
bool ptxi_parse_error_expected(struct parser *p, const char *what);
/* Checks that the module has at least this PTX version (major * 10 + minor) and target, which `what` requires. */
bool ptxi_parse_require(struct parser *p, struct ptxi_loc loc, const char *what, size_t n, unsigned version,
                        unsigned sm);
/* The same for the current token. */
bool ptxi_parse_require_for_token(struct parser *p, unsigned version, unsigned sm);

/* Passes over a token of this kind. Reports an error if the current token is another. */
bool ptxi_parse_expect(struct parser *p, uint8_t kind);
/* Passes over a token of this kind if it is the current token. */
bool ptxi_parse_accept(struct parser *p, uint8_t kind);
/* After an error: skips to the next statement. The bad statement began at `start`. */
void ptxi_parse_recover(struct parser *p, const char *start, uint32_t start_line);

/* True if the module with this number belongs to an earlier part of a linked module. */
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

/* One of the names that x<n> declares. */
struct ptxi_numbered_name {
    struct ptxi_token tok;
    char text[1100];
};
bool ptxi_parse_numbered_name(struct parser *p, const struct ptxi_token *name, uint32_t i,
                              struct ptxi_numbered_name *out);

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

#endif
