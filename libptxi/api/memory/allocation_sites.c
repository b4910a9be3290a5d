#include "api/memory/allocation_sites.h"

#include "api/observe/host_stack.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { KEPT = 1 << 13, SHOWN = 8 /* calls */ };

struct site {
    uint64_t base, size;
    struct ptxi_host_stack *stack;
};

static _Atomic bool enabled;
static struct site *ring; /* of KEPT; the oldest is replaced */
static uint64_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the ring */

void ptxi_allocation_sites_enable(void)
{
    atomic_store(&enabled, true);
}

void ptxi_allocation_sites_note(uint64_t base, uint64_t size)
{
    struct site new = { base, size, NULL }, dropped;

    if (!atomic_load_explicit(&enabled, memory_order_relaxed) || !(new.stack = ptxi_host_stack_take()))
        return;
    dropped = new;
    pthread_mutex_lock(&lock);
    if (!ring)
        ring = calloc(KEPT, sizeof *ring);
    if (ring) {
        dropped = ring[count % KEPT];
        ring[count++ % KEPT] = new;
    }
    pthread_mutex_unlock(&lock);
    ptxi_host_stack_free(dropped.stack);
}

static const struct site *find(uint64_t address)
{
    uint64_t oldest = count > KEPT ? count - KEPT : 0;

    for (uint64_t k = count; k-- > oldest;)
        if (address - ring[k % KEPT].base < ring[k % KEPT].size)
            return &ring[k % KEPT];
    return NULL;
}

bool ptxi_allocation_sites_print(uint64_t address, struct ptxi_str *out)
{
    struct ptxi_host_stack *s = NULL;

    pthread_mutex_lock(&lock);
    const struct site *x = find(address);

    if (x)
        s = ptxi_host_stack_copy(x->stack);
    pthread_mutex_unlock(&lock);
    if (s)
        ptxi_host_stack_print(s, SHOWN, out);
    ptxi_host_stack_free(s);
    return s != NULL;
}
