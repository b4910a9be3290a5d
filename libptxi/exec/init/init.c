#include "exec/init/init.h"

#include "exec/check/order.h"
#include "exec/finding/finding.h"
#include "exec/init/init_shadow.h"
#include "exec/init/init_value.h"
#include "exec/memmap/memmap.h"

static enum ptxi_finding_kind kind_of(unsigned use)
{
    switch (use) {
    case PTXI_INIT_BRANCH: return PTXI_FINDING_INIT_BRANCH;
    case PTXI_INIT_GUARD: return PTXI_FINDING_INIT_GUARD;
    case PTXI_INIT_ADDRESS: return PTXI_FINDING_INIT_ADDRESS;
    default: return PTXI_FINDING_INIT_OUTPUT;
    }
}

void ptxi_init_report(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned use, ptxi_lanes lanes, uint64_t address,
                      uint32_t size)
{
    struct ptxi_grid *g = w->cta->grid;
    bool output = use == PTXI_INIT_OUTPUT;
    struct ptxi_fault_report where = { .access = output ? PTXI_AK_STORE : PTXI_AK_NONE };

    if (!g->findings)
        return;
    ptxi_fault_locate(&where, w, w->frame->code, i, lanes);
    struct ptxi_finding f = {
        .kind = kind_of(use), .severity = PTXI_FINDING_ERROR, .site_count = 1,
        .sites = { ptxi_finding_site_at(&where) },
        .space = output ? PTXI_FINDING_GLOBAL : PTXI_FINDING_NO_SPACE, .address = address, .size = size,
    };

    ptxi_findings_add(g->findings, &f, g->code->name, g->gridid);
}

static bool has_result(const unsigned char *shadow, uint32_t size)
{
    uint32_t word = 0;

    for (uint32_t k = 0; k + sizeof word <= size && word != PTXI_INIT_UNDEFINED_RESULT; k += sizeof word)
        memcpy(&word, shadow + k, sizeof word);
    return word == PTXI_INIT_UNDEFINED_RESULT;
}

void ptxi_init_set_global(const struct ptxi_warp *w, uint64_t address, uint32_t size, const unsigned char *shadow)
{
    struct ptxi_mem_region r;

    if (!ptxi_init_is_zero(shadow, size) && ptxi_memmap_find(w->cta->grid->memmap, address, &r) == PTXI_MEMMAP_INSIDE &&
        ptxi_mem_is_of_device(&r))
        ptxi_init_set(address, size, shadow);
    else if (!ptxi_init_is_defined(address, size))
        ptxi_init_define(address, size);
}

void ptxi_init_store_global(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address,
                            uint32_t size, const unsigned char *from, bool computed)
{
    if (ptxi_init_is_zero(from, size) || !(computed || has_result(from, size))) {
        ptxi_init_set_global(w, address, size, from);
        return;
    }
    ptxi_init_report(w, i, PTXI_INIT_OUTPUT, (ptxi_lanes)1 << lane, address, size);
    ptxi_init_define(address, size); /* it is reported once */
}

static unsigned char *shadow_of(const struct ptxi_init_place *p, uint32_t size)
{
    struct ptxi_check_cta *k = p->shared->check;

    if (!k || !k->undefined || p->address > k->undefined_bytes || size > k->undefined_bytes - p->address)
        return NULL;
    return k->undefined + p->address;
}

unsigned char *ptxi_init_shared(const struct ptxi_warp *w, uint64_t address, uint32_t size)
{
    struct ptxi_cta *c = ptxi_cta_of_shared(w->cta, &address);

    return c ? shadow_of(&(struct ptxi_init_place){ c, address }, size) : NULL;
}

void ptxi_init_shared_seen(const struct ptxi_warp *w, uint64_t address, uint64_t size)
{
    enum { TRIES = 4 };
    struct ptxi_check_cta *k = ptxi_cta_of_shared(w->cta, &address)->check;
    struct ptxi_defined_lines *d = &k->defined;
    uint64_t end = (address + size - 1) / PTXI_DEFINED_LINE;

    if (!d->since || end >= d->count || d->tries++ % TRIES) /* it costs more than the access */
        return;
    for (uint64_t n = address / PTXI_DEFINED_LINE; n <= end; n++) {
        uint64_t first = n * PTXI_DEFINED_LINE, bytes = k->undefined_bytes - first;

        if (d->since[n] == d->now ||
            !ptxi_init_is_zero(k->undefined + first, bytes < PTXI_DEFINED_LINE ? bytes : PTXI_DEFINED_LINE))
            continue;
        d->since[n] = d->now;
        d->known++;
    }
}

void ptxi_init_shared_spoilt(struct ptxi_cta *c)
{
    for (uint32_t m = 0; m < c->lead->member_count; m++)
        if (c->lead->members[m]->check)
            ptxi_defined_lines_forget(&c->lead->members[m]->check->defined);
}

unsigned char *ptxi_init_local(const struct ptxi_warp *w, unsigned lane, uint64_t address, uint32_t size)
{
    const struct ptxi_check_cta *k = w->cta->check;

    if (!k || !k->local_undefined || address > w->local_stride || size > w->local_stride - address)
        return NULL;
    return k->local_undefined + (w->local - w->cta->local) + lane * w->local_stride + address;
}

unsigned char *ptxi_init_own_shared(const struct ptxi_warp *w)
{
    const struct ptxi_check_cta *k = w->cta->check;

    return k && k->undefined && w->shared_size <= k->undefined_bytes ? k->undefined : NULL;
}

unsigned char *ptxi_init_bytes(const struct ptxi_init_place *p, uint32_t size)
{
    return p->shared ? shadow_of(p, size) : NULL;
}

void ptxi_init_note_write(const struct ptxi_init_place *to, uint32_t size)
{
    unsigned char *shadow = ptxi_init_bytes(to, size);

    if (shadow)
        memset(shadow, 0, size);
    else if (!to->shared)
        ptxi_init_define(to->address, size);
}

void ptxi_init_note_undefined(const struct ptxi_init_place *to, uint32_t size)
{
    unsigned char *shadow = ptxi_init_bytes(to, size);

    if (!shadow || !size)
        return;
    ptxi_init_shared_spoilt(to->shared);
    memset(shadow, 0xff, size);
}

void ptxi_init_get_bytes(const struct ptxi_init_place *from, uint32_t size, unsigned char *shadow)
{
    const unsigned char *own = ptxi_init_bytes(from, size);

    if (own)
        memcpy(shadow, own, size);
    else if (from->shared)
        memset(shadow, 0, size);
    else
        ptxi_init_get(from->address, size, shadow);
}

void ptxi_init_set_bytes(const struct ptxi_warp *w, const struct ptxi_init_place *to, uint32_t size,
                         const unsigned char *shadow)
{
    unsigned char *own = ptxi_init_bytes(to, size);

    if (own && !ptxi_init_is_zero(shadow, size))
        ptxi_init_shared_spoilt(to->shared);
    if (own)
        memcpy(own, shadow, size);
    else if (!to->shared)
        ptxi_init_set_global(w, to->address, size, shadow);
}

void ptxi_init_note_copy(const struct ptxi_warp *w, const struct ptxi_init_place *to,
                         const struct ptxi_init_place *from, uint32_t size)
{
    unsigned char shadow[16];
    uint32_t n;

    for (uint32_t at = 0; at < size; at += n) {
        struct ptxi_init_place a = { to->shared, to->address + at }, b = { from->shared, from->address + at };

        n = size - at < sizeof shadow ? size - at : (uint32_t)sizeof shadow;
        ptxi_init_get_bytes(&b, n, shadow);
        ptxi_init_set_bytes(w, &a, n, shadow);
    }
}
