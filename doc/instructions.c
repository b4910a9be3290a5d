/* Prints doc/reference/instructions.md, or the counts of instructions in README.md.
 *
 *     instructions page|counts CASES MATRICES
 *
 * A form is one choice of qualifiers in one row of the table. Cache hints (.L1::, .L2::) are not counted, because they
 * do not change results. A form is recorded if a recording has a conformance case of it: MATRICES for matrix
 * multiplications, CASES for other instructions. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "compile/compile.h"
#include "conformance/cases.h"
#include "conformance/matrix.h"
#include "conformance/recording.h"
#include "parse/ast.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct counts {
    unsigned rows, executed_rows;
    size_t forms, executed, recorded;
};

static unsigned char **recorded; /* for each row, one byte per form */
static const struct ptxi_row **sorted;

static bool is_hint(const struct ptxi_slot *s)
{
    for (unsigned w = 0; w < s->word_count; w++)
        if (strncmp(ptxi_words[s->words[w]], "L1::", 4) && strncmp(ptxi_words[s->words[w]], "L2::", 4))
            return false;
    return s->optional;
}

static size_t form_count(const struct ptxi_row *r)
{
    size_t n = 1;

    for (unsigned s = 0; s < r->slot_count; s++)
        if (!is_hint(&r->slots[s]))
            n *= (size_t)r->slots[s].word_count + r->slots[s].optional;
    return n;
}

static size_t form_index(const struct ptxi_match *m)
{
    size_t index = 0;

    for (unsigned s = 0; s < m->row->slot_count; s++) {
        const struct ptxi_slot *slot = &m->row->slots[s];
        unsigned w = 0;

        if (is_hint(slot))
            continue;
        while (w < slot->word_count && slot->words[w] != m->words[s])
            w++;
        index = index * ((size_t)slot->word_count + slot->optional) + w;
    }
    return index;
}

static size_t recorded_count(const struct ptxi_row *r)
{
    const unsigned char *seen = recorded[r - ptxi_rows];
    size_t n = 0;

    for (size_t i = 0; i < form_count(r); i++)
        n += seen[i];
    return n;
}

static void add(struct counts *c, const struct ptxi_row *r)
{
    size_t n = form_count(r);

    c->rows++;
    c->forms += n;
    c->executed_rows += ptxi_compile_executes(r);
    c->executed += ptxi_compile_executes(r) ? n : 0;
    c->recorded += recorded_count(r);
}

_Noreturn static void die(const char *why, const char *what)
{
    fprintf(stderr, "instructions: %s: %s\n", what, why);
    exit(1);
}

/* ---- recorded forms */

/* The kernels of matrix instructions are handwritten. The parser determines the form of each instruction. */
static bool of_matrices(const struct ptxi_row *r)
{
    return !strncmp(r->section, "Warp Level Matrix", 17) || !strncmp(r->section, "Asynchronous Warpgroup", 22);
}

static void mark_kernels(const char *text)
{
    struct ptxi_arena arena;
    struct ptxi_diag diags;
    struct ptxi_parse_options options = { .file = "cases" };
    struct ptxi_module_ast *m;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    m = ptxi_parse(text, strlen(text), &options, &arena, &diags);
    if (!m)
        die("do not load", "kernels of matrices");
    for (uint32_t f = 0; f < m->func_count; f++)
        for (uint32_t i = 0; i < m->funcs[f]->inst_count; i++) {
            const struct ptxi_match *match = m->funcs[f]->insts[i].match;

            if (of_matrices(match->row))
                recorded[match->row - ptxi_rows][form_index(match)] = 1;
        }
    ptxi_arena_free(&arena);
}

static void mark_products(const char *path)
{
    struct recording *r = recording_read(path);
    struct matrix_forms *forms = matrix_make();
    size_t n = 0, size;
    char *text;
    FILE *out = open_memstream(&text, &size);

    for (size_t i = 0; i < forms->count; i++)
        if (recording_find(r, forms->v[i].key, MATRIX_DIGESTS + (size_t)MATRIX_FULL * matrix_words(&forms->v[i])))
            forms->v[n++] = forms->v[i];
        else
            free(forms->v[i].name);
    forms->count = n;
    matrix_print_module(out, forms->v, n);
    fclose(out);
    mark_kernels(text);
    free(text);
    matrix_free(forms);
    recording_free(r);
}

static void mark_recording(const char *path)
{
    struct recording *r = recording_read(path);
    struct cases *cs = cases_make();
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    case_print_head(out);

    for (size_t i = 0; i < cs->count; i++) {
        const struct conformance_case *c = &cs->v[i];
        struct ptxi_match m = { .row = c->row };

        memcpy(m.words, c->words, sizeof m.words);
        if (!recording_find(r, c->key, case_record_words(c)))
            continue;
        if (c->row)
            recorded[c->row - ptxi_rows][form_index(&m)] = 1;
        else if (!c->again)
            case_print_kernel(out, c);
    }
    fclose(out);
    mark_kernels(text);
    free(text);
    cases_free(cs);
    recording_free(r);
}

/* ---- order */

/* "Chapter: section" */
static size_t chapter(const struct ptxi_row *r)
{
    return strcspn(r->section, ":");
}

static int by_section(const void *a, const void *b)
{
    const struct ptxi_row *x = *(const struct ptxi_row *const *)a, *y = *(const struct ptxi_row *const *)b;
    int c = strcmp(x->section, y->section);

    return c ? c : (x > y) - (x < y);
}

static bool same_chapter(unsigned i, unsigned k)
{
    size_t n = chapter(sorted[i]);

    return n == chapter(sorted[k]) && !memcmp(sorted[i]->section, sorted[k]->section, n);
}

static void prepare(void)
{
    sorted = calloc(ptxi_row_count, sizeof *sorted);
    recorded = calloc(ptxi_row_count, sizeof *recorded);
    for (unsigned i = 0; i < ptxi_row_count; i++) {
        sorted[i] = &ptxi_rows[i];
        recorded[i] = calloc(form_count(&ptxi_rows[i]), 1);
        if (!recorded[i])
            die("out of memory", "rows");
    }
    qsort(sorted, ptxi_row_count, sizeof *sorted, by_section);
}

/* ---- counts */

static void print_counts_line(const char *name, int length, const struct counts *c)
{
    printf("| %.*s | %u | %u | %zu | %zu | %zu |\n", length, name, c->rows, c->executed_rows, c->forms,
           c->executed, c->recorded);
}

static void print_counts(void)
{
    struct counts all = { 0 };

    puts("| PTX ISA chapter | syntaxes | executed | forms | executed | recorded |\n|---|--:|--:|--:|--:|--:|");
    for (unsigned i = 0, n; i < ptxi_row_count; i += n) {
        struct counts c = { 0 };

        for (n = 0; i + n < ptxi_row_count && same_chapter(i, i + n); n++) {
            add(&c, sorted[i + n]);
            add(&all, sorted[i + n]);
        }
        print_counts_line(sorted[i]->section, (int)chapter(sorted[i]), &c);
    }
    print_counts_line("all", 3, &all);
}

/* ---- the page */

static void print_target(const struct ptxi_target *t)
{
    printf("sm_%u", t->sm);
    if (t->suffix)
        putchar(t->suffix);
}

enum { SHORT = 6 }; /* most alternatives in a cell; a longer list is below the table, under the slot's name */

static void print_slot(const struct ptxi_slot *s)
{
    printf("%s.", s->optional ? "{" : "");
    if (s->word_count == 1) {
        fputs(ptxi_words[s->words[0]], stdout);
    } else if (s->word_count > SHORT) {
        printf("<%s>", s->name);
    } else {
        printf("%s%s", s->name, *s->name ? ":" : "");
        for (unsigned w = 0; w < s->word_count; w++)
            printf("%s%s", w ? "\\|" : "(", ptxi_words[s->words[w]]);
        putchar(')');
    }
    if (s->optional)
        putchar('}');
}

/* The operand's type, or the qualifier slot that determines it. */
static void print_type(const struct ptxi_row *r, const struct ptxi_opspec *o)
{
    const struct ptxi_slot *s = &r->slots[o->type];
    struct ptxi_match m;
    enum ptxi_type t;

    memset(&m, 0xff, sizeof m);
    m.row = r;
    if (o->type_rule != PTXI_TR_FIXED && s->word_count == 1 && !s->optional)
        m.words[o->type] = s->words[0];
    t = ptxi_isa_operand_type(&m, o);
    if (t != PTXI_T_NONE)
        printf(":%s", ptxi_types[t].name);
    else if (o->type_rule != PTXI_TR_FIXED)
        printf(":%s%s", o->type_rule == PTXI_TR_DOUBLE ? "2" : o->type_rule == PTXI_TR_BITS ? "b" : "", s->name);
}

static void print_operand(const struct ptxi_row *r, const struct ptxi_opspec *o)
{
    bool vector = o->vector || (o->flags & PTXI_OPF_VECTOR_OK);

    if (o->kind == PTXI_OPK_ADDRESS)
        putchar('[');
    if (o->kind == PTXI_OPK_SINK) {
        putchar('_');
        return;
    }
    printf("%s%s%s", o->flags & PTXI_OPF_NOT ? "{!}" : "", o->flags & PTXI_OPF_NEGATE ? "{-}" : "", o->name);
    print_type(r, o);
    if (vector)
        fputs("[]", stdout);
}

/* Operands. Braces enclose optional parts. Coordinates are inside the brackets of the address before them. */
static void print_operands(const struct ptxi_row *r)
{
    unsigned open = 0;
    bool inside = false;

    for (unsigned i = 0; i < r->spec_count; i++) {
        const struct ptxi_opspec *o = &r->specs[i];
        bool optional = o->flags & PTXI_OPF_OPTIONAL;

        if (inside && !(o->flags & PTXI_OPF_COORDS)) {
            putchar(']');
            inside = false;
        }
        if (optional) {
            putchar('{');
            open++;
        }
        fputs(o->flags & PTXI_OPF_PAIR ? "\\|" : i ? ", " : "", stdout);
        print_operand(r, o);
        if (optional && (o->flags & PTXI_OPF_PAIR)) { /* the rest is not part of the pair */
            putchar('}');
            open--;
        }
        inside |= o->kind == PTXI_OPK_ADDRESS;
    }
    if (inside)
        putchar(']');
    while (open--)
        putchar('}');
}

static void print_row(const struct ptxi_row *r)
{
    size_t seen = recorded_count(r), n = form_count(r);

    printf("| `%s", r->mnemonic);
    for (unsigned s = 0; s < r->slot_count; s++)
        print_slot(&r->slots[s]);
    fputs(r->spec_count ? "` | `" : "` | ", stdout);
    print_operands(r);
    printf("%s | %u.%u", r->spec_count ? "`" : "", r->ptx / 10, r->ptx % 10);
    if (r->ptx_end)
        printf(" to %u.%u", r->ptx_end / 10, r->ptx_end % 10);
    fputs(" | ", stdout);
    for (unsigned t = 0; t < r->target_count; t++) {
        fputs(t ? ", " : "", stdout);
        print_target(&r->targets[t]);
    }
    printf(" | %s | ", ptxi_compile_executes(r) ? "yes" : "");
    if (seen)
        printf("%zu of %zu", seen, n);
    puts(" |");
}

static void print_list(const struct ptxi_slot *s)
{
    printf("`<%s>`:", s->name);
    for (unsigned w = 0; w < s->word_count; w++)
        printf(" %s", ptxi_words[s->words[w]]);
    puts("\n");
}

static bool same_list(const struct ptxi_slot *a, const struct ptxi_slot *b)
{
    return !strcmp(a->name, b->name) && a->word_count == b->word_count &&
           !memcmp(a->words, b->words, a->word_count * sizeof *a->words);
}

/* Prints each long list of the rows from first to end once. */
static void print_lists(unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        for (unsigned s = 0; s < sorted[i]->slot_count; s++) {
            const struct ptxi_slot *slot = &sorted[i]->slots[s];
            bool seen = slot->word_count <= SHORT;

            for (unsigned k = first; k <= i && !seen; k++)
                for (unsigned z = 0; z < (k == i ? s : sorted[k]->slot_count) && !seen; z++)
                    seen = same_list(slot, &sorted[k]->slots[z]);
            if (!seen)
                print_list(slot);
        }
}

static void print_needs(unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++) {
        const struct ptxi_family *f = ptxi_isa_family(sorted[i]->mnemonic, strlen(sorted[i]->mnemonic));

        if (i > first && !strcmp(sorted[i]->mnemonic, sorted[i - 1]->mnemonic))
            continue;
        for (unsigned k = 0; k < f->need_count; k++) {
            const struct ptxi_need *n = &ptxi_needs[f->first_need + k];

            printf("`.%s` needs PTX %u.%u, ", ptxi_words[n->word], n->ptx / 10, n->ptx % 10);
            for (unsigned t = 0; t < n->target_count; t++) {
                fputs(t ? " or " : "", stdout);
                print_target(&n->targets[t]);
            }
            puts(".\n");
        }
    }
}

static void print_page(void)
{
    puts("# Instructions\n\n"
         "Made by `make doc` from the table in libptxi/isa and the recordings in tests/conformance.\n\n"
         "Each row is a syntax. `{...}` is optional, `(a|b)` is a choice, `<name>` is a word of the list below "
         "the table. Operands are\n"
         "name:type. A type may refer to a qualifier: `d:T` has the type in slot T, `d:2T` twice its width, "
         "`d:bT` the untyped bits\n"
         "of its width. `d:T[]` is a vector. PTX and target are the first versions that have the syntax.\n\n"
         "*executed*: kernels that use it can be launched. *recorded*: the number of its forms with results from a "
         "GPU, which the\n"
         "tests compare with. A form is a choice of qualifiers other than those for caches.\n");
    for (unsigned i = 0, n; i < ptxi_row_count; i += n) {
        const char *section = sorted[i]->section;

        if (!i || !same_chapter(i - 1, i))
            printf("## %.*s\n\n", (int)chapter(sorted[i]), section);
        for (n = 1; i + n < ptxi_row_count && !strcmp(section, sorted[i + n]->section); n++)
            ;
        const char *title = section + chapter(sorted[i]);

        printf("### %s\n\n| syntax | operands | PTX | target | executed | recorded |\n|---|---|---|---|---|---|\n",
               *title ? title + 2 : section);
        for (unsigned k = i; k < i + n; k++)
            print_row(sorted[k]);
        putchar('\n');
        print_lists(i, i + n);
        print_needs(i, i + n);
    }
}

int main(int argc, char **argv)
{
    bool page = argc > 1 && !strcmp(argv[1], "page");

    if (argc != 4 || (!page && strcmp(argv[1], "counts"))) {
        fputs("usage: instructions page|counts CASES MATRICES\n", stderr);
        return 2;
    }
    prepare();
    mark_recording(argv[2]);
    mark_products(argv[3]);
    if (page)
        print_page();
    else
        print_counts();
    return fflush(stdout) || ferror(stdout);
}
