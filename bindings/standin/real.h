/* Finds and opens the NVIDIA library that a library of libptxi replaces and still needs. */
#ifndef PTXI_STANDIN_REAL_H
#define PTXI_STANDIN_REAL_H

#include <stddef.h>

struct standin_library {
    const char *soname;         /* of both libraries */
    const char *variable;       /* environment variable with the path of the file */
    const char *wheel;          /* its directory below site-packages, as wheels of PyPI install it */
};

/* Opens the library, with symbols of its own. It is searched in the variable's file, LD_LIBRARY_PATH, CUDA_HOME,
 * CUDA_PATH, CONDA_PREFIX, the wheels of the Python program that is running, VIRTUAL_ENV, and the usual directories.
 * Files that are libraries of libptxi are passed over. Returns NULL after writing the reason to `reason`. */
void *ptxi_standin_open(const struct standin_library *library, char *reason, size_t reason_bytes);

#endif
