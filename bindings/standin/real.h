/* Finds and opens the NVIDIA library that a library of libptxi replaces and still needs. */
#ifndef PTXI_STANDIN_REAL_H
#define PTXI_STANDIN_REAL_H

#include <stddef.h>

struct standin_library {
    const char *soname;         /* of both libraries */
    const char *variable;       /* environment variable with the path of the file */
    const char *wheel;          /* its directory below site-packages, as wheels of PyPI install it */
};

/* Opens the library, with symbols of its own. If the variable is set, it names the file. Otherwise the library is
 * searched in the order of NVIDIA's Python packages: wheels of the Python program that is running, VIRTUAL_ENV,
 * CONDA_PREFIX, LD_LIBRARY_PATH, CUDA_HOME, CUDA_PATH, and the usual directories. Files that are libraries of libptxi
 * are passed over. Returns NULL after writing the reason to `reason`. */
void *ptxi_standin_open(const struct standin_library *library, char *reason, size_t reason_bytes);

#endif
