#include "api/memory/shared_pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    BLOCK_UNIT = 512,    /* alignment of blocks in a slab */
    DATA_AT = 64 << 10,  /* in the file of a range: entries of names come first */
    ENTRY = sizeof(struct ptxi_shared_part),
    HUGE_PAGE = 2 << 20,
};

/* Slabs with pages in a file. They stay so, as nobody knows which other processes use them. */
struct slab {
    struct slab *next;
    uint64_t base;
    int fd;
};
static struct slab *slabs;

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static uint64_t page_of(uint64_t value)
{
    return value & ~(uint64_t)(PTXI_PAGE - 1);
}

bool ptxi_pages_map(const struct ptxi_pages *p, uint64_t base, size_t size)
{
    size_t bytes = page_of(base + size + PTXI_PAGE - 1) - page_of(base);

    return mmap(pointer(page_of(base)), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, p->fd,
                (off_t)page_of(p->offset)) != MAP_FAILED;
}

bool ptxi_pages_unmap(uint64_t base, size_t bytes)
{
    void *p = mmap(pointer(base), bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

    if (p == MAP_FAILED)
        return false;
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_PAGE)
        madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return true;
}

/* ---- sharing private pages */

/* Pages of zeros are not copied, so that they need no memory in the file either. */
static void copy_pages(unsigned char *to, const unsigned char *from, size_t bytes)
{
    static const unsigned char zeros[PTXI_PAGE];

    for (size_t at = 0; at < bytes; at += PTXI_PAGE)
        if (memcmp(from + at, zeros, PTXI_PAGE))
            memcpy(to + at, from + at, PTXI_PAGE);
}

/* Returns a file with the content of the range, which is mapped there. -1: not possible. */
static int move_to_file(uint64_t range, size_t bytes)
{
    int fd = ptxi_shared_file_create(DATA_AT + bytes);
    void *copy = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, DATA_AT);

    if (copy != MAP_FAILED) {
        copy_pages(copy, pointer(range), bytes);
        munmap(copy, bytes);
        if (ptxi_pages_map(&(struct ptxi_pages){ .fd = fd, .offset = DATA_AT }, range, bytes))
            return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static const struct slab *share_slab(uint64_t base, size_t bytes)
{
    struct slab *s = slabs;

    while (s && s->base != base)
        s = s->next;
    if (s || !(s = malloc(sizeof *s)))
        return s;
    *s = (struct slab){ slabs, base, move_to_file(base, bytes) };
    if (s->fd < 0) {
        free(s);
        return NULL;
    }
    return slabs = s;
}

bool ptxi_pages_share(struct ptxi_pages *p, uint64_t block, uint64_t range, size_t bytes, bool small)
{
    const struct slab *s = small ? share_slab(range, bytes) : NULL;
    int fd = small ? -1 : move_to_file(range, bytes);

    if (!s && fd < 0)
        return false;
    *p = (struct ptxi_pages){
        .source = s ? PTXI_PAGES_OF_SLAB : PTXI_PAGES_OWN_FILE, .fd = s ? s->fd : fd,
        .offset = DATA_AT + (block - range), .entry = (block - range) / BLOCK_UNIT * ENTRY,
    };
    return true;
}

bool ptxi_pages_name(struct ptxi_pages *p, const struct ptxi_shared_part *part, struct ptxi_shared_name *name)
{
    *name = (struct ptxi_shared_name){ .part = *part, .entry = p->entry, .fd = p->fd };
    name->part.offset = p->offset;
    name->part.secret = p->secret;
    if (p->secret)
        return ptxi_shared_name_set_process(name);
    if (!ptxi_shared_name_publish(name, p->fd))
        return false;
    p->secret = name->part.secret;
    return true;
}

void ptxi_pages_release(struct ptxi_pages *p, size_t size)
{
    switch (p->source) {
    case PTXI_PAGES_OWN_FILE:
        close(p->fd);
        break;
    case PTXI_PAGES_OF_SLAB:
        ptxi_shared_name_withdraw(p->fd, p->entry);
        break;
    case PTXI_PAGES_OF_POOL: /* also the page of the entry */
        fallocate(p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)p->entry,
                  (off_t)(page_of(p->offset + size + PTXI_PAGE - 1) - p->entry));
        break;
    default:
        break;
    }
    p->secret = 0;
}
