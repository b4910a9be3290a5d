/* The table generator: `gen header` prints op.gen.h, `gen tables` prints isa.gen.c. It runs on the build
 * machine. */
#include "isa/gen.h"

#include <stdlib.h>
#include <string.h>

/* Orders by mnemonic, then as written. */
static int compare_rows(const void *a, const void *b)
{
    const struct row_source *x = a, *y = b;
    int c = strcmp(x->mnemonic, y->mnemonic);

    return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* A family's rows may come from several files. Rows of dialects stay after all others. */
static void sort_rows(void)
{
    for (int i = 0; i < row_count; i++)
        rows[i].order = i;
    qsort(rows, isa_row_count, sizeof *rows, compare_rows);
}

/* Numbers every word, operation, mnemonic and name, so that header and tables agree. */
static void number_names(void)
{
    struct operand o[PTXI_MAX_OPERANDS];

    add_name(&ops, "none", 4); /* PTXI_OP_NONE */
    for (int t = 0; t < PTXI_TYPE_COUNT; t++)
        add_name(&words, ptxi_types[t].name, strlen(ptxi_types[t].name));
    for (const struct group *g = groups; g->name; g++)
        for (const char *const *w = g->words; *w; w++)
            add_name(&words, *w, strlen(*w));
    for (int i = 0; i < row_count; i++) {
        struct parsed row;
        const char *pattern = exec_pattern(rows[i].exec);
        int first_op = ops.count, mnemonic;

        current = &rows[i];
        mnemonic = add_name(&mnemonics, rows[i].mnemonic, strlen(rows[i].mnemonic));
        parse_slots(&row, rows[i].syntax);
        parse_operands(&row, rows[i].operands, o);
        exec_rule(rows[i].exec);
        section_chapter(rows[i].section);
        if (pattern)
            expand_all(&row, pattern, NULL);
        for (int k = first_op; k < ops.count; k++)
            set_op_mnemonic(k, mnemonic);
    }
    current = NULL;
    add_internal_ops();
}

static void check_needs(void)
{
    for (int i = 0; i < need_count; i++)
        if (find_name(&words, needs[i].word, strlen(needs[i].word)) < 0)
            die("NEED names '%s', which no row has", needs[i].word);
}

int main(int argc, char **argv)
{
    sort_rows();
    number_names();
    check_needs();
    if (argc == 2 && !strcmp(argv[1], "header"))
        print_header();
    else if (argc == 2 && !strcmp(argv[1], "tables"))
        print_tables();
    else
        die("usage: gen header|tables");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
