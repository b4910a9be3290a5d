/* Tokens of PTX text. Nothing is copied: a token points into the text. */
#ifndef PTXI_PARSE_LEX_H
#define PTXI_PARSE_LEX_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Punctuation is its own character code; these are the rest. */
enum ptxi_token_kind {
    PTXI_TOK_END = 0,
    PTXI_TOK_NAME = 128, /* identifier; a lone _ is '_' */
    PTXI_TOK_WORD,       /* .word; s and n leave out the dot */
    PTXI_TOK_INT,        /* number; is_unsigned */
    PTXI_TOK_F64,        /* 1.5, 0d...: number holds the bits of a double */
    PTXI_TOK_F32,        /* 0f...: number holds the bits of a float */
    PTXI_TOK_STRING,     /* s and n without the quotes */
    PTXI_TOK_SHL,
    PTXI_TOK_SHR,
    PTXI_TOK_LE,
    PTXI_TOK_GE,
    PTXI_TOK_EQ,
    PTXI_TOK_NE,
    PTXI_TOK_AND,
    PTXI_TOK_OR,
    PTXI_TOK_DWARF, /* @@DWARF */
    PTXI_TOK_BAD    /* already reported */
};

struct ptxi_token {
    const char *s;
    uint32_t n;
    uint32_t line, col;
    uint8_t kind;
    bool is_unsigned;
    uint64_t number;
};

struct ptxi_lexer {
    const char *p, *end;
    const char *line_start;
    uint32_t line;
    struct ptxi_diag *diags;
};

void ptxi_lex_init(struct ptxi_lexer *lx, const char *text, size_t size, struct ptxi_diag *diags);
void ptxi_lex_next(struct ptxi_lexer *lx, struct ptxi_token *t);

/* With `t` the name that begins an instruction: extend it over its qualifiers, ".ftz.f32". Blanks may stand between;
 * then the text without them is put together in buf, and t->s points there. Returns false, reported, if `size` is too short. */
bool ptxi_lex_opcode(struct ptxi_lexer *lx, struct ptxi_token *t, char *buf, size_t size);

/* True if the next token is a colon (but not ::): the name just read is a label. */
bool ptxi_lex_at_colon(struct ptxi_lexer *lx);

/* True if the next token is a parenthesis: the number just read is a mask operator. */
bool ptxi_lex_at_paren(struct ptxi_lexer *lx);

static inline struct ptxi_loc ptxi_token_loc(const struct ptxi_token *t)
{
    return (struct ptxi_loc){ t->line, t->col, t->n + (t->kind == PTXI_TOK_WORD) };
}

#endif
