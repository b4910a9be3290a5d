/* Command-line access to the instruction table for scripts.
 *
 * legality rows: Prints all rows in the format read by table.py.
 *
 * legality spelled: Reads one form per line. Prints the forms that match no row for any target. Exits with status 1 if
 * there are any. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

static void print_rows(void)
{
    for (unsigned i = 0; i < ptxi_row_count; i++) {
        const struct ptxi_row *r = &ptxi_rows[i];

        printf("row %u\t%s\t%s\t%s\t%u", i, r->mnemonic, r->syntax, r->operands, r->ptx);
        for (unsigned t = 0; t < r->target_count; t++)
            printf("%c%u%.1s", t ? ' ' : '\t', r->targets[t].sm, &r->targets[t].suffix);
        printf("\n");
        for (unsigned s = 0; s < r->slot_count; s++) {
            printf("slot\t%s\t%d\t", r->slots[s].name, r->slots[s].optional);
            for (unsigned w = 0; w < r->slots[s].word_count; w++)
                printf(" %s", ptxi_words[r->slots[s].words[w]]);
            printf("\n");
        }
        for (unsigned s = 0; s < r->spec_count; s++) {
            const struct ptxi_opspec *o = &r->specs[s];

            printf("spec\t%s\t%d\t%d\t%d\t%d\t%d", o->name, o->kind, o->type_rule, o->type, o->vector, o->flags);
            for (unsigned v = 0; v < o->range_count; v++)
                printf("\t%lld\t%lld\t%lld", (long long)o->ranges[v].first, (long long)o->ranges[v].last,
                       (long long)o->ranges[v].step);
            printf("\n");
        }
    }
    for (unsigned t = 0; t < PTXI_TYPE_COUNT; t++)
        printf("type\t%s\t%d\t%c\n", ptxi_types[t].name, ptxi_types[t].bits, ptxi_types[t].class);
}

/* Splits "add.cc.s32" into mnemonic and qualifier ids. Returns false if a word is unknown. */
static bool split(char *form, const struct ptxi_family **family, uint16_t *quals, unsigned *count)
{
    char *dot = strchr(form, '.');

    *count = 0;
    *family = ptxi_isa_family(form, dot ? (size_t)(dot - form) : strlen(form));
    while (dot) {
        char *word = dot + 1, *end = strchr(word, '.');

        if (*count == PTXI_MAX_SLOTS)
            return false;
        quals[*count] = ptxi_isa_word(word, end ? (size_t)(end - word) : strlen(word));
        if (quals[(*count)++] == PTXI_NO_WORD)
            return false;
        dot = end;
    }
    return *family != NULL;
}

/* Returns the number of forms without a matching row. */
static unsigned check_spellings(void)
{
    char line[512];
    unsigned forms = 0, missing = 0;

    while (fgets(line, sizeof line, stdin)) {
        uint16_t quals[PTXI_MAX_SLOTS];
        const struct ptxi_family *family;
        unsigned count, bad, i = 0;
        char copy[512];

        line[strcspn(line, "\n")] = 0;
        if (*line == '#')
            continue;
        forms++;
        strcpy(copy, line);
        if (split(copy, &family, quals, &count)) {
            struct ptxi_match m;

            while (i < family->count && !ptxi_isa_match(&ptxi_rows[family->first + i], quals, count, &m, &bad))
                i++;
            if (i < family->count)
                continue;
        }
        missing++;
        printf("%s\n", line);
    }
    fprintf(stderr, "%u forms, %u without a row\n", forms, missing);
    return forms == 0 || missing;
}

int main(int argc, char **argv)
{
    unsigned missing = 0;

    if (argc == 2 && !strcmp(argv[1], "rows"))
        print_rows();
    else if (argc == 2 && !strcmp(argv[1], "spelled"))
        missing = check_spellings();
    else
        return fprintf(stderr, "usage: legality rows|spelled\n"), 2;
    return ferror(stdout) || fflush(stdout) || missing ? 1 : 0;
}
