/* Files, and modules that are loaded from them. */
#ifndef PTXI_LOAD_H
#define PTXI_LOAD_H

#include "command.h"

#include <stddef.h>

struct cmd_load_options {
    bool no_contract; /* never fuse mul and add */
    bool strict;      /* reject what the device could not run */
    bool quiet;       /* no warnings */
};

/* Read a file, or stdin for "-". NULL after a message, also if there are more than `most` bytes. A NUL follows the
 * bytes. The caller frees them. */
char *ptxi_cmd_read(const char *file, size_t most, size_t *size);

/* The name of a file in messages. */
const char *ptxi_cmd_file_name(const char *file);

/* The largest text or binary file that is read. A device or a pipe may have no end. */
#define CMD_MOST_FILE ((size_t)1 << 30)

/* Load the modules of a file, one after another, print the messages about their text, and call `use` for each. PTX text
 * is one module; files with fat binaries may have several. `label` is the name of the file, with the number of the
 * module if there are several. Returns the worst of the results of `use`; CMD_FAILED if a module is invalid. */
int ptxi_cmd_load_each(const char *file, const struct cmd_load_options *options,
                       int (*use)(ptxiModule m, const char *label, void *ctx), void *ctx);

/* The worse of two exit statuses: CMD_FAILED is worse than CMD_NOT_EXECUTABLE. */
int ptxi_cmd_worse(int a, int b);

/* Whether the module has a kernel with this name, or several. */
bool ptxi_cmd_has_kernel(ptxiModule m, const char *name);

/* Load files as one module. Of a single file with several modules, load the one with this kernel. NULL after a
 * message. */
ptxiModule ptxi_cmd_link(char **files, int count, const char *kernel, const struct cmd_load_options *options);

/* Print the target of a module, such as "PTX 8.7, sm_90a", without a newline. */
void ptxi_cmd_print_target(ptxiModule m);

#endif
