/* Finds fat binaries in files: raw ones, ELF files (objects, executables, shared libraries) and static archives. */
#ifndef PTXI_FATBIN_FILE_H
#define PTXI_FATBIN_FILE_H

#include "fatbin/fatbin.h"

#include "base/arena.h"

enum ptxi_fatbin_file {
    PTXI_FILE_OTHER,
    PTXI_FILE_FATBIN,
    PTXI_FILE_ELF,    /* of the host, 64 bits */
    PTXI_FILE_CUBIN,  /* an ELF file of GPU code */
    PTXI_FILE_ARCHIVE
};

struct ptxi_fatbin_found {
    const unsigned char *data; /* into the file */
    size_t size;               /* as its header says */
    const char *member;        /* of an archive; in the arena. NULL: not in an archive */
    bool relocatable;          /* nvcc -rdc=true: a part of a program. Otherwise a program of its own */
    unsigned first;            /* number of its first entry; entries of a list count from 1 */
    unsigned program;          /* after ptxi_fatbin_group(): number of its program, from 1, or 0 */
};

struct ptxi_fatbin_list {
    struct ptxi_fatbin_found *at; /* in the arena */
    uint32_t count, cap;
    unsigned entries; /* of all */
};

/* Appends a fat binary. `size`  as for ptxi_fatbin_open(). */
enum ptxi_fatbin_result ptxi_fatbin_append(struct ptxi_fatbin_list *list, struct ptxi_arena *arena,
                                           struct ptxi_fatbin_found found);

/* The kind of a file in memory. */
enum ptxi_fatbin_file ptxi_fatbin_file_kind(const void *data, size_t size);

/* Appends all fat binaries of a file of any kind. A file without fat binaries is no error. */
enum ptxi_fatbin_result ptxi_fatbin_find(const void *data, size_t size, struct ptxi_arena *arena,
                                         struct ptxi_fatbin_list *list);

/* Finds out which fat binaries of a file belong together, and returns the number of programs. All relocatable ones are
 * one program, each other one is a program of its own. Those without PTX are left out if there are others: nvcc
 * -rdc=true adds one with the linked GPU code. */
unsigned ptxi_fatbin_group(struct ptxi_fatbin_list *list);

/* The name of a kernel in a cubin that `ptxi_fatbin_extract` has returned. `section`  0 for the first kernel; advances.
 * NULL: there is no further one. */
const char *ptxi_fatbin_next_kernel(const void *cubin, size_t size, uint32_t *section);

/* Whether the image begins as a cubin. Reads as ptxi_fatbin_is(). The target is that of its header. */
bool ptxi_fatbin_is_cubin(const void *image, struct ptxi_target *t);

#endif
