/* Writes the input of the recorder: all conformance kernels, their operands, and a plan of the runs.
 *
 *     plan write DIR [TEXT]
 *         Writes DIR/plan.txt, DIR/columns.bin, DIR/digest.ptx, DIR/k000.ptx ... (cases), DIR/apart000.ptx ... (cases
 *         for assembly without fused products and sums) and DIR/x000.ptx ... (exhaustive cases). With TEXT, writes
 *         only the cases with TEXT in their names.
 *     plan matrix DIR [TEXT]
 *         Writes DIR/matrix.txt and DIR/m000.ptx ...: the matrix instructions.
 *     plan list
 *         Lists every case. Also lists every form and section without a case, with the reason.
 *
 * Lines of plan.txt:
 *
 *     constants BLOCK FINE COARSE FULL DIGESTS BLOCKS THREADS    values from cases.h
 *     column INDEX BYTES ROWS OFFSET                  location in columns.bin
 *     module FILE                                     module of the following kernels
 *     case KEY ROWS FINE WORDS COLUMN|- x 4 NAME      kernel k<KEY>
 *     exhaustive KEY WORDS CONSTANT NAME              kernel x<KEY>
 *
 * Lines of matrix.txt:
 *
 *     constants BLOCK DIGESTS FULL REGIMES            values from matrix.h
 *     module FILE
 *     form KEY WORDS BLOCKS NAME                      kernel m<KEY>; WORDS is the result size of one instruction */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/cases.h"
#include "conformance/matrix.h"

#include <stdlib.h>
#include <string.h>

enum { MODULE_CASES = 96, MODULE_EXHAUSTIVE = 16, MODULE_MATRIX = 16 };

static const char *directory;

static FILE *create(const char *name)
{
    char *path;
    FILE *f;

    if (asprintf(&path, "%s/%s", directory, name) < 0 || !(f = fopen(path, "w"))) {
        fprintf(stderr, "plan: cannot write %s in %s\n", name, directory);
        exit(1);
    }
    free(path);
    return f;
}

static void finish(FILE *f)
{
    if (ferror(f) | fclose(f)) {
        fprintf(stderr, "plan: error while writing\n");
        exit(1);
    }
}

/* ---- Columns ---- */

struct columns {
    struct { struct column c; uint32_t rows; } *v;
    size_t count;
};

static int column_index(struct columns *cs, const struct column *c, uint32_t rows)
{
    size_t i = 0;

    while (i < cs->count && (cs->v[i].rows != rows || memcmp(&cs->v[i].c, c, sizeof *c)))
        i++;
    if (i == cs->count) {
        cs->v = realloc(cs->v, (i + 1) * sizeof *cs->v);
        cs->v[i].c = *c;
        cs->v[i].rows = rows;
        cs->count++;
    }
    return (int)i;
}

static void write_columns(const struct columns *cs, FILE *plan)
{
    FILE *f = create("columns.bin");
    size_t offset = 0;

    for (size_t i = 0; i < cs->count; i++) {
        size_t bytes = cs->v[i].c.width / 8;
        void *values = malloc(bytes * cs->v[i].rows);

        column_fill(&cs->v[i].c, cs->v[i].rows, values);
        fwrite(values, bytes, cs->v[i].rows, f);
        fprintf(plan, "column %zu %zu %u %zu\n", i, bytes, cs->v[i].rows, offset);
        offset += bytes * cs->v[i].rows;
        free(values);
    }
    finish(f);
}

/* ---- Modules ---- */

/* Returns the module of kernel `n` of its kind. Opens it for its first kernel. */
static FILE *module_for(FILE *module, FILE *plan, const char *kind, size_t n, unsigned size)
{
    char name[32];

    if (n % size)
        return module;
    if (module)
        finish(module);
    snprintf(name, sizeof name, "%s%03zu.ptx", kind, n / size);
    fprintf(plan, "module %s\n", name);
    module = create(name);
    case_print_head(module);
    return module;
}

static void plan_case(FILE *plan, struct columns *columns, const struct conformance_case *c)
{
    /* A shorter case reads the first rows of a full column. */
    uint32_t rows = c->rows < COLUMN_ROWS ? COLUMN_ROWS : c->rows;

    fprintf(plan, "case %016llx %u %u %u", (unsigned long long)c->key, c->rows, c->fine, c->outputs);
    for (unsigned i = 0; i < CASE_INPUTS; i++)
        if (i < c->inputs)
            fprintf(plan, " %d", column_index(columns, &c->input[i], rows));
        else
            fputs(" -", plan);
    fprintf(plan, " %s\n", c->name);
}

static void write_cases(const struct cases *cs, const char *text, FILE *plan, struct columns *columns, bool apart)
{
    FILE *module = NULL;

    for (size_t i = 0, n = 0; i < cs->count; i++) {
        const struct conformance_case *c = &cs->v[i];

        if (c->again || c->apart != apart || !strstr(c->name, text))
            continue;
        module = module_for(module, plan, apart ? "apart" : "k", n++, MODULE_CASES);
        case_print_kernel(module, c);
        plan_case(plan, columns, c);
    }
    if (module)
        finish(module);
}

static void write_exhaustive(const struct cases *cs, const char *text, FILE *plan)
{
    FILE *module = NULL;

    for (size_t i = 0, n = 0; i < cs->all_count; i++) {
        const struct exhaustive *x = &cs->all[i];

        if (!strstr(x->of->name, text))
            continue;
        module = module_for(module, plan, "x", n++, MODULE_EXHAUSTIVE);
        case_print_exhaustive(module, x);
        fprintf(plan, "exhaustive %016llx %u %08x %s\n", (unsigned long long)x->key, x->of->outputs, x->constant,
                x->of->name);
    }
    if (module)
        finish(module);
}

static int write_plan(const struct cases *cs, const char *text)
{
    struct columns columns = { NULL, 0 };
    FILE *plan = create("plan.txt"), *digest;

    fprintf(plan, "libptxi conformance plan 1\nconstants %d %d %d %d %d %d %d\n", CASE_BLOCK, CASE_FINE, CASE_COARSE,
            CASE_FULL, EXHAUSTIVE_DIGESTS, EXHAUSTIVE_BLOCKS, EXHAUSTIVE_THREADS);
    write_cases(cs, text, plan, &columns, false);
    write_cases(cs, text, plan, &columns, true);
    write_exhaustive(cs, text, plan);
    write_columns(&columns, plan);
    finish(plan);
    digest = create("digest.ptx");
    case_print_head(digest);
    case_print_digest(digest);
    finish(digest);
    free(columns.v);
    return 0;
}

static int write_matrix(const char *text)
{
    struct matrix_forms *forms = matrix_make();
    FILE *plan = create("matrix.txt");
    size_t n = 0, count = 0;

    for (size_t i = 0; i < forms->count; i++)
        if (strstr(forms->v[i].name, text))
            forms->v[n++] = forms->v[i];
        else
            free(forms->v[i].name);
    forms->count = n;
    fprintf(plan, "libptxi matrix plan 2\nconstants %d %d %d %d\n", MATRIX_BLOCK, MATRIX_DIGESTS, MATRIX_FULL,
            MATRIX_REGIMES);
    for (size_t i = 0; i < n; i += count) {
        char name[32];
        FILE *module;

        count = n - i < MODULE_MATRIX ? n - i : MODULE_MATRIX;
        snprintf(name, sizeof name, "m%03zu.ptx", i / MODULE_MATRIX);
        fprintf(plan, "module %s\n", name);
        for (size_t k = i; k < i + count; k++)
            fprintf(plan, "form %016llx %u %u %s\n", (unsigned long long)forms->v[k].key, matrix_words(&forms->v[k]),
                    matrix_blocks(&forms->v[k]), forms->v[k].name);
        module = create(name);
        matrix_print_module(module, forms->v + i, count);
        finish(module);
    }
    finish(plan);
    matrix_free(forms);
    return 0;
}

static int print_list(const struct cases *cs)
{
    for (size_t i = 0; i < cs->count; i++)
        printf("%016llx %s\n", (unsigned long long)cs->v[i].key, cs->v[i].name);
    for (size_t i = 0; i < cs->all_count; i++)
        printf("%016llx all 2^32: %s\n", (unsigned long long)cs->all[i].key, cs->all[i].of->name);
    for (size_t i = 0; i < cs->out_count; i++)
        printf("not verified on hardware: %s: %s\n", cs->out[i].name, cs->out[i].why);
    return fflush(stdout) || ferror(stdout);
}

int main(int argc, char **argv)
{
    struct cases *cs;
    int rc;

    if (argc < 2 ||
        (strcmp(argv[1], "list") && ((strcmp(argv[1], "write") && strcmp(argv[1], "matrix")) || argc < 3))) {
        fputs("usage: plan write DIR [TEXT] | plan matrix DIR [TEXT] | plan list\n", stderr);
        return 2;
    }
    directory = argc > 2 ? argv[2] : "";
    if (!strcmp(argv[1], "matrix"))
        return write_matrix(argc > 3 ? argv[3] : "");
    cs = cases_make();
    rc = strcmp(argv[1], "list") ? write_plan(cs, argc > 3 ? argv[3] : "") : print_list(cs);
    cases_free(cs);
    return rc;
}
