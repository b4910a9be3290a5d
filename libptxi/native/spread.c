/* Gives the lanes of an index register, in the frame, the values of its row. Operations on vectors read them there. */
#include "native/memory.h"

typedef struct ptxi_native_builder builder;

enum { MASK = 1 };

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

struct ptxi_x86_rm ptxi_native_index_lanes(const builder *c, unsigned slot, unsigned k)
{
    return ptxi_native_frame(slot, (unsigned)offsetof(struct ptxi_index, lanes) + k * c->bytes);
}

/* Puts part k of a row to the lanes in `in_row` (AVX2: a vector; AVX-512: the lowest bits of ecx). */
static void spread_part(builder *c, unsigned slot, unsigned k, unsigned first, unsigned stride, unsigned in_row)
{
    enum { VALUE = 4, OLD, HERE };
    const struct ptxi_x86_rm lanes = ptxi_native_index_lanes(c, slot, k);

    ptxi_x86_vector(&c->x, PTXI_V_PMULLD, VALUE, stride, ptxi_native_constant(PTXI_CONST_IOTA, k * c->bytes));
    ptxi_x86_vector(&c->x, PTXI_V_PADDD, VALUE, VALUE, reg(first));
    ptxi_x86_vector(&c->x, PTXI_V_MOV, OLD, 0, lanes);
    if (c->x.wide) {
        ptxi_x86_kmovw_to(&c->x, MASK, PTXI_RCX);
        ptxi_x86_shr(&c->x, 32, PTXI_RCX, PTXI_LANES / 2);
        ptxi_x86_vector_masked(&c->x, PTXI_V_BLENDMD, VALUE, OLD, reg(VALUE), -1, MASK);
    } else {
        const struct ptxi_x86_rm bits = ptxi_native_constant(PTXI_CONST_LANE_BIT, k * c->bytes);

        ptxi_x86_vector(&c->x, PTXI_V_PAND, HERE, in_row, bits);
        ptxi_x86_vector(&c->x, PTXI_V_PCMPEQD, HERE, HERE, bits);
        ptxi_x86_vector_imm(&c->x, PTXI_V_BLENDVB, VALUE, OLD, reg(VALUE), HERE << 4);
    }
    ptxi_x86_vector(&c->x, PTXI_V_MOV_TO, VALUE, 0, lanes);
}

void ptxi_native_spread(builder *c, unsigned slot)
{
    enum { FIRST, STRIDE, IN_ROW };
    uint32_t none;

    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_ROW(slot, form));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RCX), (int32_t)PTXI_ROW_FORM);
    none = ptxi_x86_jump_if(&c->x, PTXI_NE);
    ptxi_x86_shr(&c->x, 64, PTXI_RCX, 32);
    ptxi_x86_vector(&c->x, PTXI_V_BROADCASTD, FIRST, 0, OF_ROW(slot, first));
    ptxi_x86_vector(&c->x, PTXI_V_BROADCASTD, STRIDE, 0, OF_ROW(slot, stride));
    if (!c->x.wide)
        ptxi_native_broadcast(c, IN_ROW, PTXI_RCX, 32);
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++)
        spread_part(c, slot, k, FIRST, STRIDE, IN_ROW);
    ptxi_x86_patch(&c->x, none, c->x.size);
}
