/* Prints the rows as C: op.gen.h and isa.gen.c. */
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

static void print_identifier(const char *s)
{
    for (; *s; s++)
        putchar(*s == ':' ? '_' : *s);
}

/* `end`: the last enumerator, which is the number of names, or NULL. */
static void print_enum(const char *type, const char *prefix, const struct name_list *list, const char *end)
{
    printf("enum %s {\n", type);
    for (int i = 0; i < list->count; i++) {
        printf("    %s_", prefix);
        print_identifier(*list->names[i] ? list->names[i] : "unnamed");
        printf(",\n");
    }
    if (end)
        printf("    %s\n", end);
    printf("};\n\n");
}

void print_header(void)
{
    printf("/* Made by gen.c from insn.def. */\n#ifndef PTXI_ISA_OP_GEN_H\n#define PTXI_ISA_OP_GEN_H\n\n");
    printf("#define PTXI_OPS(X) \\\n");
    for (int i = 1; i < ops.count; i++)
        printf("    X(%s) \\\n", ops.names[i]);
    printf("\n\nenum ptxi_op {\n    PTXI_OP_NONE,\n");
    for (int i = 1; i < ops.count; i++)
        printf("    PTXI_OP_%s,\n", ops.names[i]);
    printf("    PTXI_OP_COUNT\n};\n\n");
    print_enum("ptxi_word", "PTXI_Q", &words, "PTXI_Q_COUNT");
    print_enum("ptxi_mnemonic", "PTXI_M", &mnemonics, NULL);
    printf("/* Names of operands, and of qualifier slots. */\n");
    print_enum("ptxi_operand_resolve_name", "PTXI_OPERAND", &operand_names, NULL);
    print_enum("ptxi_slot_name", "PTXI_SLOT", &slot_names, NULL);
    printf("enum {\n");
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

/* The end of a range of versions, "1.0-6.3/sm_70", and the first target that it applies to. Both are 0 if there is
 * none. */
static void parse_end(const char *s, int *version, int *sm)
{
    const char *end = strchr(s, '-');

    *version = *sm = 0;
    if (!end)
        return;
    *version = parse_version(end + 1);
    if (sscanf(end, "-%*d.%*d/sm_%d", sm) != 1)
        die("PTX range '%s' has no target", s);
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
            printf("    { \"%s\", row%d_words%d, %d, %d, %d },\n", row->slots[s].name, i, s, row->slots[s].id,
                   row->slots[s].count, row->slots[s].optional);
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

/* Number of slots of a row that belong to the name of the instruction. */
static int head_slots(const char *mnemonic, const struct parsed *row)
{
    for (unsigned h = 0; h < sizeof heads / sizeof *heads; h++) {
        int s = 0;

        if (strcmp(heads[h].mnemonic, mnemonic))
            continue;
        while (s < row->slot_count && is_head(heads[h].words, words.names[row->slots[s].words[0]]))
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

        printf("    { \"%s\", %d, %d, %d, %d, %d, %d, %d", o[k].name, o[k].id, o[k].kind, o[k].rule, type, o[k].vector,
               o[k].flags, o[k].selector);
        if (o[k].values)
            printf(", row%d_values%d, %d },\n", i, k, parse_values(o[k].values, false));
        else
            printf(", NULL, 0 },\n");
    }
    if (count)
        printf("};\n");
    return count;
}

/* Prints the arrays of row i. Returns the initializer of its members after `section`, which refers to them. */
static char *print_row_arrays(int i)
{
    const char *pattern = exec_pattern(rows[i].exec);
    char ops_name[32] = "NULL", slots_name[32] = "NULL", specs_name[32] = "NULL", *tail = malloc(512);
    int slots[4] = { 0 }, specs, targets, execs, end, end_sm;
    struct parsed row;

    if (!tail)
        die("out of memory");
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
    parse_end(rows[i].ptx, &end, &end_sm);
    snprintf(tail, 512,
             "%s, %s, row%d_targets, %s, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, { %d, %d, %d, %d }",
             slots_name,
             specs_name, i, ops_name, exec_rule(rows[i].exec), section_chapter(rows[i].section), is_pure(&rows[i]),
             find_name(&mnemonics, rows[i].mnemonic, strlen(rows[i].mnemonic)), parse_version(rows[i].ptx),
             end, end_sm, row.slot_count, head_slots(rows[i].mnemonic, &row), specs, targets, execs, slots[0], slots[1],
             slots[2], slots[3]);
    return tail;
}

static void print_rows(void)
{
    char **tails = calloc(row_count, sizeof *tails);

    if (!tails)
        die("out of memory");
    for (int i = 0; i < row_count; i++) {
        current = &rows[i];
        tails[i] = print_row_arrays(i);
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
        printf(", %s },\n", tails[i]);
    }
    printf("};\nconst unsigned ptxi_row_count = %d, ptxi_dialect_row_count = %d;\n", isa_row_count,
           row_count - isa_row_count);
}

static void print_needs(void)
{
    int counts[need_count];

    for (int i = 0; i < need_count; i++)
        counts[i] = print_targets("need", i, needs[i].target);
    printf("\nconst struct ptxi_need ptxi_needs[] = {\n");
    for (int i = 0; i < need_count; i++) {
        int w = find_name(&words, needs[i].word, strlen(needs[i].word));

        printf("    { need%d_targets, %d, %d, %d },\n", i, w, parse_version(needs[i].ptx), counts[i]);
    }
    printf("};\n");
}

/* The first of a family's needs, and their number. NEEDs of one mnemonic must be adjacent. */
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
            die("NEEDs of '%s' are not adjacent", m);
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

static int compare_words(const void *a, const void *b)
{
    return strcmp(words.names[*(const int *)a], words.names[*(const int *)b]);
}

static void print_words(void)
{
    int sorted[MAX_WORDS];

    printf("\nconst char *const ptxi_words[] = {\n");
    for (int i = 0; i < words.count; i++)
        printf("    \"%s\",\n", words.names[i]);
    printf("};\nconst unsigned ptxi_word_count = %d;\n\nconst uint16_t ptxi_word_mods[] = {\n", words.count);
    for (int i = 0; i < words.count; i++) {
        unsigned bits = 0;

        for (unsigned k = 0; k < sizeof mods / sizeof *mods; k++)
            if (!strcmp(mods[k].word, words.names[i]))
                bits |= mods[k].value << mods[k].shift;
        printf("    %u,\n", bits);
        sorted[i] = i;
    }
    qsort(sorted, words.count, sizeof *sorted, compare_words);
    printf("};\n\nconst uint16_t ptxi_words_sorted[] = {\n");
    for (int i = 0; i < words.count; i++)
        printf("    %d,\n", sorted[i]);
    printf("};\n");
}

static void print_ops(void)
{
    printf("\nconst char *const ptxi_op_names[] = {\n");
    for (int i = 0; i < ops.count; i++)
        printf("    \"%s\",\n", ops.names[i]);
    printf("};\n\nconst uint16_t ptxi_op_flags[] = {\n");
    for (int i = 0; i < ops.count; i++)
        printf("    %u,\n", op_flags(i));
    printf("};\n\nconst uint16_t ptxi_op_mnemonics[] = {\n");
    for (int i = 0; i < ops.count; i++)
        printf("    %d,\n", op_mnemonic(i) < 0 ? 0xffff : op_mnemonic(i));
    printf("};\n");
}

void print_tables(void)
{
    printf("/* Made by gen.c from insn.def. */\n#include \"isa/isa.h\"\n\n"
           "const struct ptxi_type_info ptxi_types[PTXI_TYPE_COUNT] = {\n");
    for (int i = 0; i < PTXI_TYPE_COUNT; i++)
        printf("    { \"%s\", %d, '%c' },\n", ptxi_types[i].name, ptxi_types[i].bits, ptxi_types[i].class);
    printf("};\n\n");
    print_rows();
    print_needs();
    print_families();
    print_words();
    print_ops();
}
