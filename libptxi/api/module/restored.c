#include "api/module/restored.h"

#include "api/memory/heap.h"

#include "base/hash.h"

#include <stdlib.h>
#include <sys/mman.h>

uint64_t ptxi_module_hash(const struct ptxiModule_st *m)
{
    const uint64_t options[] = { m->contract, m->as_written, (uint64_t)m->profile->sm, m->profile->reserved };
    uint64_t h = ptxi_hash_stable(m->texts.count, options, sizeof options);

    for (uint32_t k = 0; k < m->texts.count; k++)
        h = ptxi_hash_stable(h ^ m->texts.at[k].size, m->texts.at[k].s, m->texts.at[k].size);
    return h;
}

char *ptxi_restored_reserve(uint64_t at, size_t bytes)
{
    void *wanted = (void *)(uintptr_t)at;
    void *p = mmap(wanted, bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0), -1, 0);

    if (p != MAP_FAILED && at && p != wanted)
        munmap(p, bytes);
    return p == MAP_FAILED || (at && p != wanted) ? NULL : p;
}

void ptxi_restored_unreserve(char *addresses, size_t bytes)
{
    if (addresses)
        munmap(addresses, bytes);
}

/* The block of a variable that no module has. Under the context's lock. */
static struct ptxi_heap_block *find_block(ptxiContext ctx, uint64_t address, uint64_t size)
{
    for (struct ptxi_heap_block *b = ctx->blocks; b; b = b->next)
        if (b->kind == PTXI_HEAP_MODULE && !b->module && address - b->base < b->size &&
            size <= b->size - (address - b->base))
            return b;
    return NULL;
}

static uint64_t global_size(const struct ptxiModule_st *m, uint32_t i)
{
    return m->layout->globals[i].var->size;
}

/* Whether the context still has the memory of all variables. */
static bool has_blocks(const struct ptxiModule_st *m, const struct ptxi_restored *r)
{
    if (r->count != m->layout->global_count || !r->constants != !m->layout->const_bytes ||
        (r->constants && !find_block(m->ctx, r->constants, m->layout->const_bytes)))
        return false;
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->globals[i] != !global_size(m, i) ||
            (r->globals[i] && !find_block(m->ctx, r->globals[i], global_size(m, i))))
            return false;
    return true;
}

static void take_blocks(struct ptxiModule_st *m, const struct ptxi_restored *r)
{
    m->constants = r->constants ? find_block(m->ctx, r->constants, m->layout->const_bytes) : NULL;
    if (m->constants)
        m->constants->module = m;
    for (uint32_t i = 0; i < r->count; i++) {
        m->globals[i] = r->globals[i];
        if (r->globals[i])
            find_block(m->ctx, r->globals[i], global_size(m, i))->module = m;
    }
}

/* Moves the functions of the module, which may have some of these addresses. False: something else has them. */
static bool move_functions(struct ptxiModule_st *m, uint64_t to)
{
    size_t bytes = PTXI_FUNCTION_BYTES(m->tree);

    if ((uintptr_t)m->function_addresses == to)
        return true;
    ptxi_restored_unreserve(m->function_addresses, bytes);
    m->function_addresses = ptxi_restored_reserve(to, bytes);
    if (m->function_addresses)
        return true;
    m->function_addresses = ptxi_restored_reserve(0, bytes);
    return false;
}

bool ptxi_restored_take(struct ptxiModule_st *m)
{
    ptxiContext ctx = m->ctx;
    struct ptxi_restored *found = NULL;

    pthread_mutex_lock(&ctx->lock);
    uint64_t hash = ctx->restored ? ptxi_module_hash(m) : 0;

    for (struct ptxi_restored **p = &ctx->restored; *p && !found; p = found ? p : &(*p)->next)
        if ((*p)->hash == hash && has_blocks(m, *p) && move_functions(m, (*p)->functions)) {
            found = *p;
            *p = found->next;
        }
    if (found)
        take_blocks(m, found);
    pthread_mutex_unlock(&ctx->lock);
    bool taken = found;

    free(found);
    return taken;
}

void ptxi_restored_free_all(ptxiContext ctx)
{
    while (ctx->restored) {
        struct ptxi_restored *r = ctx->restored;

        ctx->restored = r->next;
        free(r);
    }
}
