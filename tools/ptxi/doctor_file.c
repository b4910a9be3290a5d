#include "doctor.h"

#include "api/inspect/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Texts in each copy of the CUDA runtime: a message, and the library that it loads. A stripped program has no symbols,
 * but it has these. */
static bool contains_runtime(const void *data, size_t size)
{
    static const char message[] = "CUDA driver version is insufficient for CUDA runtime version";
    static const char driver[] = "libcuda.so.1";

    return memmem(data, size, message, sizeof message) && memmem(data, size, driver, sizeof driver);
}

/* ---- targets */

static void add_target(struct doctor_targets *t, const char *name)
{
    unsigned i = 0;

    while (i < t->count && strverscmp(t->name[i], name) < 0)
        i++;
    if ((i < t->count && !strcmp(t->name[i], name)) || t->count == MOST_TARGETS)
        return;
    memmove(t->name[i + 1], t->name[i], (t->count - i) * sizeof *t->name);
    strncpy(t->name[i], name, sizeof t->name[i] - 1);
    t->name[i][sizeof t->name[i] - 1] = 0;
    t->count++;
}

static const char *collect(const struct ptxi_binary *b, struct doctor_file *f)
{
    bool *has_ptx = calloc((size_t)b->programs + 1, sizeof *has_ptx);

    if (!has_ptx)
        return "out of memory";
    for (unsigned i = 0; i < b->count; i++) {
        const struct ptxi_binary_entry *e = &b->entries[i];

        add_target(e->is_ptx ? &f->ptx : &f->sass, e->target);
        if (e->is_ptx && e->program <= b->programs)
            has_ptx[e->program] = true;
    }
    f->programs = b->programs;
    for (unsigned p = 1; p <= b->programs; p++)
        f->without_ptx += !has_ptx[p];
    free(has_ptx);
    return NULL;
}

static const char *examine_data(const void *data, size_t size, struct doctor_file *f)
{
    struct ptxi_binary b;

    if (!ptxi_inspect_is_binary(data, size))
        return "not an ELF file, an archive or a fat binary";
    f->has_runtime = contains_runtime(data, size);
    f->error = ptxi_inspect_open_binary(&b, data, size);
    if (f->error)
        return NULL;
    const char *error = collect(&b, f);

    ptxi_inspect_close_binary(&b);
    return error;
}

/* ---- files */

const char *ptxi_cmd_examine(const char *path, struct doctor_file *f)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not wait for the writer of a pipe */
    const char *error = NULL;
    void *data = MAP_FAILED;
    struct stat st;

    *f = (struct doctor_file){ 0 };
    if (fd < 0 || fstat(fd, &st))
        error = strerror(errno);
    else if (!S_ISREG(st.st_mode) || !st.st_size)
        error = "not a regular file with content";
    else if ((data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED)
        error = strerror(errno);
    if (fd >= 0)
        close(fd);
    if (error)
        return error;
    error = examine_data(data, (size_t)st.st_size, f);
    munmap(data, (size_t)st.st_size);
    return error;
}
