#include "load.h"

#include "api/inspect/inspect.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest text that is read. A device or a pipe may have no end. */
#define MOST_TEXT ((size_t)1 << 30)

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
            fputs(d.text, stderr);
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

ptxiModule ptxi_cmd_load(const char *file, const struct cmd_load_options *options)
{
    size_t size;
    char *text = ptxi_cmd_read(file, MOST_TEXT, &size);
    ptxiModule m = text ? load(text, ptxi_cmd_file_name(file), options) : NULL;

    free(text);
    return m;
}

static bool add(ptxiLinkState state, const char *file, bool quiet)
{
    const char *name = ptxi_cmd_file_name(file);
    size_t size;
    char *text = ptxi_cmd_read(file, MOST_TEXT, &size);

    if (!text)
        return false;
    ptxiResult r = ptxiLinkAddData(state, PTXI_JIT_INPUT_PTX, text, size + 1, name, 0, NULL, NULL);

    free(text);
    return report(r, name, quiet);
}

ptxiModule ptxi_cmd_link(char **files, int count, const struct cmd_load_options *options)
{
    ptxiLinkState state = NULL;
    ptxiModule m = NULL;
    void *image;

    assert(count > 0);
    if (count == 1)
        return ptxi_cmd_load(files[0], options);
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
