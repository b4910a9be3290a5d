/* Files to modules, and modules' parts to words. */
#include "cmd.h"

#include "api/module/module.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ptxi_cmd_read(const char *file, size_t most, size_t *size)
{
    FILE *f = strcmp(file, "-") ? fopen(file, "rb") : stdin;
    char *p = f ? ptxi_read_all(f, most, size) : NULL;

    if (!p && f && errno == EFBIG)
        ptxi_cmd_error("%s: more than %zu bytes", file, most);
    else if (!p)
        ptxi_cmd_error("%s: %s", file, strerror(errno));
    if (f && f != stdin)
        fclose(f);
    return p;
}

/* True if there is an error among what the last load had to say. */
static bool print_diagnostics(bool quiet)
{
    ptxiDiagnostic d = { .size = sizeof d };
    bool error = false, on = true;

    fflush(stdout);
    for (unsigned i = 0; ptxiGetLastDiagnostic(i, &d) == PTXI_SUCCESS; i++) {
        error |= d.severity == PTXI_SEVERITY_ERROR;
        if (d.severity != PTXI_SEVERITY_NOTE) /* notes go with what they are about */
            on = !quiet || d.severity == PTXI_SEVERITY_ERROR;
        if (on && d.text)
            fputs(d.text, stderr);
    }
    return error;
}

static const char *shown(const char *file)
{
    return strcmp(file, "-") ? file : "<stdin>";
}

static bool say(ptxiResult r, const char *name, const struct cmd_load_options *options)
{
    if (!print_diagnostics(options->quiet) && r)
        ptxi_cmd_error("%s: %s", name, ptxi_cmd_result(r));
    return !r;
}

static ptxiModule load(const char *image, const char *name, const struct cmd_load_options *options)
{
    ptxiJitOption keys[] = { PTXI_JIT_FILE_NAME, PTXI_JIT_FMA, PTXI_JIT_STRICT_TARGET };
    void *values[] = { (void *)(uintptr_t)name, (void *)(intptr_t)!options->no_contract, (void *)(intptr_t)options->strict };
    ptxiModule m = NULL;
    ptxiResult r = ptxiModuleLoadDataEx(&m, image, 3, keys, values);

    return say(r, name, options) ? m : NULL;
}

ptxiModule ptxi_cmd_load(const char *file, const struct cmd_load_options *options)
{
    size_t size;
    char *text = ptxi_cmd_read(file, PTXI_MOST_TEXT, &size);
    ptxiModule m = text ? load(text, shown(file), options) : NULL;

    free(text);
    return m;
}

static bool add(ptxiLinkState state, const char *file, const struct cmd_load_options *options)
{
    size_t size;
    char *text = ptxi_cmd_read(file, PTXI_MOST_TEXT, &size);
    bool ok = text && say(ptxiLinkAddData(state, PTXI_JIT_INPUT_PTX, text, size + 1, shown(file), 0, NULL, NULL), shown(file), options);

    free(text);
    return ok;
}

ptxiModule ptxi_cmd_link(char **files, int count, const struct cmd_load_options *options)
{
    ptxiLinkState state = NULL;
    ptxiModule m = NULL;
    void *image;

    if (count == 1)
        return ptxi_cmd_load(files[0], options);
    bool ok = say(ptxiLinkCreate(0, NULL, NULL, &state), "linking", options);

    for (int i = 0; ok && i < count; i++)
        ok = add(state, files[i], options);
    if (ok && say(ptxiLinkComplete(state, &image, NULL), "linking", options))
        m = load(image, "linked files", &(struct cmd_load_options){ options->no_contract, options->strict, true });
    if (state)
        ptxiLinkDestroy(state);
    return m;
}

void ptxi_cmd_target(ptxiModule m, struct ptxi_str *out)
{
    const struct ptxi_module_tree *t = m->tree;

    ptxi_str_printf(out, "PTX %u.%u, sm_%u", t->version / 10, t->version % 10, t->target.sm);
    if (t->target.suffix)
        ptxi_str_putc(out, t->target.suffix);
}
