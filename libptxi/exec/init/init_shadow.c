#include "exec/init/init_shadow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A table of two levels over the address space of the host. Pages of shadow are made when a part of one differs from
 * the rest. */
enum { PAGE_SHIFT = 12, PAGE = 1 << PAGE_SHIFT, LOW_BITS = 18, HIGH_BITS = 47 - PAGE_SHIFT - LOW_BITS };

struct page {
    unsigned char bytes[PAGE];
};

typedef _Atomic(struct page *) entry;

static struct page all_undefined; /* its address means so; its bytes are not used */
static _Atomic(entry *) table[1 << HIGH_BITS];
static _Atomic bool used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of replacing entries */

/* NULL: there is none, and `create` is not set or memory is short. */
static entry *entry_at(uint64_t address, bool create)
{
    uint64_t number = address >> PAGE_SHIFT, high = number >> LOW_BITS;

    if (high >> HIGH_BITS)
        return NULL;
    entry *low = atomic_load_explicit(&table[high], memory_order_acquire);

    if (!low && create && (low = calloc(1 << LOW_BITS, sizeof *low))) {
        entry *none = NULL;

        if (!atomic_compare_exchange_strong(&table[high], &none, low)) {
            free(low);
            low = none;
        }
    }
    return low ? &low[number & ((1 << LOW_BITS) - 1)] : NULL;
}

/* Makes a page with bytes of its own. NULL: memory is short. */
static struct page *own_page(entry *e)
{
    struct page *p = atomic_load_explicit(e, memory_order_acquire);

    if (p && p != &all_undefined)
        return p;
    pthread_mutex_lock(&lock);
    struct page *now = atomic_load(e);

    if (!now || now == &all_undefined) {
        p = malloc(sizeof *p);
        if (p)
            memset(p->bytes, now ? 0xff : 0, PAGE);
        atomic_store_explicit(e, p, memory_order_release);
        now = p;
    }
    pthread_mutex_unlock(&lock);
    return now;
}

/* A whole page gets a value. Pages of bytes are kept, because other threads may read them. */
static void set_page(entry *e, bool undefined)
{
    pthread_mutex_lock(&lock);
    struct page *p = atomic_load(e);

    if (p && p != &all_undefined)
        memset(p->bytes, undefined ? 0xff : 0, PAGE);
    else
        atomic_store_explicit(e, undefined ? &all_undefined : NULL, memory_order_release);
    pthread_mutex_unlock(&lock);
}

static void set_range(uint64_t address, uint64_t size, bool undefined)
{
    while (size) {
        uint64_t offset = address & (PAGE - 1), n = PAGE - offset < size ? PAGE - offset : size;
        entry *e = entry_at(address, undefined);
        struct page *p = e ? atomic_load_explicit(e, memory_order_acquire) : NULL;

        if (e && n == PAGE)
            set_page(e, undefined);
        else if (e && p != (undefined ? &all_undefined : NULL) && (p = own_page(e)))
            memset(p->bytes + offset, undefined ? 0xff : 0, n);
        else if (e && undefined && !p && (p = own_page(e)))
            memset(p->bytes + offset, 0xff, n);
        address += n;
        size -= n;
    }
}

bool ptxi_init_is_used(void)
{
    return atomic_load_explicit(&used, memory_order_acquire);
}

void ptxi_init_undefine(uint64_t address, uint64_t size)
{
    atomic_store_explicit(&used, true, memory_order_release);
    set_range(address, size, true);
}

void ptxi_init_define(uint64_t address, uint64_t size)
{
    if (atomic_load_explicit(&used, memory_order_acquire))
        set_range(address, size, false);
}

bool ptxi_init_is_defined(uint64_t address, uint64_t size)
{
    while (size) {
        uint64_t offset = address & (PAGE - 1), n = PAGE - offset < size ? PAGE - offset : size;
        entry *e = entry_at(address, false);
        struct page *p = e ? atomic_load_explicit(e, memory_order_acquire) : NULL;

        if (p && (p == &all_undefined || !ptxi_init_is_zero(p->bytes + offset, n)))
            return false;
        address += n;
        size -= n;
    }
    return true;
}

void ptxi_init_get(uint64_t address, uint32_t size, unsigned char *shadow)
{
    uint32_t offset = (uint32_t)(address & (PAGE - 1)), n = PAGE - offset < size ? PAGE - offset : size;
    entry *e = entry_at(address, false);
    struct page *p = e ? atomic_load_explicit(e, memory_order_acquire) : NULL;

    if (p && p != &all_undefined)
        memcpy(shadow, p->bytes + offset, n);
    else
        memset(shadow, p ? 0xff : 0, n);
    if (n < size)
        ptxi_init_get(address + n, size - n, shadow + n);
}

void ptxi_init_set(uint64_t address, uint32_t size, const unsigned char *shadow)
{
    uint32_t offset = (uint32_t)(address & (PAGE - 1)), n = PAGE - offset < size ? PAGE - offset : size;
    bool undefined = false;

    for (uint32_t k = 0; k < n; k++)
        undefined |= shadow[k] != 0;
    entry *e = entry_at(address, undefined);
    struct page *p = e ? atomic_load_explicit(e, memory_order_acquire) : NULL;

    if (e && (p || undefined) && (p = own_page(e)))
        memcpy(p->bytes + offset, shadow, n);
    if (n < size)
        ptxi_init_set(address + n, size - n, shadow + n);
}

/* Ranges that do not overlap in this order. */
static void copy_bytes(uint64_t to, uint64_t from, uint64_t size, bool backwards)
{
    unsigned char shadow[16];

    for (uint64_t done = 0; done < size;) {
        uint32_t n = size - done < sizeof shadow ? (uint32_t)(size - done) : (uint32_t)sizeof shadow;
        uint64_t at = backwards ? size - done - n : done;

        ptxi_init_get(from + at, n, shadow);
        ptxi_init_set(to + at, n, shadow);
        done += n;
    }
}

void ptxi_init_copy(uint64_t to, uint64_t from, uint64_t size)
{
    bool backwards = to > from && to < from + size;

    if (!atomic_load_explicit(&used, memory_order_acquire))
        return;
    for (uint64_t done = 0; done < size;) {
        uint64_t n = size - done < PAGE ? size - done : PAGE;
        uint64_t at = backwards ? size - done - n : done;

        if (ptxi_init_is_defined(from + at, n))
            set_range(to + at, n, false);
        else
            copy_bytes(to + at, from + at, n, backwards);
        done += n;
    }
}
