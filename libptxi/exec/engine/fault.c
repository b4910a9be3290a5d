/* Reports of failed launches. The first fault of a launch is reported. */
#include "exec/engine/fault_report.h"

#include <stdio.h>
#include <string.h>

#include "exec/engine/address_space.h"
#include "exec/engine/cta.h"
#include "exec/engine/divergence.h"
#include "exec/memmap/annotation.h"
#include "exec/memmap/memmap.h"

static void describe_nearest_allocation(struct ptxi_fault_report *r, struct ptxi_memmap *memmap)
{
    struct ptxi_mem_region near;

    enum ptxi_memmap_hit hit = ptxi_memmap_find(memmap, r->address, &near);

    if (hit == PTXI_MEMMAP_EMPTY || (hit == PTXI_MEMMAP_INSIDE && !ptxi_annotation_narrow(r->address, &near)))
        return;
    r->near_base = near.base;
    r->near_size = near.size;
    r->near_freed = near.flags & PTXI_MEM_FREED;
    uint64_t peers = (near.devices & ~PTXI_ON_NO_DEVICE) >> PTXI_MAX_DEVICES;

    r->near_device = peers ? __builtin_ctzll(peers) : -1;
}

static bool concerns_global_memory(enum ptxi_fault_kind kind, uint64_t address)
{
    return (kind == PTXI_FK_OUT_OF_BOUNDS || kind == PTXI_FK_FREED || kind == PTXI_FK_READ_ONLY ||
            kind == PTXI_FK_PEER || kind == PTXI_FK_MISALIGNED) &&
           address >= 4096 && address < PTXI_SHARED_WINDOW;
}

void ptxi_fault_locate(struct ptxi_fault_report *r, const struct ptxi_warp *w, const struct ptxi_code *code,
                       const struct ptxi_insn *i, ptxi_lanes lanes)
{
    r->code = code;
    if (i >= code->insns && i < code->insns + code->count) {
        r->at = (uint32_t)(i - code->insns);
        r->loc = code->locs[r->at];
    }
    memcpy(r->ctaid, w->cta->ctaid, sizeof r->ctaid);
    ptxi_grid_thread_index(w->cta->grid, w->first_thread + ptxi_first_lane(lanes ? lanes : 1), r->tid);
    r->thread_count = (uint32_t)__builtin_popcountll(lanes);
}

void ptxi_fault_describe(struct ptxi_fault_report *r, enum ptxi_fault_kind kind, uint64_t address, uint32_t size,
                         enum ptxi_access access, const char *detail, struct ptxi_memmap *memmap)
{
    r->kind = kind;
    r->access = access;
    r->address = address;
    r->access_size = size;
    if (memmap && concerns_global_memory(kind, address))
        describe_nearest_allocation(r, memmap);
    if (detail)
        snprintf(r->detail, sizeof r->detail, "%s", detail);
}

void ptxi_fault_describe_access(struct ptxi_fault_report *r, enum ptxi_fault_kind kind, uint64_t address,
                                uint32_t size, enum ptxi_access access, const struct ptxi_fault_area *area,
                                struct ptxi_memmap *memmap)
{
    ptxi_fault_describe(r, kind, address, size, access, NULL, area ? NULL : memmap);
    if (area) {
        r->space = area->space;
        r->area = area->name;
        r->near_base = area->base;
        r->near_size = area->size - area->base;
    }
}

/* Where a fault happened. */
struct place {
    const struct ptxi_code *code;
    const struct ptxi_insn *insn;
    ptxi_lanes lanes;
};

static void report_access(struct ptxi_warp *w, struct place place, enum ptxi_fault_kind kind, uint64_t address,
                          uint32_t size,
                          enum ptxi_access access, const struct ptxi_fault_area *area)
{
    struct ptxi_grid *g = w->cta->grid;
    struct ptxi_fault_report *r = &g->report;

    if (!ptxi_grid_fail(g))
        return;
    ptxi_fault_locate(r, w, place.code, place.insn, place.lanes);
    ptxi_fault_describe_access(r, kind, address, size, access, area, g->memmap);
}

void ptxi_fault_async_access(struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i,
                             enum ptxi_fault_kind kind,
                             ptxi_lanes lanes, uint64_t address, uint32_t size, enum ptxi_access access)
{
    report_access(w, (struct place){ code, i, lanes }, kind, address, size, access, NULL);
}

const struct ptxi_insn *ptxi_fault_access(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_fault_kind kind,
                                          ptxi_lanes lanes, uint64_t address, uint32_t size, enum ptxi_access access,
                                          const struct ptxi_fault_area *area)
{
    w->event = PTXI_EVENT_FAULT;
    report_access(w, (struct place){ w->frame->code, i, lanes }, kind, address, size, access, area);
    return w->stop;
}

const struct ptxi_insn *ptxi_fault(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_fault_kind kind,
                                   ptxi_lanes lanes,
                                   uint64_t address, uint32_t size, const char *detail)
{
    struct ptxi_grid *g = w->cta->grid;

    w->event = PTXI_EVENT_FAULT;
    if (ptxi_grid_fail(g)) {
        ptxi_fault_locate(&g->report, w, w->frame->code, i, lanes);
        ptxi_fault_describe(&g->report, kind, address, size, PTXI_AK_NONE, detail, g->memmap);
    }
    return w->stop;
}
