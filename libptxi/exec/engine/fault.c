/* Reports of failed launches. The first fault of a launch is the one reported. */
#include <stdio.h>
#include <string.h>

#include "exec/memory/access.h"

static void describe_neighbour(struct ptxi_fault_report *r, struct ptxi_memmap *memmap)
{
    struct ptxi_mem_region near;

    if (ptxi_memmap_find(memmap, r->address, &near) == PTXI_MEMMAP_EMPTY)
        return;
    r->near_base = near.base;
    r->near_size = near.size;
    r->near_freed = near.flags & PTXI_MEM_FREED;
}

static bool concerns_global_memory(enum ptxi_fault_kind kind, uint64_t address)
{
    return (kind == PTXI_FK_OUT_OF_BOUNDS || kind == PTXI_FK_FREED || kind == PTXI_FK_READ_ONLY ||
            kind == PTXI_FK_MISALIGNED) &&
           address >= 4096 && address < PTXI_SHARED_WINDOW;
}

void ptxi_fault_locate(struct ptxi_fault_report *r, const struct ptxi_warp *w, const struct ptxi_code *code,
                       const struct ptxi_insn *i, ptxi_lanes lanes)
{
    const uint32_t *block = w->cta->grid->block;
    uint32_t t = w->first_thread + ptxi_first_lane(lanes ? lanes : 1);

    r->code = code;
    if (i >= code->insns && i < code->insns + code->count)
        r->loc = code->locs[i - code->insns];
    memcpy(r->ctaid, w->cta->ctaid, sizeof r->ctaid);
    r->tid[0] = t % block[0];
    r->tid[1] = t / block[0] % block[1];
    r->tid[2] = t / block[0] / block[1];
    r->thread_count = (uint32_t)__builtin_popcountll(lanes);
}

void ptxi_fault_describe(struct ptxi_fault_report *r, enum ptxi_fault_kind kind, uint64_t address, uint32_t size,
                         const char *detail, struct ptxi_memmap *memmap)
{
    r->kind = kind;
    r->address = address;
    r->access_size = size;
    r->is_store = detail && !strcmp(detail, "store");
    if (memmap && concerns_global_memory(kind, address))
        describe_neighbour(r, memmap);
    if (detail)
        snprintf(r->detail, sizeof r->detail, "%s", detail);
}

bool ptxi_grid_fail(struct ptxi_grid *g)
{
    uint32_t none = 0;

    return atomic_compare_exchange_strong(&g->failed, &none, 1);
}

static void report(struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i, enum ptxi_fault_kind kind, ptxi_lanes lanes,
                   uint64_t address, uint32_t size, const char *detail, const struct ptxi_area *area)
{
    struct ptxi_grid *g = w->cta->grid;
    struct ptxi_fault_report *r = &g->report;

    if (!ptxi_grid_fail(g))
        return;
    ptxi_fault_locate(r, w, code, i, lanes);
    ptxi_fault_describe(r, kind, address, size, detail, area ? NULL : g->memmap);
    if (area) {
        r->area = area->name;
        r->near_base = area->base;
        r->near_size = area->size - area->base;
    }
}

const struct ptxi_insn *ptxi_fault_in(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_fault_kind kind, ptxi_lanes lanes, uint64_t address,
                                      uint32_t size, const char *detail, const struct ptxi_area *area)
{
    w->event = PTXI_EVENT_FAULT;
    report(w, w->frame->code, i, kind, lanes, address, size, detail, area);
    return w->stop;
}

void ptxi_fault_later(struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i, enum ptxi_fault_kind kind, ptxi_lanes lanes,
                      uint64_t address, uint32_t size, const char *detail)
{
    report(w, code, i, kind, lanes, address, size, detail, NULL);
}

const struct ptxi_insn *ptxi_fault(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_fault_kind kind, ptxi_lanes lanes, uint64_t address,
                                   uint32_t size, const char *detail)
{
    return ptxi_fault_in(w, i, kind, lanes, address, size, detail, NULL);
}
