/* PTX ISA, "Data Movement and Conversion Instructions: spcompress, spdecompress". */
#include <string.h>

#include "exec/arith/handler_parts.h"
#include "exec/engine/fault_report.h"
#include "num/sparse.h"

struct registers {
    uint32_t v[PTXI_SPARSE_MAX_REGISTERS];
};

static void read_registers(const struct ptxi_warp *w, const uint16_t *slots, unsigned count, unsigned lane,
                           struct registers *r)
{
    for (unsigned k = 0; k < count; k++)
        r->v[k] = ((const uint32_t *)PTXI_SLOT(w, slots[k]))[lane];
}

static void write_registers(const struct ptxi_warp *w, const uint16_t *slots, unsigned count, unsigned lane,
                            const struct registers *r)
{
    for (unsigned k = 0; k < count; k++)
        if (slots[k] != PTXI_NO_SLOT)
            ((uint32_t *)PTXI_SLOT(w, slots[k]))[lane] = r->v[k];
}

/* The type that the descriptor names; false if there is none of this width. */
static bool find_type(uint32_t descriptor, unsigned bits, struct ptxi_num_sparse_type *t)
{
    static const struct ptxi_num_sparse_type types[2][8] = {
        { { false, 0, 0 }, { false, 0x80, 0 }, { true, 0x80, 0x7c }, { true, 0x80, 0x7e }, { true, 0x20, 0x1f },
          { true, 0x20, 0x1f } },
        { { true, 0x8000, 0x7c00 }, { true, 0x8000, 0x7f80 } },
    };
    unsigned code = descriptor >> 2 & 7;

    *t = types[bits == 16][code];
    return descriptor >> 5 == 0 && (t->is_float || (bits == 8 && code < 2));
}

OP( spcompress )
{
    const struct ptxi_sparse *x = (const struct ptxi_sparse *)(w->frame->code->pool + i->imm);
    const uint16_t *cdata_slots = x->slots + x->meta_count, *data_slots = cdata_slots + x->cdata_count;

    for (unsigned l = 0; l < PTXI_LANES; l++) {
        uint32_t descriptor = ((const uint32_t *)PTXI_SLOT(w, i->a))[l];
        struct ptxi_num_sparse_type t;
        struct registers data, meta, cdata;

        if (!(w->active >> l & 1))
            continue;
        if (!find_type(descriptor, x->element, &t))
            return ptxi_fault(w, i, PTXI_FK_MISUSE, (ptxi_lanes)1 << l, 0, 0,
                              "the descriptor must have a type of elements of this width, and zeros above it");
        memset(&meta, 0, sizeof meta);
        memset(&cdata, 0, sizeof cdata);
        read_registers(w, data_slots, x->data_count, l, &data);
        ptxi_num_sparse_compress(t, descriptor & 3, data.v, x->data_count * 8u / x->element, x->element, x->index,
                                 meta.v, cdata.v);
        write_registers(w, x->slots, x->meta_count, l, &meta);
        write_registers(w, cdata_slots, x->cdata_count, l, &cdata);
    }
    NEXT;
}

/* An index beyond the group, which the manual leaves open, drops the element. */
OP( spdecompress )
{
    const struct ptxi_sparse *x = (const struct ptxi_sparse *)(w->frame->code->pool + i->imm);
    const uint16_t *meta_slots = x->slots + x->data_count, *cdata_slots = meta_slots + x->meta_count;
    unsigned groups = x->data_count * 32u / (x->target * x->element);

    for (unsigned l = 0; l < PTXI_LANES; l++) {
        struct registers data, meta, cdata;

        if (!(w->active >> l & 1))
            continue;
        memset(&data, 0, sizeof data);
        read_registers(w, meta_slots, x->meta_count, l, &meta);
        read_registers(w, cdata_slots, x->cdata_count, l, &cdata);
        for (unsigned n = 0; n < groups * x->source; n++) {
            unsigned to = ptxi_num_sparse_get(meta.v, n, x->index), group = n / x->source;
            uint32_t element = ptxi_num_sparse_get(cdata.v, n, x->element);
            unsigned at = group * x->target + to;

            if (to >= x->target)
                continue;
            data.v[at * x->element / 32] &= ~(UINT32_MAX >> (32 - x->element) << at * x->element % 32);
            ptxi_num_sparse_set(data.v, at, x->element, element);
        }
        write_registers(w, x->slots, x->data_count, l, &data);
    }
    NEXT;
}
