/* Runs recorded forms on libptxi and compares every output.
 *
 *     replay [-v] FORMS RECORDING [TEXT]
 *
 * TEXT picks the forms whose body contains it; -v shows the first rows that differ. Digests over all 2^32 operands are left
 * out. Forms that the library refuses are counted and, with -v, named with the reason. Ends with 1 if an output differs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "forms.h"

#include "ptxi.h"

#include <stdlib.h>
#include <string.h>

static int verbose;
static int n_same, n_different, n_refused;

static void refuse(const struct form *f, const char *what, ptxiResult rc)
{
    ptxiReport report = { .size = sizeof report };
    const char *name = "?";

    n_refused++;
    if (!verbose)
        return;
    ptxiGetErrorName(rc, &name);
    printf("refused: %s: %s: %s\n", f->body, what, name);
    if (ptxiGetLastReport(NULL, &report) == PTXI_SUCCESS && report.text)
        printf("    %.300s\n", report.text);
}

/* The module of one form; NULL with a count if it does not load. */
static ptxiModule load(const struct form *f, ptxiFunction *function)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ptxiModule module = NULL;
    ptxiResult rc;

    forms_print_head(out);
    forms_print_kernel(out, f, 0);
    fclose(out);
    rc = ptxiModuleLoadData(&module, text);
    if (rc == PTXI_SUCCESS)
        rc = ptxiModuleGetFunction(function, module, "k0");
    if (rc != PTXI_SUCCESS) {
        refuse(f, "load", rc);
        module = NULL;
    }
    free(text);
    return module;
}

/* Outputs of a term, out[k * n + row], or NULL. */
static uint64_t *run(ptxiFunction function, const struct form *f, const struct form_term *t)
{
    size_t n = (size_t)t->n, padded = (n + 127) / 128 * 128;
    size_t in_bytes = n * 8 * ((size_t)f->n_in + 1), out_bytes = (n * ((size_t)f->n_out + 1) + padded) * 8;
    uint64_t *in = calloc(1, in_bytes), *out = calloc(1, out_bytes);
    ptxiDevicePtr d_in = 0, d_out = 0;
    uint32_t count = (uint32_t)n;
    void *params[] = { &d_in, &d_out, &count };
    ptxiResult rc;

    for (int op = 0; op < f->n_in; op++)
        for (size_t row = 0; row < n; row++)
            in[(size_t)op * n + row] = forms_operand(f, t, op, (int)row);
    if (ptxiMemAlloc(&d_in, in_bytes) != PTXI_SUCCESS || ptxiMemAlloc(&d_out, out_bytes) != PTXI_SUCCESS)
        exit(2);
    ptxiMemcpyHtoD(d_in, in, in_bytes);
    ptxiMemsetD8(d_out, 0, out_bytes);
    rc = ptxiLaunchKernel(function, (unsigned)(padded / 128), 1, 1, 128, 1, 1, 0, NULL, params, NULL);
    if (rc == PTXI_SUCCESS)
        rc = ptxiCtxSynchronize();
    if (rc == PTXI_SUCCESS)
        rc = ptxiMemcpyDtoH(out, d_out, out_bytes);
    if (rc != PTXI_SUCCESS) {
        refuse(f, "launch", rc);
        free(out);
        out = NULL;
    }
    ptxiMemFree(d_in);
    ptxiMemFree(d_out);
    free(in);
    return out;
}

static void show(const struct form *f, const struct form_term *t, int row, const uint64_t *got, const uint64_t *want)
{
    for (int op = 0; op < f->n_in; op++)
        printf(" %0*llx", f->in_bits[op] / 4, (unsigned long long)forms_operand(f, t, op, row));
    fputs(" ->", stdout);
    for (int k = 0; k < f->n_out; k++)
        printf(" %0*llx", f->out_bits[k] / 4, (unsigned long long)got[k]);
    fputs(", recorded", stdout);
    for (int k = 0; k < f->n_out; k++)
        printf(" %0*llx", f->out_bits[k] / 4, (unsigned long long)want[k]);
    putchar('\n');
}

static int compare_rows(const struct form *f, const struct form_term *t, const uint64_t *out, const unsigned char *data)
{
    int wrong = 0;

    for (int row = 0; row < t->n; row++) {
        const unsigned char *column = data;
        uint64_t got[FORM_MAX_OPS], want[FORM_MAX_OPS] = { 0 };
        int differs = 0;

        for (int k = 0; k < f->n_out; k++) {
            size_t width = (size_t)f->out_bits[k] / 8;

            got[k] = out[(size_t)k * (size_t)t->n + (size_t)row];
            memcpy(&want[k], column + (size_t)row * width, width);
            column += width * (size_t)t->n;
            differs |= got[k] != want[k];
        }
        if (differs && wrong++ < 6 && verbose)
            show(f, t, row, got, want);
    }
    return wrong;
}

static int compare_digests(const struct form *f, const struct form_term *t, const uint64_t *out, const unsigned char *data)
{
    int wrong = 0;

    for (int first = 0; first < t->n; first += FORM_DIGEST_ROWS) {
        uint64_t sum = 0, want;

        for (int row = first; row < t->n && row < first + FORM_DIGEST_ROWS; row++)
            sum += forms_digest_row((uint64_t)row, out[row], f->n_out > 1 ? out[t->n + row] : 0);
        memcpy(&want, data + first / FORM_DIGEST_ROWS * 8, 8);
        if (sum != want && wrong++ < 2 && verbose)
            printf(" rows from %d differ\n", first);
    }
    return wrong;
}

static void replay_term(const struct form *f, int term, const unsigned char *data)
{
    static const struct form *loaded;
    static ptxiModule module;
    static ptxiFunction function;
    const struct form_term *t = &f->term[term];
    uint64_t *out;
    int wrong;

    if (t->kind == TERM_ALL32)
        return;
    if (loaded != f) {
        if (module)
            ptxiModuleUnload(module);
        loaded = f;
        module = load(f, &function);
    }
    if (!module || !(out = run(function, f, t)))
        return;
    wrong = t->kind == TERM_DIGEST ? compare_digests(f, t, out, data) : compare_rows(f, t, out, data);
    if (wrong)
        printf("differs: %s (term %d: %d)\n", f->body, term, wrong);
    wrong ? n_different++ : n_same++;
    free(out);
}

static int replay(const struct forms *fs, FILE *in, const char *text)
{
    struct { uint64_t key; uint32_t term, bytes; } head;

    while (fread(&head, sizeof head, 1, in) == 1) {
        unsigned char *data = malloc(head.bytes);
        int i = 0;

        if (!data || fread(data, 1, head.bytes, in) != head.bytes)
            return 2;
        while (i < fs->n && fs->form[i].key != head.key)
            i++;
        if (i < fs->n && strstr(fs->form[i].body, text))
            replay_term(&fs->form[i], (int)head.term, data);
        free(data);
    }
    printf("%d terms equal, %d differ, %d refused\n", n_same, n_different, n_refused);
    return n_different || !n_same;
}

int main(int argc, char **argv)
{
    struct forms *fs;
    ptxiDevice device;
    ptxiContext context;
    FILE *in;
    char *line = NULL;
    size_t room = 0;
    int rc;

    while (argc > 1 && argv[1][0] == '-') {
        verbose |= argv[1][1] == 'v';
        argv++;
        argc--;
    }
    if (argc < 3 || !(in = fopen(argv[2], "rb"))) {
        fputs("usage: replay [-v] FORMS RECORDING [TEXT]\n", stderr);
        return 2;
    }
    fs = forms_read(argv[1]);
    while (getline(&line, &room, in) > 1)
        ;
    free(line);
    if (ptxiInit(0) || ptxiDeviceGet(&device, 0) || ptxiCtxCreate(&context, 0, device))
        return 2;
    rc = replay(fs, in, argc > 3 ? argv[3] : "");
    ptxiCtxDestroy(context);
    fclose(in);
    forms_free(fs);
    return rc;
}
