/* Declarations of the table generator. Only its files include this header. */
#ifndef PTXI_ISA_GEN_H
#define PTXI_ISA_GEN_H

#include "isa/isa.h"

#include <stdio.h>

enum { MAX_WORDS = 2048, MAX_SLOT_WORDS = 64 };

/* A ROW as the .def files have it. */
struct row_source {
    const char *mnemonic, *syntax, *operands, *ptx, *target, *exec, *section;
    const char *file;
    int line, order;
};
extern struct row_source rows[]; /* sorted by mnemonic; rows of dialects follow all others */
extern const int row_count, isa_row_count;

/* A NEED as the .def files have it. */
struct need_source {
    const char *mnemonic, *word, *ptx, *target;
};
extern const struct need_source needs[];
extern const int need_count;

/* Words that isa.c recognizes by their numbers, up to a NULL. */
struct group {
    const char *name, *words[10];
};
extern const struct group groups[];

/* Names that are numbered in the order in which they are found. */
struct name_list {
    const char *what; /* for messages */
    int max, count;
    char **names;
};
extern struct name_list words, ops, mnemonics, operand_names, slot_names;

int find_name(const struct name_list *list, const char *s, size_t n); /* -1: not found */
int add_name(struct name_list *list, const char *s, size_t n);        /* its number; a new one if necessary */

unsigned op_flags(int op); /* PTXI_OP_FLAG_... */
int op_mnemonic(int op);   /* number of the mnemonic of the first row that names the operation, or -1 */
void set_op_mnemonic(int op, int mnemonic);
void add_internal_ops(void); /* those of internal.def, after the operations of rows */

extern const struct row_source *current; /* the row that a message is about, or NULL */
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* ---- gen_row.c: the columns of a row */

struct slot {
    char name[32];
    int id; /* in slot_names */
    int words[MAX_SLOT_WORDS], count;
    bool optional;
};

struct parsed {
    struct slot slots[PTXI_MAX_SLOTS];
    int slot_count;
};

struct operand {
    char name[16];
    int id; /* in operand_names */
    int kind, rule, type, vector, flags, selector;
    const char *values; /* "(1|4-7)" at the end, or NULL */
};

void parse_slots(struct parsed *row, const char *syntax);
/* Returns the number of operands. */
int parse_operands(const struct parsed *row, const char *p, struct operand *o);
/* "(1|24-256/8)": the values that a constant may have. Returns the number of ranges, and prints them if `print`. */
int parse_values(const char *p, bool print);
/* The pattern of the operation in an exec column "@rule pattern", or NULL. */
const char *exec_pattern(const char *exec);
/* The lowering rule that an exec column names. */
enum ptxi_lower_rule_id exec_rule(const char *exec);
/* The chapter to which a section belongs. */
enum ptxi_chapter section_chapter(const char *section);
bool is_pure(const struct row_source *row);
/* The slots on which an operation's name depends. Returns their number. */
int exec_slots(const struct parsed *row, const char *pattern, int out[4]);
/* Numbers the operation of every combination of words, and prints the numbers to `out` unless it is NULL. */
void expand_all(const struct parsed *row, const char *pattern, FILE *out);

/* ---- gen_print.c */

void print_header(void);
void print_tables(void);

#endif
