#include "load.h"

#include "compile.h"

#include "api/inspect/inspect.h"
#include "base/paint.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- files */

/* NULL: errno has the reason, EFBIG for more than `most` bytes. */
static char *read_stream(FILE *f, size_t most, size_t *size)
{
    size_t room = 1 << 16, n = 0, got;
    char *p = malloc(room + 1);

    while (p && (got = fread(p + n, 1, room - n, f)) > 0) {
        n += got;
        if (n > most || n < room)
            continue;
        char *larger = realloc(p, 2 * room + 1);

        if (!larger)
            free(p);
        p = larger;
        room *= 2;
    }
    if (!p)
        return NULL;
    assert(n <= room);
    p[n] = 0;
    *size = n;
    if (n <= most && !ferror(f))
        return p;
    free(p);
    errno = n > most ? EFBIG : EIO;
    return NULL;
}

char *ptxi_cmd_read(const char *file, size_t most, size_t *size)
{
    FILE *f = strcmp(file, "-") ? fopen(file, "rb") : stdin;
    char *p = f ? read_stream(f, most, size) : NULL;

    if (!p && f && errno == EFBIG)
        ptxi_cmd_error("%s: the file has more than %zu bytes", file, most);
    else if (!p)
        ptxi_cmd_error("%s: %s", file, strerror(errno));
    if (f && f != stdin)
        fclose(f);
    return p;
}

const char *ptxi_cmd_file_name(const char *file)
{
    return strcmp(file, "-") ? file : "<stdin>";
}

/* ---- modules */

/* Print the messages of the last load. True if there is an error among them. */
static bool print_diagnostics(bool quiet)
{
    ptxiDiagnostic d = { .size = sizeof d };
    bool error = false, on = true;

    fflush(stdout);
    for (unsigned i = 0; ptxiGetLastDiagnostic(i, &d) == PTXI_SUCCESS; i++) {
        error |= d.severity == PTXI_SEVERITY_ERROR;
        if (d.severity != PTXI_SEVERITY_NOTE) /* a note belongs to the message before it */
            on = !quiet || d.severity == PTXI_SEVERITY_ERROR;
        if (on && d.text)
            ptxi_paint_write(d.text, stderr);
    }
    return error;
}

/* Print the messages of the last load. True if it succeeded. */
static bool report(ptxiResult r, const char *name, bool quiet)
{
    if (!print_diagnostics(quiet) && r)
        ptxi_cmd_error("%s: %s", name, ptxi_cmd_result(r));
    return !r;
}

static ptxiModule load(const char *image, const char *name, const struct cmd_load_options *options)
{
    ptxiJitOption keys[] = { PTXI_JIT_FILE_NAME, PTXI_JIT_FMA, PTXI_JIT_STRICT_TARGET };
    void *values[] = {
        (void *)(uintptr_t)name, (void *)(intptr_t)!options->no_contract, (void *)(intptr_t)options->strict,
    };
    ptxiModule m = NULL;
    ptxiResult r = ptxiModuleLoadDataEx(&m, image, 3, keys, values);

    return report(r, name, options->quiet) ? m : NULL;
}

/* A file in memory. PTX text is one program. */
struct image {
    const char *file, *name; /* as on the command line, and in messages about its text */
    char *data;
    size_t size;
    bool is_binary;
    unsigned programs;
};

/* False after a message. The caller frees image->data in any case. */
static bool read_image(struct image *image, const char *file)
{
    struct ptxi_binary b;
    const char *message;

    *image = (struct image){ .file = file, .name = ptxi_cmd_file_name(file), .programs = 1 };
    image->data = ptxi_cmd_is_cuda(file) ? ptxi_cmd_compile(file, &image->size)
                                         : ptxi_cmd_read(file, CMD_MOST_FILE, &image->size);
    if (!image->data)
        return false;
    image->is_binary = ptxi_inspect_is_binary(image->data, image->size);
    if (!image->is_binary)
        return true;
    message = ptxi_inspect_open_binary(&b, image->data, image->size);
    if (message) {
        ptxi_cmd_error("%s: %s", file, message);
        return false;
    }
    if (b.programs > 1)
        image->programs = b.programs;
    ptxi_inspect_close_binary(&b);
    return true;
}

/* `program` counts from 1. NULL after a message. */
static ptxiModule load_program(const struct image *image, unsigned program, const struct cmd_load_options *options)
{
    char *text;

    if (!image->is_binary)
        return load(image->data, image->name, options);
    ptxiResult r = ptxi_inspect_program(image->data, image->size, program, image->name, options->strict, &text);
    ptxiModule m = report(r, image->name, options->quiet) ? load(text, image->name, options) : NULL;

    if (!r)
        free(text);
    return m;
}

int ptxi_cmd_worse(int a, int b)
{
    return b == CMD_FAILED || a == CMD_OK ? b : a;
}

static int load_and_use(const struct image *image, unsigned program, const struct cmd_load_options *options,
                        int (*use)(ptxiModule m, const char *label, void *ctx), void *ctx)
{
    ptxiModule m = load_program(image, program, options);
    char *label = NULL;
    int status = CMD_FAILED;

    if (!m)
        return CMD_FAILED;
    if (image->programs == 1)
        status = use(m, image->file, ctx);
    else if (asprintf(&label, "%s (module %u of %u)", image->file, program, image->programs) >= 0)
        status = use(m, label, ctx);
    free(label);
    ptxiModuleUnload(m);
    return status;
}

int ptxi_cmd_load_each(const char *file, const struct cmd_load_options *options,
                       int (*use)(ptxiModule m, const char *label, void *ctx), void *ctx)
{
    struct image image;
    bool ok = read_image(&image, file);
    int status = ok ? CMD_OK : CMD_FAILED;

    for (unsigned i = 1; ok && i <= image.programs; i++)
        status = ptxi_cmd_worse(status, load_and_use(&image, i, options, use, ctx));
    free(image.data);
    return status;
}

bool ptxi_cmd_has_kernel(ptxiModule m, const char *name)
{
    unsigned count = 0;

    return ptxiModuleFindFunctions(NULL, &count, m, name) == PTXI_SUCCESS && count;
}

/* Of several modules, loads the one with this kernel. */
static ptxiModule load_with_kernel(const struct image *image, const char *kernel,
                                   const struct cmd_load_options *options)
{
    if (image->programs == 1)
        return load_program(image, 1, options);
    if (!kernel) {
        ptxi_cmd_error("%s: the file has %u modules; select a kernel with --kernel, see ptxi list", image->name,
                       image->programs);
        return NULL;
    }
    for (unsigned i = 1; i <= image->programs; i++) {
        ptxiModule m = load_program(image, i, options);

        if (!m || ptxi_cmd_has_kernel(m, kernel))
            return m;
        ptxiModuleUnload(m);
    }
    ptxi_cmd_error("%s: kernel '%s' not found", image->name, kernel);
    return NULL;
}

static ptxiModule load_one(const char *file, const char *kernel, const struct cmd_load_options *options)
{
    struct image image;
    ptxiModule m = read_image(&image, file) ? load_with_kernel(&image, kernel, options) : NULL;

    free(image.data);
    return m;
}

static bool add(ptxiLinkState state, const char *file, bool quiet)
{
    struct image image;
    bool ok = read_image(&image, file);

    if (ok) {
        ptxiJitInputType type = image.is_binary ? PTXI_JIT_INPUT_OBJECT : PTXI_JIT_INPUT_PTX;
        ptxiResult r = ptxiLinkAddData(state, type, image.data, image.size + 1, image.name, 0, NULL, NULL);

        ok = report(r, image.name, quiet);
    }
    free(image.data);
    return ok;
}

ptxiModule ptxi_cmd_link(char **files, int count, const char *kernel, const struct cmd_load_options *options)
{
    ptxiLinkState state = NULL;
    ptxiModule m = NULL;
    void *image;

    assert(count > 0);
    if (count == 1)
        return load_one(files[0], kernel, options);
    bool ok = report(ptxiLinkCreate(0, NULL, NULL, &state), "linking", options->quiet);

    for (int i = 0; ok && i < count; i++)
        ok = add(state, files[i], options->quiet);
    if (ok && report(ptxiLinkComplete(state, &image, NULL), "linking", options->quiet))
        m = load(image, "linked files", &(struct cmd_load_options){ options->no_contract, options->strict, true });
    if (state)
        ptxiLinkDestroy(state);
    return m;
}

void ptxi_cmd_print_target(ptxiModule m)
{
    struct ptxi_module_info info = { .sm = 0 };

    ptxi_inspect_module(m, &info);
    printf("PTX %u.%u, sm_%u", info.ptx_version / 10, info.ptx_version % 10, info.sm);
    if (info.suffix)
        putchar(info.suffix);
}
