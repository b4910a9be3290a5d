/* Where the libraries are that programs made for a GPU load. */
#ifndef PTXI_LOCATE_H
#define PTXI_LOCATE_H

#include "command.h"

#include <limits.h>

struct cmd_libraries {
    char driver[PATH_MAX];  /* directory of libcuda.so.1 */
    char runtime[PATH_MAX]; /* directory of libcudart.so; the same one, except in a build tree */
};

/* Find the libraries of this command, in its build tree or where it is installed. False after a message. */
bool ptxi_cmd_find_libraries(struct cmd_libraries *l);

/* Whether the directory contains the file. */
bool ptxi_cmd_has_file(const char *directory, const char *file);

/* Format the directories for LD_LIBRARY_PATH, followed by `rest` unless that is NULL or empty. The caller frees the
 * result. NULL: no memory. */
char *ptxi_cmd_library_path(const struct cmd_libraries *l, const char *rest);

#endif
