/* Memory that processes share. It is in files in memory (memfd). Their size is fixed, so that accesses to a mapping
 * never fail.
 *
 * A name tells another process where a part of such a file is. Programs pass names on as 64 bytes, which may have been
 * changed, so names are not trusted: the file contains an entry with the same numbers, one of which is random. A
 * process that frees the part deletes the entry. */
#ifndef PTXI_API_IPC_SHARED_FILE_H
#define PTXI_API_IPC_SHARED_FILE_H

#include "ptxi.h"

#include <stdbool.h>
#include <stdint.h>

/* The kind of object that a name refers to. The values distinguish names from other data and from names of other
 * versions of the library. */
enum ptxi_shared_kind {
    PTXI_SHARED_MEMORY = 0x70747801, /* an allocation of ptxiMemAlloc() */
    PTXI_SHARED_EVENT,
    PTXI_SHARED_POOL,                /* entry 0 of a pool's file */
    PTXI_SHARED_POOL_MEMORY,         /* an allocation of a pool; the other process has opened the pool's file */
};

/* A part of a file, as the entry describes it. */
struct ptxi_shared_part {
    uint32_t kind;
    int32_t device;
    uint64_t offset, size; /* bytes */
    uint64_t secret;       /* random */
};

struct ptxi_shared_name {
    struct ptxi_shared_part part;
    uint64_t entry;        /* position of the entry in the file */
    uint64_t start;        /* when the process began, because a later process may get its number */
    int32_t process, fd;   /* the process has the file open under this number */
    uint64_t unused;       /* 0 */
};
_Static_assert(sizeof(struct ptxi_shared_name) == 64, "the handles of ptxi.h have 64 bytes");

/* Creates a file that contains zeros. Returns its descriptor, or -1 on failure. */
int ptxi_shared_file_create(uint64_t size);

/* Returns the size of a file that ptxi_shared_file_create() has made, in any process. Returns 0 for other files. */
uint64_t ptxi_shared_file_size(int fd);

/* Writes the entry, with a new secret. Sets the secret, process, start and descriptor of the name. False: the operating
 * system does not permit it. */
bool ptxi_shared_name_publish(struct ptxi_shared_name *n, int fd);
void ptxi_shared_name_withdraw(int fd, uint64_t entry);

/* Sets the process and its start. Returns false if the operating system does not provide it. */
bool ptxi_shared_name_set_process(struct ptxi_shared_name *n);

/* Whether the name is of that kind, and the file has its entry. */
bool ptxi_shared_name_agrees(const struct ptxi_shared_name *n, enum ptxi_shared_kind kind, int fd);

/* Reads the entry at a position of the file. Returns false if there is no entry. */
bool ptxi_shared_part_read(struct ptxi_shared_part *part, int fd, uint64_t entry);

/* Opens the file of a name. PTXI_ERROR_INVALID_VALUE if it is no name of that kind, or the part no longer exists,
 * PTXI_ERROR_INVALID_CONTEXT for a name of this process, PTXI_ERROR_INVALID_HANDLE if the process no longer exists or
 * is not accessible, PTXI_ERROR_OUT_OF_MEMORY for too many open files. */
ptxiResult ptxi_shared_name_open(const struct ptxi_shared_name *n, enum ptxi_shared_kind kind, int *fd);

/* When a process began, in a unit of the operating system. 0: it does not exist, or has ended. */
uint64_t ptxi_process_start(int32_t process);

#endif
