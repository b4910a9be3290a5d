/* The register cache of a block: which parts of the frame are in vector registers. */
#include "native/builder.h"

#include <assert.h>
#include <limits.h>

unsigned ptxi_native_parts(const struct ptxi_native_builder *c, unsigned bits)
{
    return PTXI_LANES * bits / 8 / c->bytes;
}

int32_t ptxi_native_part(const struct ptxi_native_builder *c, unsigned slot, unsigned k)
{
    return (int32_t)(slot * PTXI_UNIT + k * c->bytes);
}

static struct ptxi_x86_rm in_frame(int32_t part)
{
    return ptxi_x86_at(PTXI_NATIVE_FRAME, part);
}

static void store(struct ptxi_native_builder *c, unsigned reg)
{
    ptxi_x86_vector(&c->x, PTXI_V_MOV_TO, reg, 0, in_frame(c->cache.part[reg]));
    c->cache.dirty &= ~(UINT32_C(1) << reg);
}

static unsigned find(const struct ptxi_native_builder *c, int32_t part)
{
    for (unsigned r = 0; r < c->registers; r++)
        if (c->cache.part[r] == part)
            return r;
    return UINT_MAX;
}

/* Whether register r is a better choice than `best` for a new value. */
static bool is_better(const struct ptxi_native_builder *c, unsigned r, unsigned best)
{
    const bool is_free = c->cache.part[r] == PTXI_NATIVE_NO_PART;

    if (best == UINT_MAX)
        return true;
    if (c->cache.part[best] == PTXI_NATIVE_NO_PART)
        return false;
    return is_free || c->used[r] < c->used[best];
}

static unsigned take(struct ptxi_native_builder *c, unsigned below)
{
    unsigned best = UINT_MAX;

    for (unsigned r = 0; r < below; r++)
        if (!((c->kept | c->kept_in_part) >> r & 1) && is_better(c, r, best))
            best = r;
    assert(best != UINT_MAX);
    if (c->cache.dirty >> best & 1)
        store(c, best);
    c->cache.part[best] = PTXI_NATIVE_NO_PART;
    c->used[best] = ++c->clock;
    return best;
}

unsigned ptxi_native_new(struct ptxi_native_builder *c)
{
    unsigned r = take(c, c->registers);

    c->kept |= UINT32_C(1) << r;
    return r;
}

unsigned ptxi_native_temporary(struct ptxi_native_builder *c)
{
    unsigned r = take(c, 16);

    c->kept_in_part |= UINT32_C(1) << r;
    return r;
}

unsigned ptxi_native_source(struct ptxi_native_builder *c, int32_t part)
{
    unsigned r = find(c, part);

    if (r == UINT_MAX) {
        r = take(c, c->registers);
        c->cache.part[r] = part;
        ptxi_x86_vector(&c->x, PTXI_V_MOV, r, 0, in_frame(part));
    }
    c->used[r] = ++c->clock;
    c->kept_in_part |= UINT32_C(1) << r;
    return r;
}

struct ptxi_x86_rm ptxi_native_operand(struct ptxi_native_builder *c, int32_t part)
{
    unsigned r = find(c, part);

    if (r == UINT_MAX)
        return in_frame(part);
    c->used[r] = ++c->clock;
    c->kept_in_part |= UINT32_C(1) << r;
    return ptxi_x86_reg(r);
}

void ptxi_native_define(struct ptxi_native_builder *c, int32_t part, unsigned reg)
{
    unsigned old = find(c, part);

    if (old != UINT_MAX) {
        c->cache.part[old] = PTXI_NATIVE_NO_PART;
        c->cache.dirty &= ~(UINT32_C(1) << old);
    }
    c->cache.part[reg] = part;
    c->cache.dirty |= UINT32_C(1) << reg;
}

unsigned ptxi_native_own(struct ptxi_native_builder *c, int32_t part)
{
    unsigned r = find(c, part);

    if (r != UINT_MAX)
        c->kept |= UINT32_C(1) << r;
    return r;
}

void ptxi_native_end_part(struct ptxi_native_builder *c)
{
    c->kept_in_part = 0;
}

void ptxi_native_sync(struct ptxi_native_builder *c, unsigned slot, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        unsigned r = find(c, ptxi_native_part(c, slot, k));

        if (r != UINT_MAX && c->cache.dirty >> r & 1)
            store(c, r);
    }
}

void ptxi_native_forget(struct ptxi_native_builder *c, unsigned slot, unsigned units)
{
    const int32_t from = (int32_t)(slot * PTXI_UNIT), to = (int32_t)((slot + units) * PTXI_UNIT);

    for (unsigned r = 0; r < c->registers; r++)
        if (c->cache.part[r] >= from && c->cache.part[r] < to) {
            c->cache.part[r] = PTXI_NATIVE_NO_PART;
            c->cache.dirty &= ~(UINT32_C(1) << r);
        }
}

void ptxi_native_flush(struct ptxi_native_builder *c)
{
    for (unsigned r = 0; r < c->registers; r++)
        if (c->cache.dirty >> r & 1)
            store(c, r);
}

void ptxi_native_drop(struct ptxi_native_builder *c)
{
    ptxi_native_flush(c);
    for (unsigned r = 0; r < PTXI_NATIVE_REGISTERS; r++)
        c->cache.part[r] = PTXI_NATIVE_NO_PART;
}

struct ptxi_x86_rm ptxi_native_frame(unsigned slot, unsigned offset)
{
    return in_frame((int32_t)(slot * PTXI_UNIT + offset));
}

struct ptxi_x86_rm ptxi_native_scalar(struct ptxi_native_builder *c, unsigned slot)
{
    ptxi_native_sync(c, slot, 1);
    return ptxi_native_frame(slot, 0);
}
