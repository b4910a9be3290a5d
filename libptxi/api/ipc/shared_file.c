#include "api/ipc/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, PATH = 64 };

/* ---- files */

/* A file beyond the limit of the process would end it by a signal. */
static bool is_within_limit(uint64_t size)
{
    struct rlimit limit;

    return !getrlimit(RLIMIT_FSIZE, &limit) && (limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur);
}

int ptxi_shared_file_create(uint64_t size)
{
    int fd = is_within_limit(size) ? memfd_create("ptxi", MFD_CLOEXEC | MFD_ALLOW_SEALING) : -1;

    if (fd < 0 || (!ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, SEALS)))
        return fd;
    close(fd);
    return -1;
}

uint64_t ptxi_shared_file_size(int fd)
{
    struct stat s;
    int seals = fcntl(fd, F_GET_SEALS);

    return seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &s) || s.st_size <= 0 ? 0 : (uint64_t)s.st_size;
}

/* ---- processes */

/* Reads field 3 (state) and field 22 (start) of the process. The second field is a name that may contain anything. */
uint64_t ptxi_process_start(int32_t process)
{
    enum { SPACES = 19 /* from the state to the start */ };
    char path[PATH], text[1024];

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *p = strrchr(text, ')');

    if (!p || p[1] != ' ' || p[2] == 'Z' || p[2] == 'X') /* it has ended, and its parent has not noticed yet */
        return 0;
    p += 2;
    for (int i = 0; p && i < SPACES; i++)
        p = (p = strchr(p, ' ')) ? p + 1 : NULL;
    return p ? strtoull(p, NULL, 10) : 0;
}

/* ---- names */

bool ptxi_shared_part_read(struct ptxi_shared_part *part, int fd, uint64_t entry)
{
    return entry <= INT64_MAX && pread(fd, part, sizeof *part, (off_t)entry) == sizeof *part && part->secret;
}

static bool write_part(const struct ptxi_shared_part *part, int fd, uint64_t entry)
{
    return pwrite(fd, part, sizeof *part, (off_t)entry) == sizeof *part;
}

bool ptxi_shared_name_set_process(struct ptxi_shared_name *n)
{
    n->process = (int32_t)getpid();
    n->start = ptxi_process_start(n->process);
    return n->start;
}

bool ptxi_shared_name_publish(struct ptxi_shared_name *n, int fd)
{
    n->fd = fd;
    n->unused = 0;
    do
        if (getrandom(&n->part.secret, sizeof n->part.secret, 0) != sizeof n->part.secret)
            return false;
    while (!n->part.secret);
    return ptxi_shared_name_set_process(n) && write_part(&n->part, fd, n->entry);
}

void ptxi_shared_name_withdraw(int fd, uint64_t entry)
{
    static const struct ptxi_shared_part none;

    write_part(&none, fd, entry);
}

bool ptxi_shared_name_agrees(const struct ptxi_shared_name *n, enum ptxi_shared_kind kind, int fd)
{
    struct ptxi_shared_part part;
    uint64_t size = ptxi_shared_file_size(fd);

    return n->part.kind == kind && !n->unused && ptxi_shared_part_read(&part, fd, n->entry) &&
           !memcmp(&part, &n->part, sizeof part) && part.size && part.offset < size && part.size <= size - part.offset;
}

/* Opens a file of another process, if it is one in memory. Opening other files could have effects. */
static int open_file_of(int32_t process, int32_t fd)
{
    static const char expected[] = "/memfd:ptxi ";
    char path[PATH], target[sizeof expected];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, fd);
    if (readlink(path, target, sizeof target) < (ssize_t)sizeof expected - 1 ||
        memcmp(target, expected, sizeof expected - 1)) {
        errno = ENOENT;
        return -1;
    }
    return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static ptxiResult check_process(const struct ptxi_shared_name *n, enum ptxi_shared_kind kind)
{
    if (n->part.kind != kind || n->unused || n->process <= 0 || n->fd < 0 || !n->start)
        return PTXI_ERROR_INVALID_VALUE;
    if (ptxi_process_start(n->process) != n->start)
        return PTXI_ERROR_INVALID_HANDLE;
    return n->process == (int32_t)getpid() ? PTXI_ERROR_INVALID_CONTEXT : PTXI_SUCCESS;
}

/* The result for a file that could not be opened. It no longer exists if its part of memory was freed. */
static ptxiResult open_error(void)
{
    switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return PTXI_ERROR_OUT_OF_MEMORY;
    case EACCES:
    case EPERM:
        return PTXI_ERROR_INVALID_HANDLE;
    default:
        return PTXI_ERROR_INVALID_VALUE;
    }
}

ptxiResult ptxi_shared_name_open(const struct ptxi_shared_name *n, enum ptxi_shared_kind kind, int *fd)
{
    ptxiResult r = check_process(n, kind);

    if (r)
        return r;
    *fd = open_file_of(n->process, n->fd);
    if (*fd < 0)
        return open_error();
    if (ptxi_shared_name_agrees(n, kind, *fd))
        return PTXI_SUCCESS;
    close(*fd);
    return PTXI_ERROR_INVALID_VALUE;
}
