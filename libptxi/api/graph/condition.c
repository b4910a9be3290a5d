#include "api/graph/condition.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>

enum { CONDITIONS = 4096 };

/* A handle is an index into this table, plus 1. */
static struct ptxi_condition {
    _Atomic unsigned refs, value;
    unsigned initial;
    bool assign_at_launch; /* set the value to `initial` at each launch */
} conditions[CONDITIONS];

static struct ptxi_condition *find_condition(ptxiGraphConditionalHandle handle)
{
    struct ptxi_condition *c = handle && handle <= CONDITIONS ? &conditions[handle - 1] : NULL;

    return c && atomic_load(&c->refs) ? c : NULL;
}

ptxiGraphConditionalHandle ptxi_condition_create(unsigned initial, bool assign_at_launch)
{
    for (unsigned k = 0; k < CONDITIONS; k++) {
        struct ptxi_condition *c = &conditions[k];
        unsigned unused = 0;

        if (!atomic_compare_exchange_strong(&c->refs, &unused, 1))
            continue;
        c->initial = initial;
        c->assign_at_launch = assign_at_launch;
        atomic_store(&c->value, initial);
        return k + 1;
    }
    return 0;
}

void ptxi_condition_ref(ptxiGraphConditionalHandle handle)
{
    assert(handle && handle <= CONDITIONS);
    atomic_fetch_add(&conditions[handle - 1].refs, 1);
}

void ptxi_condition_unref(ptxiGraphConditionalHandle handle)
{
    unsigned before;

    assert(handle && handle <= CONDITIONS);
    before = atomic_fetch_sub(&conditions[handle - 1].refs, 1);
    assert(before);
    (void)before;
}

bool ptxi_condition_is(ptxiGraphConditionalHandle handle)
{
    return find_condition(handle);
}

void ptxi_condition_set(ptxiGraphConditionalHandle handle, unsigned value)
{
    struct ptxi_condition *c = find_condition(handle);

    if (c)
        atomic_store(&c->value, value);
}

unsigned ptxi_condition_get(ptxiGraphConditionalHandle handle)
{
    assert(handle && handle <= CONDITIONS);
    return atomic_load(&conditions[handle - 1].value);
}

void ptxi_condition_begin_launch(ptxiGraphConditionalHandle handle)
{
    struct ptxi_condition *c = &conditions[handle - 1];

    assert(handle && handle <= CONDITIONS);
    if (c->assign_at_launch)
        atomic_store(&c->value, c->initial);
}
