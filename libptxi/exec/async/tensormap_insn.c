/* Instructions that change tensor maps. PTX ISA, "Data Movement and Conversion Instructions: tensormap.replace",
 * "Parallel Synchronization and Communication Instructions: tensormap.cp_fenceproxy". */
#include "exec/async/tensormap_insn.h"

#include <assert.h>
#include <string.h>

#include "exec/async/tensor_map.h"
#include "exec/memory/access.h"

enum { MAP_BYTES = 128, MAP_ALIGN = 64 };

/* The ptxiTensorMapDataType of a value of .elemtype; UINT8_MAX: none. */
static uint8_t type_of(uint64_t value)
{
    static const uint8_t types[] = { 0,  1,  2,  3,  4, 5, 6, 7, /* .f32.ftz */ 10, /* .f64 */ 8, /* .bf16 */ 9,
                                     11, 12, 13, 14, 15 };

    return value < sizeof types ? types[value] : UINT8_MAX;
}

/* Sets a field. Returns NULL, or an error message. Invalid combinations of fields are reported when the map is used. */
static const char *replace(struct ptxi_tensor_map *m, enum ptxi_tensor_field field, unsigned index, uint64_t value)
{
    bool fits = true;

    assert(index < PTXI_TENSOR_MAX_RANK);
    switch (field) {
    case PTXI_TENSOR_ADDRESS:
        m->base = value;
        m->size_class = 0; /* ptxas 13.5 clears the bit, 13.0 keeps it */
        break;
    case PTXI_TENSOR_RANK:
        m->rank = (uint8_t)(value + 1);
        fits = value < PTXI_TENSOR_MAX_RANK;
        break;
    case PTXI_TENSOR_BOX:
        m->box[index] = (uint16_t)value;
        fits = value >= 1 && value <= 256;
        break;
    case PTXI_TENSOR_SIZE:
        m->last[index] = (uint32_t)value - 1;
        break;
    case PTXI_TENSOR_STRIDE:
        fits = index < PTXI_TENSOR_MAX_RANK - 1 && value % 16 == 0 && value < UINT64_C(1) << 40;
        if (fits)
            m->stride[index] = value;
        break;
    case PTXI_TENSOR_STEP:
        m->step[index] = (uint8_t)value;
        fits = value >= 1 && value <= 8;
        break;
    case PTXI_TENSOR_TYPE:
        m->type = type_of(value);
        m->bits = (uint8_t)ptxi_tensor_map_element_bits(m->type);
        fits = m->bits;
        break;
    case PTXI_TENSOR_INTERLEAVE:
        m->interleave = (uint8_t)value;
        fits = value <= 2;
        break;
    case PTXI_TENSOR_SWIZZLE:
        m->swizzle = (uint8_t)value;
        fits = value <= 4;
        break;
    case PTXI_TENSOR_ATOM:
        m->atom = (uint8_t)value;
        fits = value <= 3;
        break;
    case PTXI_TENSOR_FILL:
        m->nan = value;
        break;
    }
    return fits ? NULL : "tensormap.replace: value out of range";
}

/* False: there is no tensor map. Zeros are a map with the minimum in each field, because kernels that create maps
 * begin with zeros. */
static bool read_map(struct ptxi_tensor_map *m, const unsigned char *from)
{
    static const struct ptxi_tensor_map zeros;
    struct ptxi_tensor_map minimum = { .magic = PTXI_TENSOR_MAP_MAGIC,
                                       .rank = 1,
                                       .bits = (uint8_t)ptxi_tensor_map_element_bits(0) };

    for (unsigned d = 0; d < PTXI_TENSOR_MAX_RANK; d++)
        minimum.box[d] = minimum.step[d] = 1;
    memcpy(m, from, sizeof *m);
    if (!memcmp(m, &zeros, sizeof zeros))
        *m = minimum;
    return m->magic == PTXI_TENSOR_MAP_MAGIC;
}

const struct ptxi_insn *ptxi_tensormap_replace(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint64_t *at = PTXI_SLOT(w, i->a), *value = PTXI_SLOT(w, i->b);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        unsigned char *p = ptxi_access_at(w, i, l, PTXI_MS_GENERIC, at[l], MAP_BYTES, MAP_ALIGN, PTXI_AK_ATOMIC);
        struct ptxi_tensor_map m;
        const char *error;

        if (!p)
            return w->stop;
        if (read_map(&m, p))
            error = replace(&m, (enum ptxi_tensor_field)i->mods, (unsigned)i->imm, value[l]);
        else
            error = "no tensor map at the address";
        if (error)
            return ptxi_fault(w, i, PTXI_FK_MISUSE, (ptxi_lanes)1 << l, 0, 0, error);
        memcpy(p, &m, sizeof m);
    }
    return i + 1;
}

/* The instruction is .aligned and all threads of the warp name the same addresses, so one copy is enough. */
const struct ptxi_insn *ptxi_tensormap_copy(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    unsigned l = ptxi_first_lane(w->active);
    uint64_t to_address = ((const uint64_t *)PTXI_SLOT(w, i->a))[l],
             from_address = ((const uint64_t *)PTXI_SLOT(w, i->b))[l];
    unsigned char *to = ptxi_access_at(w, i, l, PTXI_MS_GENERIC, to_address, MAP_BYTES, MAP_ALIGN, PTXI_AK_STORE),
                  *from;

    from = to ? ptxi_access_at(w, i, l, PTXI_MS_GENERIC, from_address, MAP_BYTES, MAP_ALIGN, PTXI_AK_LOAD) : NULL;
    if (!from)
        return w->stop;
    memcpy(to, from, MAP_BYTES);
    return i + 1;
}
