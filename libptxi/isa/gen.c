/* Expands insn.def into op.gen.h (the operations) and isa.gen.c (the tables of isa.h). Runs on the build machine.
 *
 *   gen header > op.gen.h
 *   gen tables > isa.gen.c */
#include "isa/gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sorted by mnemonic before use, so that a family's rows may come from several files; those of dialects stay behind. */
struct row_source rows[] = {
#define SET(name, words)
#define ROW(mnemonic, syntax, operands, ptx, target, exec, section) { #mnemonic, syntax, operands, ptx, target, exec, section, __FILE__, __LINE__, 0 },
#define NEED(...)
#define IOP(name)
#include "isa/insn.def"
#include "isa/dialect.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

enum { DIALECT_COUNT = 0
#define ROW(...) + 1
#include "isa/dialect.def"
#undef ROW
};

const struct need_source needs[] = {
#define SET(name, words)
#define ROW(...)
#define NEED(mnemonic, word, ptx, target) { #mnemonic, #word, ptx, target },
#define IOP(name)
#include "isa/insn.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

const int row_count = sizeof rows / sizeof *rows, isa_row_count = sizeof rows / sizeof *rows - DIALECT_COUNT;
const int need_count = sizeof needs / sizeof *needs;

static const char *const internal_ops[] = {
#define SET(name, words)
#define ROW(...)
#define NEED(...)
#define IOP(name) #name,
#include "isa/insn.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

/* Words whose order matters, or which may be repeated. Their numbers follow the types'. */
const struct group groups[] = {
    /* State spaces, and layouts of matrices: like types, they keep their order where an instruction has several (destination, then
     * source; A, then B). */
    { "SPACE", { "const", "global", "local", "param", "param::entry", "param::func", "shared", "shared::cta", "shared::cluster" } },
    { "LAYOUT", { "row", "col" } },
    /* An operation on bits and how its outcome is used; a container and what is in it. */
    { "FORMAT", { "and", "xor", "popc", "b8x16", "b6x16_p32", "b4x16_p64" } },
    /* What may stand there twice and means no more for it. */
    { "REPEATABLE", { "approx", "cc", "NaN", "relu", "sat", "satfinite", "shiftamt", "sync", "uni" } },
    { NULL, { NULL } }
};

const struct ptxi_type_info ptxi_types[PTXI_TYPE_COUNT] = {
#define TYPE(id, bits, class) { #id, bits, #class[0] },
#include "isa/type.def"
#undef TYPE
};

enum { MAX_OPS = 8192, MAX_MNEMONICS = 512 };

char *words[MAX_WORDS], *ops[MAX_OPS], *mnemonics[MAX_MNEMONICS];
int word_count, op_count = 1 /* 0 is PTXI_OP_NONE */, mnemonic_count;
const struct row_source *current;

void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (current)
        fprintf(stderr, "%s:%d: %s%s", current->file, current->line, current->mnemonic, current->syntax);
    else
        fprintf(stderr, "insn.def");
    fprintf(stderr, ": ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    exit(1);
}

static char *copy(const char *s, size_t n)
{
    char *p = malloc(n + 1);

    if (!p)
        die("out of memory");
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}

int find(char **list, int count, const char *s, size_t n)
{
    for (int i = 0; i < count; i++)
        if (strlen(list[i]) == n && !memcmp(list[i], s, n))
            return i;
    return -1;
}

int word_id(const char *s, size_t n)
{
    int i = find(words, word_count, s, n);

    if (i >= 0)
        return i;
    if (word_count == MAX_WORDS)
        die("too many qualifiers");
    words[word_count] = copy(s, n);
    return word_count++;
}

int op_id(const char *s)
{
    int i = find(ops + 1, op_count - 1, s, strlen(s));

    if (i >= 0)
        return i + 1;
    if (op_count == MAX_OPS)
        die("too many operations");
    ops[op_count] = copy(s, strlen(s));
    return op_count++;
}

int mnemonic_id(const char *s)
{
    int i = find(mnemonics, mnemonic_count, s, strlen(s));

    if (i >= 0)
        return i;
    if (mnemonic_count == MAX_MNEMONICS)
        die("too many mnemonics");
    mnemonics[mnemonic_count] = copy(s, strlen(s));
    return mnemonic_count++;
}

/* By mnemonic, then as written. */
static int by_mnemonic(const void *a, const void *b)
{
    const struct row_source *x = a, *y = b;
    int c = strcmp(x->mnemonic, y->mnemonic);

    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void sort_rows(void)
{
    for (int i = 0; i < row_count; i++)
        rows[i].order = i;
    qsort(rows, isa_row_count, sizeof *rows, by_mnemonic);
}

/* Gives every word, operation and mnemonic its number, so that header and tables agree. */
static void number(void)
{
    for (int t = 0; t < PTXI_TYPE_COUNT; t++)
        word_id(ptxi_types[t].name, strlen(ptxi_types[t].name));
    for (const struct group *g = groups; g->name; g++)
        for (const char *const *w = g->words; *w; w++)
            word_id(*w, strlen(*w));
    for (int i = 0; i < row_count; i++) {
        struct parsed row;
        const char *pattern = exec_pattern(rows[i].exec);

        current = &rows[i];
        mnemonic_id(rows[i].mnemonic);
        parse_slots(&row, rows[i].syntax);
        if (pattern)
            expand_all(&row, pattern, NULL);
    }
    current = NULL;
    for (unsigned i = 0; i < sizeof internal_ops / sizeof *internal_ops; i++)
        op_id(internal_ops[i]);
}

int main(int argc, char **argv)
{
    sort_rows();
    number();
    for (int i = 0; i < need_count; i++)
        if (find(words, word_count, needs[i].word, strlen(needs[i].word)) < 0)
            die("NEED names '%s', which no row has", needs[i].word);
    if (argc == 2 && !strcmp(argv[1], "header"))
        print_header();
    else if (argc == 2 && !strcmp(argv[1], "tables"))
        print_tables();
    else
        die("usage: gen header|tables");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
