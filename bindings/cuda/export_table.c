/* cuGetExportTable: the driver's tables of functions are not documented. NVIDIA's CUDA runtime cannot work without one
 * of them, and many programs ignore its errors and print wrong results. So a message names the file that contains the
 * runtime. Other libraries, such as NVRTC, request other tables and work without them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The table that the runtimes of CUDA 12 and 13 request. */
static const unsigned char runtime_table[16] = {
    0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9,
};

enum { MAX_FILES = 16 }; /* more files get no message */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const void *reported[MAX_FILES]; /* addresses of the files that have a message */
static unsigned reported_count;

/* Returns true for the first call with this file. */
static bool is_new(const void *file)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < reported_count && !found; i++)
        found = reported[i] == file;
    found |= reported_count == MAX_FILES;
    if (!found)
        reported[reported_count++] = file;
    pthread_mutex_unlock(&lock);
    return !found;
}

ptxiResult cuGetExportTable(const void **table, const void *id)
{
    const void *caller = __builtin_return_address(0);
    Dl_info file = { .dli_fname = NULL };

    (void)table;
    if (!id || memcmp(id, runtime_table, sizeof runtime_table))
        return PTXI_ERROR_NOT_SUPPORTED;
    if (!dladdr(caller, &file) || !file.dli_fname || !*file.dli_fname)
        file.dli_fname = "the program";
    if (is_new(file.dli_fbase))
        fprintf(stderr, "libptxi: %s contains NVIDIA's CUDA runtime, which needs undocumented functions of NVIDIA's "
                "driver: its calls fail. Link with `nvcc -cudart shared` and use the libcudart of libptxi.\n",
                file.dli_fname);
    return PTXI_ERROR_NOT_SUPPORTED;
}
