#include "api/module/bindings.h"

#include "api/module/provider.h"

#include <assert.h>
#include <stdlib.h>

void ptxi_bindings_unref(struct ptxi_bindings *b)
{
    if (!b)
        return;
    unsigned before = atomic_fetch_sub(&b->refs, 1);

    assert(before);
    if (before != 1)
        return;
    for (uint32_t i = 0; i < b->count; i++)
        ptxi_host_unref(b->hosts[i]);
    free(b->hosts);
    free(b);
}

void ptxi_bindings_set(ptxiModule m, struct ptxi_bindings *b, uint32_t function, struct ptxi_host *h)
{
    assert(function < b->count);
    ptxi_host_unref(b->hosts[function]);
    b->hosts[function] = h;
    if (h)
        b->at[function] = (struct ptxi_binding){ ptxi_host_call, h };
    else
        b->at[function].call = ptxi_provider_find(m->tree->funcs[function]->name->s, &b->at[function].user);
}

static bool has_body(const struct ptxi_func *f)
{
    while (f->alias_of)
        f = f->alias_of;
    return f->has_body;
}

struct ptxi_bindings *ptxi_bindings_copy(ptxiModule m, const struct ptxi_bindings *from)
{
    static _Atomic uint64_t ids;
    uint32_t count = m->tree->func_count;
    struct ptxi_bindings *b = calloc(1, sizeof *b + count * sizeof *b->at);

    if (!b || !(b->hosts = calloc(count + 1, sizeof *b->hosts))) {
        free(b);
        return NULL;
    }
    b->refs = 1;
    b->id = atomic_fetch_add(&ids, 1) + 1;
    b->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct ptxi_host *h = from ? from->hosts[i] : NULL;

        if (h)
            atomic_fetch_add(&h->refs, 1);
        if (!has_body(m->tree->funcs[i]))
            ptxi_bindings_set(m, b, i, h);
    }
    return b;
}

struct ptxi_bindings *ptxi_bindings_current(ptxiModule m)
{
    if (!m->bindings)
        m->bindings = ptxi_bindings_copy(m, NULL);
    return m->bindings;
}

struct ptxi_bindings *ptxi_bindings_of(ptxiModule m)
{
    pthread_mutex_lock(&m->lock);
    struct ptxi_bindings *b = ptxi_bindings_current(m);

    if (b)
        atomic_fetch_add(&b->refs, 1);
    pthread_mutex_unlock(&m->lock);
    return b;
}
