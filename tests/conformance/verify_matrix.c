/* Compares matrix instructions with their records. See verify.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "conformance/matrix.h"
#include "conformance/verify.h"

enum { MODULE_FORMS = 16, SHOWN = 8, MOST_WORDS = MATRIX_DIGESTS + MATRIX_FULL * 4 * 128, SAMPLE = 67 };

struct matrix_run {
    const struct recording *recording;
    unsigned parts;
    bool verbose;
    ptxiDevicePtr record;
    size_t equal, differ, refused, missing;
};

static ptxiResult run_form(struct matrix_run *r, ptxiFunction f, const struct matrix_form *form, uint32_t *record)
{
    size_t bytes = (MATRIX_DIGESTS + (size_t)MATRIX_FULL * matrix_words(form)) * 4;
    ptxiDevicePtr full = r->record + MATRIX_DIGESTS * 4;
    uint32_t keep = MATRIX_FULL, first = 0;
    void *params[] = { &r->record, &full, &keep, &first };
    ptxiResult rc;

    ptxiMemsetD8(r->record, 0, bytes);
    rc = ptxiLaunchKernel(f, matrix_blocks(form) / MATRIX_PARTS * r->parts, 1, 1, MATRIX_BLOCK, 1, 1, 0, NULL, params,
                          NULL);
    return rc == PTXI_SUCCESS ? ptxiMemcpyDtoH(record, r->record, bytes) : rc;
}

static void show(const struct matrix_run *r, const struct matrix_form *f, const uint32_t *got, const uint32_t *want)
{
    unsigned words = matrix_words(f), lanes = f->n ? MATRIX_BLOCK : 32, shown = 0;

    printf("differs: %s\n", f->name);
    for (unsigned i = 0; i < MATRIX_DIGESTS && r->verbose; i++)
        if (i / MATRIX_REGIMES < r->parts && got[i] != want[i])
            printf("    regime %u of part %u\n", i % MATRIX_REGIMES, i / MATRIX_REGIMES);
    for (unsigned i = 0; i < MATRIX_FULL * words && shown < SHOWN; i++) {
        uint32_t x = got[MATRIX_DIGESTS + i], y = want[MATRIX_DIGESTS + i];

        if (x == y)
            continue;
        printf("    instruction %u, word %u of D, lane %u: %08x, recorded %08x\n", i / words, i % words / lanes,
               i % lanes, x, y);
        shown++;
    }
}

static void compare(struct matrix_run *r, const struct matrix_form *f, ptxiFunction function)
{
    static uint32_t got[MOST_WORDS];
    size_t words = MATRIX_DIGESTS + (size_t)MATRIX_FULL * matrix_words(f);
    const uint32_t *want = recording_find(r->recording, f->key, words);
    ptxiResult rc;

    if (!want) {
        printf("not recorded: %s\n", f->name);
        r->missing++;
        return;
    }
    rc = run_form(r, function, f, got);
    if (rc != PTXI_SUCCESS && verify_unsupported()) {
        r->refused++;
    } else if (rc != PTXI_SUCCESS) {
        printf("fails: %s\n", f->name);
        verify_show_report();
        r->differ++;
    } else if (memcmp(got, want, r->parts * MATRIX_REGIMES * 4) ||
               memcmp(got + MATRIX_DIGESTS, want + MATRIX_DIGESTS, (words - MATRIX_DIGESTS) * 4)) {
        show(r, f, got, want);
        r->differ++;
    } else {
        r->equal++;
    }
}

static void run_forms(struct matrix_run *r, const struct matrix_form *forms, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ptxiModule module;

    matrix_print_module(out, forms, count);
    fclose(out);
    module = verify_load(text, false);
    free(text);
    if (!module) {
        printf("does not load: %s ...\n", forms[0].name);
        verify_show_report();
        r->differ += count;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        char name[32];
        ptxiFunction f;

        snprintf(name, sizeof name, "m%016llx", (unsigned long long)forms[i].key);
        if (ptxiModuleGetFunction(&f, module, name) != PTXI_SUCCESS)
            abort();
        compare(r, &forms[i], f);
    }
    ptxiModuleUnload(module);
}

/* With fewer than four quarters only some wgmma forms run, with a different N for each type. wgmma has eight times as
 * many forms as mma. */
static bool chosen(const struct matrix_run *r, const struct matrix_form *f, size_t number, const char *text)
{
    return strstr(f->name, text) && (!f->n || r->parts == MATRIX_PARTS || number % SAMPLE == 0);
}

bool verify_matrix(const struct recording *recording, unsigned quarters, bool verbose, const char *text, unsigned part,
                   unsigned parts)
{
    struct matrix_run r = { .recording = recording,
                            .parts = quarters < MATRIX_PARTS ? quarters : MATRIX_PARTS,
                            .verbose = verbose };
    struct matrix_forms *forms = matrix_make();
    struct matrix_form list[MODULE_FORMS];
    size_t n = 0;

    r.record = verify_memory(MOST_WORDS * 4);
    for (size_t i = 0; i < forms->count; i++) {
        if (i % parts == part && chosen(&r, &forms->v[i], i, text))
            list[n++] = forms->v[i];
        if (n == MODULE_FORMS || (n && i + 1 == forms->count)) {
            run_forms(&r, list, n);
            if (r.parts == MATRIX_PARTS) /* takes minutes */
                printf("%5.1f%%  %s\n", 100.0 * (double)(i + 1) / (double)forms->count, list[n - 1].name);
            fflush(stdout);
            n = 0;
        }
    }
    matrix_free(forms);
    printf("%zu matrix forms equal, %zu differ, %zu refused, %zu not recorded\n", r.equal, r.differ, r.refused,
           r.missing);
    return r.differ || r.missing || (!r.equal && !*text);
}
