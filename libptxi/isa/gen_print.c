/* Prints what the rows say as C. */
#include "isa/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *mnemonic, *words; } heads[] = {
#define HEAD(mnemonic, words) { #mnemonic, words },
#include "isa/head.def"
#undef HEAD
};

static const struct { const char *word; int shift, width, value; } mods[] = {
#define MOD(word, shift, width, value) { #word, shift, width, value },
#include "isa/mods.def"
#undef MOD
};

void print_header(void)
{
    printf("/* Made by gen.c from insn.def. */\n#ifndef PTXI_ISA_OP_GEN_H\n#define PTXI_ISA_OP_GEN_H\n\n#define PTXI_OPS(X) \\\n");
    for (int i = 1; i < op_count; i++)
        printf("    X(%s) \\\n", ops[i]);
    printf("\n\nenum ptxi_op {\n    PTXI_OP_NONE,\n");
    for (int i = 1; i < op_count; i++)
        printf("    PTXI_OP_%s,\n", ops[i]);
    printf("    PTXI_OP_COUNT\n};\n\nenum ptxi_word {\n");
    for (int i = 0; i < word_count; i++) {
        printf("    PTXI_Q_");
        for (const char *c = words[i]; *c; c++)
            putchar(*c == ':' ? '_' : *c);
        printf(",\n");
    }
    printf("    PTXI_Q_COUNT\n};\n\nenum ptxi_mnemonic {\n");
    for (int i = 0; i < mnemonic_count; i++)
        printf("    PTXI_M_%s,\n", mnemonics[i]);
    printf("};\n\nenum {\n");
    for (const struct group *g = groups; g->name; g++) {
        int n = 0;

        while (g->words[n])
            n++;
        printf("    PTXI_%s_WORDS = %d,\n", g->name, n);
    }
    printf("};\n\n#endif\n");
}

static void print_string(const char *s)
{
    putchar('"');
    for (; *s; s++)
        printf(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    putchar('"');
}

static int parse_version(const char *s)
{
    int major, minor;

    if (sscanf(s, "%d.%d", &major, &minor) != 2)
        die("bad PTX version '%s'", s);
    return major * 10 + minor;
}

static int print_targets(const char *what, int n, const char *s)
{
    int count = 0;

    printf("static const struct ptxi_target %s%d_targets[] = {", what, n);
    for (const char *p = s; *p;) {
        char *e;
        long sm;

        if (strncmp(p, "sm_", 3))
            die("bad target '%s'", p);
        sm = strtol(p + 3, &e, 10);
        printf(" { %ld, ", sm);
        printf(*e == 'a' || *e == 'f' ? "'%c' }," : "0 },", *e);
        p = e + (*e == 'a' || *e == 'f');
        count++;
        if (*p == '|')
            p++;
    }
    printf(" };\n");
    return count;
}

static void print_row_parts(int i, const struct parsed *row)
{
    const char *pattern = exec_pattern(rows[i].exec);

    for (int s = 0; s < row->slot_count; s++) {
        printf("static const uint16_t row%d_words%d[] = {", i, s);
        for (int w = 0; w < row->slots[s].count; w++)
            printf(" %d,", row->slots[s].words[w]);
        printf(" };\n");
    }
    if (row->slot_count) {
        printf("static const struct ptxi_slot row%d_slots[] = {\n", i);
        for (int s = 0; s < row->slot_count; s++)
            printf("    { \"%s\", row%d_words%d, %d, %d },\n", row->slots[s].name, i, s, row->slots[s].count, row->slots[s].optional);
        printf("};\n");
    }
    if (pattern) {
        printf("static const uint16_t row%d_ops[] = {", i);
        expand_all(row, pattern, stdout);
        printf(" };\n");
    }
}

static bool is_head(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; p; p = strchr(p, '|'), p += p != NULL)
        if (!strncmp(p, word, n) && (!p[n] || p[n] == '|'))
            return true;
    return false;
}

/* How many slots of a row belong to the name of the instruction. */
static int head_slots(const char *mnemonic, const struct parsed *row)
{
    for (unsigned h = 0; h < sizeof heads / sizeof *heads; h++) {
        int s = 0;

        if (strcmp(heads[h].mnemonic, mnemonic))
            continue;
        while (s < row->slot_count && is_head(heads[h].words, words[row->slots[s].words[0]]))
            s++;
        return s;
    }
    return 0;
}

static int print_specs(int i, const struct parsed *row)
{
    struct operand o[PTXI_MAX_OPERANDS];
    int count = parse_operands(row, rows[i].operands, o);

    for (int k = 0; k < count; k++) {
        if (!o[k].values)
            continue;
        printf("static const struct ptxi_range row%d_values%d[] = {", i, k);
        parse_values(o[k].values, true);
        printf(" };\n");
    }
    if (count)
        printf("static const struct ptxi_opspec row%d_specs[] = {\n", i);
    for (int k = 0; k < count; k++) {
        int type = o[k].type == PTXI_TYPE_COUNT ? 0xff : o[k].type;

        printf("    { \"%s\", %d, %d, %d, %d, %d, %d", o[k].name, o[k].kind, o[k].rule, type, o[k].vector, o[k].flags, o[k].selector);
        if (o[k].values)
            printf(", row%d_values%d, %d },\n", i, k, parse_values(o[k].values, false));
        else
            printf(", NULL, 0 },\n");
    }
    if (count)
        printf("};\n");
    return count;
}

static void print_rows(void)
{
    char (*tail)[512] = calloc(row_count, sizeof *tail);

    if (!tail)
        die("out of memory");
    for (int i = 0; i < row_count; i++) {
        struct parsed row;
        const char *pattern = exec_pattern(rows[i].exec), *end = strchr(rows[i].ptx, '-');
        int slots[4], specs, targets, execs;
        char ops_name[32] = "NULL", slots_name[32] = "NULL", specs_name[32] = "NULL", lower[64] = "NULL";

        current = &rows[i];
        parse_slots(&row, rows[i].syntax);
        print_row_parts(i, &row);
        specs = print_specs(i, &row);
        targets = print_targets("row", i, rows[i].target);
        execs = pattern ? exec_slots(&row, pattern, slots) : 0;
        if (pattern)
            snprintf(ops_name, sizeof ops_name, "row%d_ops", i);
        if (row.slot_count)
            snprintf(slots_name, sizeof slots_name, "row%d_slots", i);
        if (specs)
            snprintf(specs_name, sizeof specs_name, "row%d_specs", i);
        if (*rows[i].exec == '@')
            snprintf(lower, sizeof lower, "\"%.*s\"", (int)strcspn(rows[i].exec + 1, " "), rows[i].exec + 1);
        snprintf(tail[i], sizeof tail[i], "%s, %s, row%d_targets, %s, %s, %d, %d, %d, %d, %d, %d, %d, %d, { %d, %d, %d, %d }", slots_name, specs_name, i,
                 ops_name, lower, mnemonic_id(rows[i].mnemonic), parse_version(rows[i].ptx), end ? parse_version(end + 1) : 0, row.slot_count, head_slots(rows[i].mnemonic, &row),
                 specs, targets, execs,
                 execs > 0 ? slots[0] : 0, execs > 1 ? slots[1] : 0, execs > 2 ? slots[2] : 0, execs > 3 ? slots[3] : 0);
    }
    current = NULL;
    printf("\nconst struct ptxi_row ptxi_rows[] = {\n");
    for (int i = 0; i < row_count; i++) {
        printf("    { \"%s\", ", rows[i].mnemonic);
        print_string(rows[i].syntax);
        printf(", ");
        print_string(rows[i].operands);
        printf(", ");
        print_string(rows[i].section);
        printf(", %s },\n", tail[i]);
    }
    printf("};\nconst unsigned ptxi_row_count = %d, ptxi_dialect_row_count = %d;\n", isa_row_count, row_count - isa_row_count);
}

static void print_needs(void)
{
    int counts[need_count];

    for (int i = 0; i < need_count; i++)
        counts[i] = print_targets("need", i, needs[i].target);
    printf("\nconst struct ptxi_need ptxi_needs[] = {\n");
    for (int i = 0; i < need_count; i++) {
        int w = find(words, word_count, needs[i].word, strlen(needs[i].word));

        printf("    { need%d_targets, %d, %d, %d },\n", i, w, parse_version(needs[i].ptx), counts[i]);
    }
    printf("};\n");
}

/* The first of a family's needs and their number; NEEDs of one mnemonic must stand together. */
static int family_needs(const char *m, int *count)
{
    int first = 0;

    *count = 0;
    for (int i = 0; i < need_count; i++) {
        if (strcmp(needs[i].mnemonic, m))
            continue;
        if (!(*count)++)
            first = i;
        else if (first + *count - 1 != i)
            die("NEEDs of '%s' do not stand together", m);
    }
    return first;
}

static void print_families(void)
{
    int count = 0;

    printf("\nconst struct ptxi_family ptxi_families[] = {\n");
    for (int i = 0, n; i < isa_row_count; i += n, count++) {
        const char *m = rows[i].mnemonic;
        int first, need_total;

        for (n = 1; i + n < isa_row_count && !strcmp(rows[i + n].mnemonic, m); n++)
            ;
        first = family_needs(m, &need_total);
        printf("    { \"%s\", %d, %d, %d, %d },\n", m, i, n, first, need_total);
    }
    printf("};\nconst unsigned ptxi_family_count = %d;\n", count);
}

static int by_word(const void *a, const void *b)
{
    return strcmp(words[*(const int *)a], words[*(const int *)b]);
}

static void print_words(void)
{
    int sorted[MAX_WORDS];

    printf("\nconst char *const ptxi_words[] = {\n");
    for (int i = 0; i < word_count; i++)
        printf("    \"%s\",\n", words[i]);
    printf("};\nconst unsigned ptxi_word_count = %d;\n\nconst uint16_t ptxi_word_mods[] = {\n", word_count);
    for (int i = 0; i < word_count; i++) {
        unsigned bits = 0;

        for (unsigned k = 0; k < sizeof mods / sizeof *mods; k++)
            if (!strcmp(mods[k].word, words[i]))
                bits |= mods[k].value << mods[k].shift;
        printf("    %u,\n", bits);
        sorted[i] = i;
    }
    qsort(sorted, word_count, sizeof *sorted, by_word);
    printf("};\n\nconst uint16_t ptxi_words_sorted[] = {\n");
    for (int i = 0; i < word_count; i++)
        printf("    %d,\n", sorted[i]);
    printf("};\n");
}

void print_tables(void)
{
    printf("/* Made by gen.c from insn.def. */\n#include \"isa/isa.h\"\n\nconst struct ptxi_type_info ptxi_types[PTXI_TYPE_COUNT] = {\n");
    for (int i = 0; i < PTXI_TYPE_COUNT; i++)
        printf("    { \"%s\", %d, '%c' },\n", ptxi_types[i].name, ptxi_types[i].bits, ptxi_types[i].class);
    printf("};\n\n");
    print_rows();
    print_needs();
    print_families();
    print_words();
    printf("\nconst char *const ptxi_op_names[] = {\n    \"none\",\n");
    for (int i = 1; i < op_count; i++)
        printf("    \"%s\",\n", ops[i]);
    printf("};\n");
}
