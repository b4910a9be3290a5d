#include "exec/sched/store_buffer.h"

/* An access to memory with one register per lane. bytes 0: another instruction. */
struct access {
    enum { GLOBAL, GENERIC, SHARED } space;
    unsigned bytes;
    bool store;
};

static struct access access_of(const struct ptxi_insn *i)
{
    switch (i->op) {
#define WIDTH(SPACE, space, bits)                                                  \
    case PTXI_OP_ld_##space##_##bits: return (struct access){ SPACE, bits / 8, false }; \
    case PTXI_OP_st_##space##_##bits: return (struct access){ SPACE, bits / 8, true };
#define WIDTHS(SPACE, space) WIDTH(SPACE, space, 16) WIDTH(SPACE, space, 32) WIDTH(SPACE, space, 64)
    WIDTHS(GLOBAL, global)
    WIDTHS(GENERIC, generic)
    WIDTHS(SHARED, shared)
#undef WIDTHS
#undef WIDTH
    default: return (struct access){ .bytes = 0 };
    }
}

static unsigned address_bytes(struct access x)
{
    return x.space == SHARED ? 4 : 8;
}

/* The addresses [from, to) of all lanes. */
struct range {
    uint64_t from, to;
};

static struct range address_range(const struct ptxi_warp *w, const struct ptxi_insn *i, struct access x)
{
    struct range r = { UINT64_MAX, 0 };

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        const unsigned char *a = (const unsigned char *)PTXI_SLOT(w, i->a) + ptxi_first_lane(left) * address_bytes(x);
        uint64_t at = (address_bytes(x) == 4 ? *(const uint32_t *)a : *(const uint64_t *)a) + (uint64_t)(int64_t)i->imm;

        r.from = at < r.from ? at : r.from;
        r.to = at + x.bytes > r.to ? at + x.bytes : r.to;
    }
    return r;
}

/* Whether two registers share slots. Their sizes are in bytes per lane. */
static bool registers_overlap(unsigned slot, unsigned bytes, unsigned other, unsigned other_bytes)
{
    return slot < other + other_bytes / 2 && other < slot + bytes / 2;
}

bool ptxi_store_buffer_may_delay(const struct ptxi_warp *w, const struct ptxi_insn *store)
{
    const struct ptxi_insn *load = store + 1;
    struct access st = access_of(store), ld;
    struct range written, read;

    if (!st.store || load == w->stop)
        return false;
    ld = access_of(load);
    if (!ld.bytes || ld.store || ld.space != st.space || registers_overlap(load->d, ld.bytes, store->b, st.bytes) ||
        registers_overlap(load->d, ld.bytes, store->a, address_bytes(st)))
        return false;
    written = address_range(w, store, st);
    read = address_range(w, load, ld);
    return written.to <= read.from || read.to <= written.from;
}
