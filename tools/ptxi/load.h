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

/* Load a file and print the messages about its text. NULL if the file is invalid. */
ptxiModule ptxi_cmd_load(const char *file, const struct cmd_load_options *options);

/* Load files as one module. */
ptxiModule ptxi_cmd_link(char **files, int count, const struct cmd_load_options *options);

/* Print the target of a module, such as "PTX 8.7, sm_90a", without a newline. */
void ptxi_cmd_print_target(ptxiModule m);

#endif
