/* What the files of the generator share. Only it includes this. */
#ifndef PTXI_ISA_GEN_H
#define PTXI_ISA_GEN_H

#include "isa/isa.h"

#include <stdio.h>

enum { MAX_WORDS = 2048, MAX_SLOT_WORDS = 64 };

struct row_source {
    const char *mnemonic, *syntax, *operands, *ptx, *target, *exec, *section;
    const char *file;
    int line, order;
};
extern struct row_source rows[]; /* those of dialects last */
extern const int row_count, isa_row_count;

struct need_source {
    const char *mnemonic, *word, *ptx, *target;
};
extern const struct need_source needs[];
extern const int need_count;

/* Words that isa.c tells by their numbers, up to a NULL. */
struct group {
    const char *name, *words[10];
};
extern const struct group groups[];

/* Qualifiers, operations and mnemonics, by number. */
extern char *words[], *ops[], *mnemonics[];
extern int word_count, op_count, mnemonic_count;

int find(char **list, int count, const char *s, size_t n); /* -1: not there */
int word_id(const char *s, size_t n);                      /* given out when new */
int op_id(const char *s);
int mnemonic_id(const char *s);

extern const struct row_source *current; /* the row that a message is about, or NULL */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- gen_row.c: the columns of a row */

struct slot {
    char name[32];
    int words[MAX_SLOT_WORDS], count;
    bool optional;
};

struct parsed {
    struct slot slots[PTXI_MAX_SLOTS];
    int slot_count;
};

struct operand {
    char name[16];
    int kind, rule, type, vector, flags, selector;
    const char *values; /* "(1|4-7)" at the end, or NULL */
};

void parse_slots(struct parsed *row, const char *syntax);
int parse_operands(const struct parsed *row, const char *p, struct operand *o); /* their number */
/* "(1|24-256/8)": the values that a constant may have. Returns their number, printing them when asked to. */
int parse_values(const char *p, bool print);
/* Pattern of the operation in an exec column "@rule pattern", or NULL. */
const char *exec_pattern(const char *exec);
/* Which slots an operation's name depends on. */
int exec_slots(const struct parsed *row, const char *pattern, int out[4]);
/* Prints (when out) the operation of every combination; always registers the names. */
void expand_all(const struct parsed *row, const char *pattern, FILE *out);

/* ---- gen_print.c */

void print_header(void);
void print_tables(void);

#endif
