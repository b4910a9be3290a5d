/* Loading and linking of texts: options, files, messages. */
#ifndef PTXI_API_MODULE_LOAD_H
#define PTXI_API_MODULE_LOAD_H

#include "api/module/module.h"

struct ptxi_log {
    char *buffer;
    size_t size, used; /* bytes */
    void **size_value; /* receives the number of bytes written */
};

struct ptxi_load_options {
    struct ptxi_log info, error;
    void **wall_time;
    bool verbose;
    struct ptxi_module_options module;
};

/* Adds the options of the caller's arrays. */
ptxiResult ptxi_load_options(struct ptxi_load_options *o, unsigned n, ptxiJitOption *options, void **values);

/* Loads a module from `text`, which has a NUL after its `size` bytes. The module owns the text. On failure it is
 * freed. */
ptxiResult ptxi_load_text(ptxiContext ctx, char *text, size_t size, struct ptxi_load_options *o, ptxiModule *module);

/* Appends the messages to the logs, and makes them the diagnostics that ptxiGetLastDiagnostic() returns. */
void ptxi_load_report(struct ptxi_load_options *o, const struct ptxi_diag *d, const struct ptxi_texts *texts);

void ptxi_load_store_time(const struct ptxi_load_options *o, double since); /* since: a value of ptxi_load_clock() */
double ptxi_load_clock(void);                                             /* milliseconds */

/* Reads a file and appends a NUL. The caller frees the text. */
ptxiResult ptxi_load_read_file(const char *name, char **text, size_t *size);

/* True if the text begins with a directive after blanks and comments. Other images (cubin, fatbin) do not. */
bool ptxi_load_is_ptx(const char *s);

#endif
