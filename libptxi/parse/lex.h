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
    PTXI_TOK_NAME = 128, /* identifier; a single _ is '_' */
    PTXI_TOK_WORD,       /* .word; s and n are without the dot */
    PTXI_TOK_INT,        /* number and is_unsigned are valid */
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
    const char *s; /* text */
    uint32_t n;    /* its length */
    uint32_t line, col;
    uint8_t kind;  /* enum ptxi_token_kind, or a character */
    bool is_unsigned;
    uint64_t number;
};

struct ptxi_lexer {
    const char *p, *end; /* the text that is left */
    const char *line_start;
    uint32_t line;
    struct ptxi_diag *diags;
};

void ptxi_lex_init(struct ptxi_lexer *lx, const char *text, size_t size, struct ptxi_diag *diags);
void ptxi_lex_next(struct ptxi_lexer *lx, struct ptxi_token *t);

/* Extends the name *t, which begins an instruction, over its qualifiers, as in "add.ftz.f32". If there are blanks
 * between them, the text without the blanks is written to buf, and t->s points there. False, with an error, if buf
 * is too small. */
bool ptxi_lex_opcode(struct ptxi_lexer *lx, struct ptxi_token *t, char *buf, size_t size);

/* True if the next token is a colon but not "::", so that the current name is a label. */
bool ptxi_lex_at_colon(struct ptxi_lexer *lx);

/* True if the next token is an opening parenthesis, so that the current number is a mask operator. */
bool ptxi_lex_at_paren(struct ptxi_lexer *lx);

/* Skips raw text: the rest of the line, which must be blank, and all lines up to one with only the word `end`. False if
 * the text is not of this form. */
bool ptxi_lex_skip_text(struct ptxi_lexer *lx, const char *end);

static inline struct ptxi_loc ptxi_token_loc(const struct ptxi_token *t)
{
    return (struct ptxi_loc){ t->line, t->col, t->n + (t->kind == PTXI_TOK_WORD) };
}

#endif
