/* What loading and linking share: options, files, and how messages about texts reach the caller. */
#ifndef PTXI_API_MODULE_LOAD_H
#define PTXI_API_MODULE_LOAD_H

#include "api/module/module.h"

struct ptxi_log {
    char *buffer;
    size_t size, used; /* bytes */
    void **size_value; /* where the number of bytes written goes */
};

struct ptxi_load_options {
    struct ptxi_log info, error;
    void **wall_time;
    bool verbose;
    struct ptxi_module_options module;
};

/* Add what the caller's arrays say. */
ptxiResult ptxi_load_options(struct ptxi_load_options *o, unsigned n, ptxiJitOption *options, void **values);

/* Loads a module from `text`, which has a NUL behind its `size` bytes and is freed or the module's, whatever comes of it. */
ptxiResult ptxi_load_text(ptxiContext ctx, char *text, size_t size, struct ptxi_load_options *o, ptxiModule *module);

/* To the logs, behind what is there already, and to ptxiGetLastDiagnostic. */
void ptxi_load_say(struct ptxi_load_options *o, const struct ptxi_diag *d, const struct ptxi_texts *texts);

void ptxi_load_tell_time(const struct ptxi_load_options *o, double since); /* a value of ptxi_load_clock() */
double ptxi_load_clock(void);                                             /* milliseconds */

/* All of a file, with a NUL behind it; the caller frees it. */
ptxiResult ptxi_load_read_file(const char *name, char **text, size_t *size);

/* PTX begins with a directive, perhaps behind blanks and comments. Other images (cubin, fatbin) do not. */
bool ptxi_load_is_ptx(const char *s);

/* image.c: what ptxiLinkComplete gives out is text: a line for all, and before each part a line with its size and name. */
void ptxi_image_write(const struct ptxi_texts *parts, struct ptxi_str *out);

/* The parts of such an image, or the whole text, as the one of that name. False: the image is damaged, or, with arena->oom, memory
 * is short. */
bool ptxi_image_read(const char *text, size_t size, const char *name, struct ptxi_arena *arena, struct ptxi_texts *texts);
uint32_t ptxi_image_lines(const struct ptxi_text *t); /* that the next part's first line is behind its own */
bool ptxi_image_is_linked(const char *text, size_t size);

#endif
