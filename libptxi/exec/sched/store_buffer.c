#include "exec/sched/store_buffer.h"

#include "exec/memory/address_register.h"
#include "isa/isa.h"

/* The flags of an instruction that accesses memory with one register per lane, or 0 for another instruction. */
static unsigned access_flags(const struct ptxi_insn *i)
{
    const unsigned spaces = PTXI_OP_FLAG_GLOBAL | PTXI_OP_FLAG_SHARED | PTXI_OP_FLAG_GENERIC;
    unsigned flags = ptxi_op_flags[i->op];

    return flags & spaces ? flags : 0;
}

static bool same_space(unsigned flags, unsigned other)
{
    return !((flags ^ other) & (PTXI_OP_FLAG_GLOBAL | PTXI_OP_FLAG_SHARED | PTXI_OP_FLAG_GENERIC));
}

/* PTXI_OP_FLAG_BYTES_2, _4 and _8 are adjacent bits. */
static unsigned register_bytes(unsigned flags)
{
    return flags / PTXI_OP_FLAG_BYTES_2 % 8 * 2;
}

static unsigned address_bytes(unsigned flags)
{
    return flags & PTXI_OP_FLAG_SHARED ? 4 : 8;
}

/* The addresses [from, to) of all lanes. */
struct range {
    uint64_t from, to;
};

static struct range address_range(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned flags)
{
    unsigned size = address_bytes(flags);
    struct range r = { UINT64_MAX, 0 };
    _Alignas(64) uint64_t row[PTXI_LANES];
    const void *lanes = flags & PTXI_OP_FLAG_AT ? ptxi_address_lanes(PTXI_SLOT(w, i->a), row) : PTXI_SLOT(w, i->a);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        const unsigned char *a = (const unsigned char *)lanes + ptxi_first_lane(left) * size;
        uint64_t at = (size == 4 ? *(const uint32_t *)a : *(const uint64_t *)a) + (uint64_t)(int64_t)i->imm;

        r.from = at < r.from ? at : r.from;
        r.to = at + register_bytes(flags) > r.to ? at + register_bytes(flags) : r.to;
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
    unsigned st = access_flags(store), ld;
    struct range written, read;

    if (!(st & PTXI_OP_FLAG_STORE) || load == w->stop)
        return false;
    ld = access_flags(load);
    if (!(ld & PTXI_OP_FLAG_LOAD) || !same_space(ld, st) ||
        registers_overlap(load->d, register_bytes(ld), store->b, register_bytes(st)) ||
        registers_overlap(load->d, register_bytes(ld), store->a, address_bytes(st)))
        return false;
    written = address_range(w, store, st);
    read = address_range(w, load, ld);
    return written.to <= read.from || read.to <= written.from;
}
