/* Runs the conformance kernels of a .forms file on an NVIDIA GPU and writes their outputs as a recording.
 *
 *     record ptx FORMS                       print the PTX of every form
 *     record run FORMS CUBIN RECORDING NOTE  run it (CUBIN: that PTX, assembled, or the PTX itself)
 *     record show FORMS RECORDING [TEXT]     print what was recorded for the forms whose body contains TEXT
 *     record dump FORMS CUBIN DIR [FORM FIRST COUNT FILE]...
 *                                            for the exhaustive forms: DIR/x<i>.dig with 65536 digests each;
 *                                            and in DIR/FILE the plain outputs of the form whose body is FORM, for
 *                                            the inputs FIRST and the COUNT - 1 that follow
 *
 * A recording is lines of text, an empty line, and then for each form and term {u64 key, u32 term, u32 bytes, data},
 * little endian. Outputs of a full term stand operand after operand, in rows of the width of that operand.
 * The driver is opened at run time; nothing here needs the CUDA toolkit. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "forms.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t devptr;
static void *driver;
static int (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
static int (*get_function)(void **, void *, const char *);
static int (*copy_in)(devptr, const void *, size_t);
static int (*copy_out)(void *, devptr, size_t);
static int (*fill)(devptr, unsigned char, size_t);
static int (*allocate)(devptr *, size_t);
static int (*release)(devptr);

static void check(int rc, const char *what)
{
    if (rc) {
        fprintf(stderr, "record: %s: driver error %d\n", what, rc);
        exit(1);
    }
}

static void *symbol(const char *name)
{
    void *p = dlsym(driver, name);

    if (!p) {
        fprintf(stderr, "record: the driver has no %s\n", name);
        exit(1);
    }
    return p;
}

static void *open_device(const char *module_path, FILE *note)
{
    void *context, *module;
    char name[128] = "";
    int version = 0, device = 0;

    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "record: %s\n", dlerror());
        exit(1);
    }
    check(((int (*)(unsigned))symbol("cuInit"))(0), "cuInit");
    check(((int (*)(int *, int))symbol("cuDeviceGet"))(&device, 0), "cuDeviceGet");
    ((int (*)(char *, int, int))symbol("cuDeviceGetName"))(name, sizeof name, device);
    ((int (*)(int *))symbol("cuDriverGetVersion"))(&version);
    if (note)
        fprintf(note, "gpu %s\ndriver-api %d.%d\n", name, version / 1000, version % 1000 / 10);
    check(((int (*)(void **, int))symbol("cuDevicePrimaryCtxRetain"))(&context, device), "cuDevicePrimaryCtxRetain");
    check(((int (*)(void *))symbol("cuCtxSetCurrent"))(context), "cuCtxSetCurrent");
    check(((int (*)(void **, const char *))symbol("cuModuleLoad"))(&module, module_path), "cuModuleLoad");
    launch_kernel = symbol("cuLaunchKernel");
    get_function = symbol("cuModuleGetFunction");
    copy_in = symbol("cuMemcpyHtoD_v2");
    copy_out = symbol("cuMemcpyDtoH_v2");
    fill = symbol("cuMemsetD8_v2");
    allocate = symbol("cuMemAlloc_v2");
    release = symbol("cuMemFree_v2");
    return module;
}

/* Runs a term by its rows kernel; out[k * n + row]. */
static uint64_t *run_rows(void *module, int index, const struct form *f, const struct form_term *t)
{
    size_t n = (size_t)t->n, padded = (n + 127) / 128 * 128;
    size_t in_bytes = n * 8 * (f->n_in + 1), out_bytes = (n * (f->n_out + 1) + padded) * 8;
    uint64_t *in = calloc(1, in_bytes), *out = calloc(1, out_bytes);
    devptr d_in, d_out;
    uint32_t count = (uint32_t)n;
    void *function, *params[] = { &d_in, &d_out, &count };
    char name[16];

    for (int op = 0; op < f->n_in; op++)
        for (size_t row = 0; row < n; row++)
            in[(size_t)op * n + row] = forms_operand(f, t, op, (int)row);
    snprintf(name, sizeof name, "k%d", index);
    check(get_function(&function, module, name), name);
    check(allocate(&d_in, in_bytes), "memory");
    check(allocate(&d_out, out_bytes), "memory");
    check(copy_in(d_in, in, in_bytes), "copy");
    check(fill(d_out, 0, out_bytes), "fill");
    check(launch_kernel(function, (unsigned)(padded / 128), 1, 1, 128, 1, 1, 0, NULL, params, NULL), name);
    check(copy_out(out, d_out, out_bytes), f->body);
    release(d_in);
    release(d_out);
    free(in);
    return out;
}

/* All 65536 digests of the exhaustive kernel; optionally the outputs of a range of inputs. */
static uint64_t *run_all32(void *module, int index, const struct form *f, uint32_t first, uint32_t count, void *plain)
{
    uint64_t *digest = malloc(65536 * 8);
    size_t bytes = (size_t)count * f->out_bits[0] / 8 + 8;
    devptr d_dig, d_plain;
    void *function, *params[] = { &d_dig, &d_plain, &first, &count };
    char name[16];

    snprintf(name, sizeof name, "x%d", index);
    check(get_function(&function, module, name), name);
    check(allocate(&d_dig, 65536 * 8), "memory");
    check(allocate(&d_plain, bytes), "memory");
    check(fill(d_dig, 0, 65536 * 8), "fill");
    check(launch_kernel(function, 65536, 1, 1, 256, 1, 1, 0, NULL, params, NULL), name);
    check(copy_out(digest, d_dig, 65536 * 8), f->body);
    if (count)
        check(copy_out(plain, d_plain, bytes - 8), "copy");
    release(d_dig);
    release(d_plain);
    return digest;
}

/* ---- Recordings ---- */

static void write_full(FILE *to, const struct form *f, const struct form_term *t, const uint64_t *out)
{
    for (int k = 0; k < f->n_out; k++)
        for (int row = 0; row < t->n; row++)
            fwrite(&out[(size_t)k * t->n + row], (size_t)f->out_bits[k] / 8, 1, to);
}

static void write_digests(FILE *to, const struct form *f, const struct form_term *t, const uint64_t *out)
{
    for (int first = 0; first < t->n; first += FORM_DIGEST_ROWS) {
        uint64_t sum = 0;

        for (int row = first; row < t->n && row < first + FORM_DIGEST_ROWS; row++)
            sum += forms_digest_row((uint64_t)row, out[row], f->n_out > 1 ? out[t->n + row] : 0);
        fwrite(&sum, 8, 1, to);
    }
}

static void write_all32(FILE *to, const struct form_term *t, const uint64_t *digest)
{
    for (int k = 0; k < t->n; k++) {
        uint64_t sum = 0;

        for (int i = 0; i < 65536 / t->n; i++)
            sum += digest[k * (65536 / t->n) + i];
        fwrite(&sum, 8, 1, to);
    }
}

static void record_term(FILE *to, void *module, int index, const struct form *f, int k)
{
    const struct form_term *t = &f->term[k];
    uint32_t head[2] = { (uint32_t)k, (uint32_t)forms_term_size(f, t) };
    uint64_t *out = t->kind == TERM_ALL32 ? run_all32(module, index, f, 0, 0, NULL) : run_rows(module, index, f, t);

    fwrite(&f->key, 8, 1, to);
    fwrite(head, 4, 2, to);
    if (t->kind == TERM_ALL32)
        write_all32(to, t, out);
    else if (t->kind == TERM_DIGEST)
        write_digests(to, f, t, out);
    else
        write_full(to, f, t, out);
    free(out);
}

static int record_all(const struct forms *fs, const char *module_path, const char *path, const char *note)
{
    FILE *to = fopen(path, "wb");
    void *module;

    if (!to) {
        perror(path);
        return 1;
    }
    fputs("libptxi recording 1\n", to);
    module = open_device(module_path, to);
    fprintf(to, "%s\n\n", note);
    for (int i = 0; i < fs->n; i++)
        for (int k = 0; k < fs->form[i].n_terms; k++)
            record_term(to, module, i, &fs->form[i], k);
    return fclose(to) != 0;
}

/* ---- Showing ---- */

static void show_rows(const struct form *f, const struct form_term *t, const unsigned char *data)
{
    for (int row = 0; row < t->n; row++) {
        const unsigned char *column = data;

        for (int op = 0; op < f->n_in; op++)
            printf(" %0*llx", f->in_bits[op] / 4, (unsigned long long)forms_operand(f, t, op, row));
        fputs(" ->", stdout);
        for (int k = 0; k < f->n_out; k++) {
            uint64_t word = 0;
            size_t width = (size_t)f->out_bits[k] / 8;

            memcpy(&word, column + (size_t)row * width, width);
            column += width * (size_t)t->n;
            printf(" %0*llx", f->out_bits[k] / 4, (unsigned long long)word);
        }
        putchar('\n');
    }
}

static int show(const struct forms *fs, const char *path, const char *text)
{
    FILE *in = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    struct { uint64_t key; uint32_t term, bytes; } head;

    if (!in) {
        perror(path);
        return 1;
    }
    while (getline(&line, &room, in) > 1)
        fputs(line, stdout);
    free(line);
    while (fread(&head, sizeof head, 1, in) == 1) {
        unsigned char *data = malloc(head.bytes);
        int i = 0;

        if (fread(data, 1, head.bytes, in) != head.bytes)
            return 1;
        while (i < fs->n && fs->form[i].key != head.key)
            i++;
        if (i < fs->n && strstr(fs->form[i].body, text)) {
            const struct form_term *t = &fs->form[i].term[head.term];

            printf("== %s (term %u)\n", fs->form[i].body, head.term);
            if (t->kind == TERM_SETS || t->kind == TERM_ROWS)
                show_rows(&fs->form[i], t, data);
        }
        free(data);
    }
    fclose(in);
    return 0;
}

/* ---- Raw material for fitting ---- */

static void write_file(const char *dir, const char *name, const void *data, size_t bytes)
{
    char *path;
    FILE *to;

    if (asprintf(&path, "%s/%s", dir, name) < 0 || !(to = fopen(path, "wb"))) {
        fprintf(stderr, "record: cannot write %s in %s\n", name, dir);
        exit(1);
    }
    fwrite(data, 1, bytes, to);
    fclose(to);
    free(path);
}

static int form_by_body(const struct forms *fs, const char *body)
{
    for (int i = 0; i < fs->n; i++)
        if (!strcmp(fs->form[i].body, body))
            return i;
    fprintf(stderr, "record: no form '%s'\n", body);
    exit(1);
}

static int dump_all(const struct forms *fs, int argc, char **argv)
{
    void *module = open_device(argv[3], NULL);
    const char *dir = argv[4];

    for (int i = 0; i < fs->n; i++)
        for (int k = 0; k < fs->form[i].n_terms; k++)
            if (fs->form[i].term[k].kind == TERM_ALL32) {
                uint64_t *digest = run_all32(module, i, &fs->form[i], 0, 0, NULL);
                char name[32];

                snprintf(name, sizeof name, "x%d.dig", i);
                write_file(dir, name, digest, 65536 * 8);
                free(digest);
            }
    for (int a = 5; a + 3 < argc; a += 4) {
        int i = form_by_body(fs, argv[a]);
        uint32_t first = (uint32_t)strtoul(argv[a + 1], NULL, 0), count = (uint32_t)strtoul(argv[a + 2], NULL, 0);
        size_t bytes = (size_t)count * fs->form[i].out_bits[0] / 8;
        void *plain = malloc(bytes);

        free(run_all32(module, i, &fs->form[i], first, count, plain));
        write_file(dir, argv[a + 3], plain, bytes);
        free(plain);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct forms *fs;

    if (argc < 3) {
        fputs("usage: record ptx|run|dump FORMS ...\n", stderr);
        return 2;
    }
    fs = forms_read(argv[2]);
    if (!strcmp(argv[1], "ptx")) {
        forms_print_head(stdout);
        for (int i = 0; i < fs->n; i++)
            forms_print_kernel(stdout, &fs->form[i], i);
        return 0;
    }
    if (!strcmp(argv[1], "list")) {
        for (int i = 0; i < fs->n; i++)
            printf("%d %016llx %s\n", i, (unsigned long long)fs->form[i].key, fs->form[i].body);
        return 0;
    }
    if (!strcmp(argv[1], "show") && argc >= 4)
        return show(fs, argv[3], argc > 4 ? argv[4] : "");
    if (!strcmp(argv[1], "run") && argc == 6)
        return record_all(fs, argv[3], argv[4], argv[5]);
    if (!strcmp(argv[1], "dump") && argc >= 5)
        return dump_all(fs, argc, argv);
    fputs("record: wrong arguments\n", stderr);
    return 2;
}
