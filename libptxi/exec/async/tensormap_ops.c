/* Tensor maps that kernels change. PTX ISA, "Data Movement and Conversion Instructions: tensormap.replace", "Parallel Synchronization and
 * Communication Instructions: tensormap.cp_fenceproxy". */
#include "exec/async/async.h"

#include <string.h>

#include "exec/memory/access.h"
#include "exec/async/tma.h"

enum { MAP_BYTES = 128, MAP_ALIGN = 64 };

/* ptxiTensorMapDataType of a value of .elemtype. */
static uint8_t type_of(uint64_t value)
{
    static const uint8_t types[] = { 0, 1, 2, 3, 4, 5, 6, 7, /* .f32.ftz */ 10, /* .f64 */ 8, /* .bf16 */ 9, 11, 12, 13, 14, 15 };

    return value < sizeof types ? types[value] : UINT8_MAX;
}

/* NULL, or what is wrong. What does not go together is found when the map is used. */
static const char *replace(struct ptxi_tensor_map *m, enum ptxi_tensor_field field, unsigned which, uint64_t value)
{
    static const char range[] = "tensormap.replace: the value is out of range";
    bool fits = true;

    switch (field) {
    case PTXI_TENSOR_ADDRESS: m->base = value; break;
    case PTXI_TENSOR_RANK: m->rank = (uint8_t)(value + 1); fits = value < PTXI_TENSOR_MOST; break;
    case PTXI_TENSOR_BOX: m->box[which] = (uint16_t)value; fits = value >= 1 && value <= 256; break;
    case PTXI_TENSOR_SIZE: m->last[which] = (uint32_t)value - 1; break;
    case PTXI_TENSOR_STRIDE: fits = which < PTXI_TENSOR_MOST - 1 && value % 16 == 0 && value < UINT64_C(1) << 40; if (fits) m->stride[which] = value; break;
    case PTXI_TENSOR_STEP: m->step[which] = (uint8_t)value; fits = value >= 1 && value <= 8; break;
    case PTXI_TENSOR_TYPE:
        m->type = type_of(value);
        m->bits = (uint8_t)ptxi_tensor_bits(m->type);
        fits = m->bits;
        break;
    case PTXI_TENSOR_INTERLEAVE: m->interleave = (uint8_t)value; fits = value <= 2; break;
    case PTXI_TENSOR_SWIZZLE: m->swizzle = (uint8_t)value; fits = value <= 4; break;
    case PTXI_TENSOR_ATOM: m->atom = (uint8_t)value; fits = value <= 3; break;
    case PTXI_TENSOR_FILL: m->nan = value; break;
    }
    return fits ? NULL : range;
}

/* False: there is no tensor map. Zeros are one, with the least value in each field: kernels that bring no map begin with them. */
static bool read_map(struct ptxi_tensor_map *m, const unsigned char *p)
{
    static const struct ptxi_tensor_map zeros;
    struct ptxi_tensor_map least = { .magic = PTXI_TENSOR_MAGIC, .rank = 1, .bits = (uint8_t)ptxi_tensor_bits(0) };

    for (unsigned d = 0; d < PTXI_TENSOR_MOST; d++)
        least.box[d] = least.step[d] = 1;
    memcpy(m, p, sizeof *m);
    if (!memcmp(m, &zeros, sizeof zeros))
        *m = least;
    return m->magic == PTXI_TENSOR_MAGIC;
}

const struct ptxi_insn *ptxi_tensormap_replace(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint64_t *at = PTXI_SLOT(w, i->a), *value = PTXI_SLOT(w, i->b);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        unsigned char *p = ptxi_mem_at(w, i, l, PTXI_MS_GENERIC, at[l], MAP_BYTES, MAP_ALIGN, PTXI_ACCESS_ATOMIC);
        struct ptxi_tensor_map m;
        const char *wrong;

        if (!p)
            return w->stop;
        wrong = read_map(&m, p) ? replace(&m, (enum ptxi_tensor_field)i->mods, (unsigned)i->imm, value[l]) : "there is no tensor map";
        if (wrong)
            return ptxi_fault(w, i, PTXI_FK_MISUSE, (ptxi_lanes)1 << l, 0, 0, wrong);
        memcpy(p, &m, sizeof m);
    }
    return i + 1;
}

/* The threads of a warp do together what each of them would do alone. */
const struct ptxi_insn *ptxi_tensormap_copy(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    unsigned l = ptxi_first_lane(w->active);
    unsigned char *to = ptxi_mem_at(w, i, l, PTXI_MS_GENERIC, ((const uint64_t *)PTXI_SLOT(w, i->a))[l], MAP_BYTES, MAP_ALIGN, PTXI_ACCESS_STORE), *from;

    from = to ? ptxi_mem_at(w, i, l, PTXI_MS_GENERIC, ((const uint64_t *)PTXI_SLOT(w, i->b))[l], MAP_BYTES, MAP_ALIGN, PTXI_ACCESS_LOAD) : NULL;
    if (!from)
        return w->stop;
    memcpy(to, from, MAP_BYTES);
    return i + 1;
}
