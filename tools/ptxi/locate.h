/* Where the libraries are that programs made for a GPU load. */
#ifndef PTXI_LOCATE_H
#define PTXI_LOCATE_H

#include "command.h"

#include <limits.h>

/* Find the directory of libcuda.so.1, libcudart.so and the others, in the build tree of this command or where it is
 * installed. False after a message. */
bool ptxi_cmd_find_libraries(char directory[PATH_MAX]);

/* Whether the directory contains the file. */
bool ptxi_cmd_has_file(const char *directory, const char *file);

/* Set LD_LIBRARY_PATH of this process and its children to the directory and the value that it has. False after a
 * message. */
bool ptxi_cmd_set_library_path(const char *directory);

#endif
