/* Command-line access to the instruction table for scripts.
 *
 * legality rows: Prints all rows in the format read by legality.py.
 *
 * legality spelled: Reads one form per line. Prints the forms that match no row for any target. Exits with status 1 if
 * there are any.
 *
 * legality match: Reads lines "90a 90 add.s32" (target, PTX version * 10, form). Prints the numbers of the rows with
 * matching qualifiers. "!" precedes rows not available for the version or target. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

static void print_rows(void)
{
    for (unsigned i = 0; i < ptxi_row_count; i++) {
        const struct ptxi_row *r = &ptxi_rows[i];

        printf("row %u\t%s\t%s\t%s\n", i, r->mnemonic, r->syntax, r->operands);
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
                printf("\t%d\t%d\t%d", o->ranges[v].first, o->ranges[v].last, o->ranges[v].step);
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

static void match_lines(void)
{
    char line[512], form[400], suffix[8];
    unsigned sm, version;

    while (fgets(line, sizeof line, stdin)) {
        uint16_t quals[PTXI_MAX_SLOTS];
        const struct ptxi_family *family;
        unsigned count, bad;
        char *p = line;

        sm = strtoul(p, &p, 10);
        suffix[0] = 0;
        if (isalpha((unsigned char)*p))
            suffix[0] = *p++;
        if (sscanf(p, "%u %399s", &version, form) != 2)
            exit(2);
        if (split(form, &family, quals, &count)) {
            for (unsigned i = 0; i < family->count; i++) {
                struct ptxi_match m;
                struct ptxi_need need;

                if (!ptxi_isa_match(&ptxi_rows[family->first + i], quals, count, &m, &bad))
                    continue;
                printf(" %s%u",
                       ptxi_isa_unmet_need(&m, version, (struct ptxi_target){ sm, suffix[0] }, &need) ? "!" : "",
                       family->first + i);
            }
        }
        printf("\n");
    }
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
    else if (argc == 2 && !strcmp(argv[1], "match"))
        match_lines();
    else
        return fprintf(stderr, "usage: legality rows|spelled|match\n"), 2;
    return ferror(stdout) || fflush(stdout) || missing ? 1 : 0;
}
