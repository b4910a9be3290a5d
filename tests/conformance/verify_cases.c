/* Compares all cases with their records. See verify.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "conformance/verify.h"

enum { MODULE_CASES = 64, SHOWN_ROWS = 6 };

struct run {
    const struct recording *recording;
    bool verbose;
    ptxiModule digest_module;
    ptxiFunction digest;
    ptxiDevicePtr output, cells, record;
    struct { struct column c; uint32_t rows; ptxiDevicePtr values; } *columns;
    size_t column_count;
    size_t equal, differ, refused, missing;
};

/* ---- Launching ---- */

static ptxiDevicePtr column_on_device(struct run *r, const struct column *c, uint32_t rows)
{
    size_t bytes = (size_t)rows * c->width / 8;
    void *values;

    for (size_t i = 0; i < r->column_count; i++)
        if (r->columns[i].rows >= rows && !memcmp(&r->columns[i].c, c, sizeof *c))
            return r->columns[i].values;
    values = malloc(bytes);
    r->columns = realloc(r->columns, (r->column_count + 1) * sizeof *r->columns);
    if (!values || !r->columns)
        exit(2);
    column_fill(c, rows, values);
    r->columns[r->column_count].c = *c;
    r->columns[r->column_count].rows = rows;
    r->columns[r->column_count].values = verify_memory(bytes);
    ptxiMemcpyHtoD(r->columns[r->column_count].values, values, bytes);
    free(values);
    return r->columns[r->column_count++].values;
}

/* Computes the case's record with the library. */
static ptxiResult run_case(struct run *r, ptxiFunction f, const struct conformance_case *c, uint32_t *record)
{
    size_t bytes = case_record_words(c) * 4;
    ptxiDevicePtr in[CASE_INPUTS] = { 0 };
    uint32_t rows = c->rows, fine = c->fine, words = c->outputs, step = case_full_step(c);
    void *params[] = { &in[0], &in[1], &in[2], &in[3], &r->output, &r->cells, &rows };
    void *digest_params[] = { &r->output, &r->record, &rows, &fine, &words, &step };
    unsigned digest_blocks = (case_digests(c) * 32 + CASE_BLOCK - 1) / CASE_BLOCK;
    ptxiResult rc;

    for (unsigned i = 0; i < c->inputs; i++)
        in[i] = column_on_device(r, &c->input[i], rows < COLUMN_ROWS ? COLUMN_ROWS : rows);
    ptxiMemsetD8(r->record, 0, bytes);
    rc = ptxiLaunchKernel(f, rows / CASE_BLOCK, 1, 1, CASE_BLOCK, 1, 1, 0, NULL, params, NULL);
    if (rc == PTXI_SUCCESS)
        rc = ptxiLaunchKernel(r->digest, digest_blocks, 1, 1, CASE_BLOCK, 1, 1, 0, NULL, digest_params, NULL);
    return rc == PTXI_SUCCESS ? ptxiMemcpyDtoH(record, r->record, bytes) : rc;
}

/* ---- Showing differences ---- */

static void show_row(struct run *r, const struct conformance_case *c, uint32_t row, const uint32_t *want)
{
    printf("    row %u:", row);
    for (unsigned i = 0; i < c->inputs; i++)
        printf(" %0*llx", c->input[i].width / 4, (unsigned long long)column_value(&c->input[i], row));
    printf(" ->");
    for (unsigned w = 0; w < c->outputs; w++) {
        uint32_t got = 0;

        ptxiMemcpyDtoH(&got, r->output + ((size_t)w * c->rows + row) * 4, 4);
        printf(" %08x", got);
    }
    for (unsigned w = 0; want && w < c->outputs; w++)
        printf("%s %08x", w ? "" : ", recorded", want[w * CASE_FULL]);
    putchar('\n');
}

static bool full_row_differs(const struct conformance_case *c, const uint32_t *got, const uint32_t *want)
{
    for (unsigned w = 0; w < c->outputs; w++)
        if (got[w * CASE_FULL] != want[w * CASE_FULL])
            return true;
    return false;
}

/* Lists the rows that differ, and our results for the first ones. The outputs must still be on the device. */
static void show_difference(struct run *r, const struct conformance_case *c, const uint32_t *got, const uint32_t *want)
{
    unsigned digests = case_digests(c), fines = c->fine / CASE_FINE, shown = 0;

    printf("differs: %s\n%s", c->name, c->row ? "" : c->body);
    for (unsigned i = 0; i < CASE_FULL; i++)
        if (full_row_differs(c, got + digests + i, want + digests + i) && (r->verbose || shown++ < 2))
            show_row(r, c, i * case_full_step(c) % c->rows, want + digests + i);
    for (unsigned i = 0; r->verbose && i < digests; i++) {
        uint32_t size = i < fines ? CASE_FINE : CASE_COARSE,
                 first = i < fines ? i * CASE_FINE : c->fine + (i - fines) * CASE_COARSE;

        if (got[i] == want[i])
            continue;
        printf("    rows %u to %u\n", first, first + size - 1);
        for (uint32_t row = first; row < first + size && shown < 2 * CASE_FINE; row++, shown++)
            show_row(r, c, row, NULL);
    }
}

/* ---- Cases ---- */

static void compare(struct run *r, const struct conformance_case *c, ptxiFunction f)
{
    static uint32_t got[COLUMN_ALL / CASE_FINE + CASE_WORDS * CASE_FULL];
    const uint32_t *want = recording_find(r->recording, c->key, case_record_words(c));
    ptxiResult rc;

    if (!want) {
        printf("not recorded: %s\n", c->name);
        r->missing++;
        return;
    }
    rc = run_case(r, f, c, got);
    if (rc != PTXI_SUCCESS && verify_unsupported()) {
        r->refused++;
        if (r->verbose)
            printf("refused: %s\n", c->name);
    } else if (rc != PTXI_SUCCESS) {
        printf("fails: %s\n", c->name);
        verify_show_report();
        r->differ++;
    } else if (memcmp(got, want, case_record_words(c) * 4)) {
        show_difference(r, c, got, want);
        r->differ++;
    } else {
        r->equal++;
    }
}

static ptxiModule load_cases(const struct conformance_case *const *list, unsigned n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ptxiModule module;

    case_print_head(out);
    for (unsigned i = 0; i < n; i++)
        case_print_kernel(out, list[i]);
    fclose(out);
    module = verify_load(text, list[0]->apart);
    free(text);
    return module;
}

static void run_module(struct run *r, const struct conformance_case *const *list, unsigned n)
{
    ptxiModule module = load_cases(list, n);

    if (!module && n == 1) {
        printf("does not load: %s\n", list[0]->name);
        verify_show_report();
        r->differ++;
    } else if (!module) { /* find the differing rows */
        run_module(r, list, n / 2);
        run_module(r, list + n / 2, n - n / 2);
    }
    if (!module)
        return;
    for (unsigned i = 0; i < n; i++) {
        char name[32];
        ptxiFunction f;

        snprintf(name, sizeof name, "k%016llx", (unsigned long long)list[i]->key);
        if (ptxiModuleGetFunction(&f, module, name) != PTXI_SUCCESS)
            abort();
        compare(r, list[i], f);
    }
    ptxiModuleUnload(module);
}

static void start_run(struct run *r)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    case_print_head(out);
    case_print_digest(out);
    fclose(out);
    r->digest_module = verify_load(text, false);
    free(text);
    if (!r->digest_module || ptxiModuleGetFunction(&r->digest, r->digest_module, "digest") != PTXI_SUCCESS) {
        verify_show_report();
        exit(2);
    }
    r->output = verify_memory((size_t)COLUMN_ALL * CASE_WORDS * 4);
    r->cells = verify_memory((size_t)COLUMN_ALL * 16);
    r->record = verify_memory((COLUMN_ALL / CASE_FINE + CASE_WORDS * CASE_FULL) * 4);
}

static void run_cases(struct run *r, const struct cases *cs, const char *text, bool apart)
{
    const struct conformance_case *list[MODULE_CASES];
    unsigned n = 0;

    for (size_t i = 0; i < cs->count; i++) {
        if (!cs->v[i].again && cs->v[i].apart == apart && strstr(cs->v[i].name, text))
            list[n++] = &cs->v[i];
        if (n == MODULE_CASES || (n && i + 1 == cs->count)) {
            run_module(r, list, n);
            n = 0;
        }
    }
}

bool verify_cases(const struct cases *cs, const struct recording *recording, bool verbose, const char *text)
{
    struct run r = { .recording = recording, .verbose = verbose };

    start_run(&r);
    run_cases(&r, cs, text, false);
    run_cases(&r, cs, text, true);
    free(r.columns);
    printf("%zu cases equal, %zu differ, %zu refused, %zu not recorded\n", r.equal, r.differ, r.refused, r.missing);
    return r.differ || r.missing || !r.equal;
}
