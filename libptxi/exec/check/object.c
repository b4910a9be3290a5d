#include "exec/check/object.h"

#include <inttypes.h>
#include <stdio.h>

#include "exec/finding/finding.h"
#include "exec/engine/address_space.h"
#include "exec/engine/cta.h"
#include "exec/memmap/annotation.h"
#include "exec/memmap/memmap.h"

/* Whether pointers to the region may be used for other ones: parts of a range of virtual memory, and memory of the
 * host, which can be registered in parts. */
static bool has_loose_bounds(const struct ptxi_mem_region *r)
{
    return r->flags & (PTXI_MEM_MAPPED | PTXI_MEM_HOST | PTXI_MEM_OPEN);
}

static bool find_region(const struct ptxi_warp *w, uint64_t address, struct ptxi_mem_region *r)
{
    return ptxi_memmap_find(w->cta->grid->memmap, address, r) == PTXI_MEMMAP_INSIDE && !(r->flags & PTXI_MEM_FREED) &&
           ptxi_annotation_narrow(address, r);
}

struct ptxi_object_bounds ptxi_object_at(const struct ptxi_warp *w, uint64_t address)
{
    enum { KEPT = 8 };
    static _Thread_local struct kept {
        const struct ptxi_memmap *map;
        uint64_t generation, address;
        struct ptxi_object_bounds bounds;
    } kept[KEPT];
    const struct ptxi_memmap *map = w->cta->grid->memmap;
    uint64_t generation = ptxi_memmap_generation(map);
    struct kept *k = &kept[(address >> 9 ^ address >> 13 ^ address >> 21) % KEPT];
    struct ptxi_mem_region r;

    if (k->address == address && k->generation == generation && k->map == map)
        return k->bounds;
    if (!find_region(w, address, &r) || has_loose_bounds(&r))
        return (struct ptxi_object_bounds){ 0, 0 };
    *k = (struct kept){ map, generation, address, { r.base, r.base + r.size } };
    return k->bounds;
}

bool ptxi_object_is_of_host(const struct ptxi_warp *w, uint64_t address)
{
    static _Thread_local struct kept_host {
        const struct ptxi_memmap *map;
        uint64_t generation, base, size;
        bool host;
    } kept;
    const struct ptxi_memmap *map = w->cta->grid->memmap;
    uint64_t generation = ptxi_memmap_generation(map);
    struct ptxi_mem_region r;

    if (address - kept.base < kept.size && kept.generation == generation && kept.map == map)
        return kept.host;
    if (!find_region(w, address, &r))
        return false;
    kept = (struct kept_host){ map, generation, r.base, r.size, r.flags & (PTXI_MEM_HOST | PTXI_MEM_MANAGED |
                                                                           PTXI_MEM_OPEN) };
    return kept.host;
}

enum origin { IS_OTHER, IS_OF_ANOTHER_OBJECT, IS_OF_THE_OBJECT };

/* Compares a value with the region of an access. *from: its own region if it is a pointer to another object. */
static enum origin compare(const struct ptxi_warp *w, uint64_t value, const struct ptxi_mem_region *accessed,
                           struct ptxi_mem_region *from)
{
    struct ptxi_mem_region r;

    if (!find_region(w, value, &r))
        return IS_OTHER;
    if (r.base == accessed->base || has_loose_bounds(&r))
        return IS_OF_THE_OBJECT;
    *from = r;
    return IS_OF_ANOTHER_OBJECT;
}

/* Whether a lane's access to a region is none to an object of its origins. */
static bool is_stray(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                     const uint64_t *const origins[PTXI_OBJECT_ORIGINS], const struct ptxi_mem_region *accessed,
                     struct ptxi_mem_region *from)
{
    unsigned pointers = 0, loaded = 0;

    for (unsigned k = 0; k < PTXI_OBJECT_ORIGINS && origins[k]; k++) {
        enum origin o = compare(w, origins[k][lane], accessed, from);

        if (o == IS_OF_THE_OBJECT)
            return false;
        pointers += o == IS_OF_ANOTHER_OBJECT;
        loaded += o == IS_OF_ANOTHER_OBJECT && i->mods >> (PTXI_OBJECT_LOADED_SHIFT + k) & 1;
    }
    return pointers && (pointers == 1 || !loaded) && !has_loose_bounds(accessed);
}

static void report(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address,
                   const struct ptxi_mem_region *accessed, const struct ptxi_mem_region *from)
{
    struct ptxi_grid *g = w->cta->grid;
    struct ptxi_fault_report where = { .access = i->mods & PTXI_CHECK_WRITE ? PTXI_AK_STORE : PTXI_AK_LOAD };
    uint32_t bytes = i->mods & PTXI_CHECK_BYTES;
    char detail[120];

    ptxi_fault_locate(&where, w, w->frame->code, i, (ptxi_lanes)1 << lane);
    snprintf(detail, sizeof detail, "it is in another allocation, of %" PRIu64 " bytes at 0x%" PRIx64, accessed->size,
             accessed->base);
    ptxi_findings_add(g->findings, &(struct ptxi_finding){
        .kind = PTXI_FINDING_STRAY, .severity = PTXI_FINDING_ERROR, .site_count = 1,
        .sites = { ptxi_finding_site_at(&where) }, .space = PTXI_FINDING_GLOBAL, .address = address,
        .size = bytes ? bytes : PTXI_CHECK_BYTES + 1, .object = from->base, .object_size = from->size,
        .detail = detail }, g->code->name, g->gridid);
}

void ptxi_object_check(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *addresses,
                       const uint64_t *const origins[PTXI_OBJECT_ORIGINS])
{
    struct ptxi_mem_region accessed, from = { .size = 0 };

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t address = addresses[l] + (uint64_t)(int64_t)i->imm;

        if (address < PTXI_SHARED_WINDOW && find_region(w, address, &accessed) &&
            is_stray(w, i, l, origins, &accessed, &from))
            report(w, i, l, address, &accessed, &from);
    }
}

/* --- shared and .local variables --- */

/* The bounds in a slot, if they are of a variable in this memory. False: there are none. */
static bool has_bounds(const struct ptxi_warp *w, uint16_t slot, unsigned lane, bool local, uint64_t *start,
                       uint64_t *end)
{
    uint64_t bounds, base = local ? w->frame->local_base : 0;

    if (slot == PTXI_NO_SLOT)
        return false;
    bounds = ((const uint64_t *)PTXI_SLOT(w, slot))[lane];
    *start = (uint32_t)bounds + base;
    *end = ((bounds & ~PTXI_OBJECT_LOCAL) >> 32) + base;
    return !!(bounds & PTXI_OBJECT_LOCAL) == local;
}

/* The name of the variable of the source with these bounds. NULL: it is not known. */
static const char *find_name(const struct ptxi_warp *w, struct ptxi_object_bounds b)
{
    const struct ptxi_code *c = w->frame->code;

    for (uint32_t k = 0; k < c->part_count; k++)
        if (w->frame->local_base + c->parts[k].start == b.base && w->frame->local_base + c->parts[k].end == b.end)
            return c->parts[k].name;
    return NULL;
}

static void report_variable(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address,
                            struct ptxi_object_bounds of, bool local)
{
    struct ptxi_grid *g = w->cta->grid;
    struct ptxi_fault_report where = { .access = i->mods & PTXI_CHECK_WRITE ? PTXI_AK_STORE : PTXI_AK_LOAD };
    uint32_t bytes = i->mods & PTXI_CHECK_BYTES;
    const char *name = local ? find_name(w, of) : NULL;
    char detail[120];

    snprintf(detail, sizeof detail, "it is outside of the %s variable", local ? "local" : "shared");
    if (name)
        snprintf(detail, sizeof detail, "it is outside of the local variable '%.60s'", name);
    ptxi_fault_locate(&where, w, w->frame->code, i, (ptxi_lanes)1 << lane);
    ptxi_findings_add(g->findings, &(struct ptxi_finding){
        .kind = PTXI_FINDING_STRAY, .severity = PTXI_FINDING_ERROR, .site_count = 1,
        .sites = { ptxi_finding_site_at(&where) }, .space = local ? PTXI_FINDING_LOCAL : PTXI_FINDING_SHARED,
        .address = address, .size = bytes ? bytes : PTXI_CHECK_BYTES + 1, .object = of.base,
        .object_size = of.end - of.base,
        .detail = detail },
        g->code->name, g->gridid);
}

/* Whether an access is outside of all variables of its origins. *of: one of them. */
static bool leaves_variables(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address,
                             bool local, struct ptxi_object_bounds *of)
{
    const uint16_t slots[PTXI_OBJECT_ORIGINS] = { i->b, i->c, i->d };
    uint64_t bytes = i->mods & PTXI_CHECK_BYTES, size = bytes ? bytes : PTXI_CHECK_BYTES + 1, start, end;
    bool any = false;

    for (unsigned k = 0; k < PTXI_OBJECT_ORIGINS; k++) {
        if (!has_bounds(w, slots[k], lane, local, &start, &end))
            continue;
        if (address >= start && address + size <= end)
            return false;
        *of = (struct ptxi_object_bounds){ start, end };
        any = true;
    }
    return any;
}

void ptxi_object_check_variables(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *addresses,
                                 ptxi_lanes lanes, bool local)
{
    const struct ptxi_grid *g = w->cta->grid;
    uint64_t all = local ? w->local_stride : (uint64_t)g->code->shared_base + g->code->shared_bytes + g->dynamic_shared;
    struct ptxi_object_bounds of;

    for (; lanes; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes);

        /* the access itself reports addresses outside of the memory */
        if (addresses[l] >= all || !leaves_variables(w, i, l, addresses[l], local, &of))
            continue;
        report_variable(w, i, l, addresses[l], of, local);
        return;
    }
}
