/* The values of one lane, in elements 0 of vector registers. A value that is newer than the frame is stored when its
 * register is needed, and at the end of a round. Also keeps the books of what a round reads and writes. */
#include "native/lane_values.h"

#include <assert.h>
#include <stddef.h>

#include "native/memory.h"

typedef struct ptxi_lane_loop loop;
typedef const struct ptxi_insn insn;

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

/* --- ranges --- */

bool ptxi_lane_overlap(uint32_t at, uint32_t bytes, uint32_t other_at, uint32_t other_bytes)
{
    return at < other_at + other_bytes && other_at < at + bytes;
}

bool ptxi_lane_has(loop *l, const struct ptxi_lane_ranges *r, uint32_t at, uint32_t bytes)
{
    for (unsigned k = 0; k < r->count; k++) {
        if (r->list[k].at == at && r->list[k].bytes == bytes)
            return true;
        if (ptxi_lane_overlap(at, bytes, r->list[k].at, r->list[k].bytes))
            l->unsuitable = true;
    }
    return false;
}

static void add(loop *l, struct ptxi_lane_ranges *r, uint32_t at, uint32_t bytes)
{
    if (ptxi_lane_has(l, r, at, bytes))
        return;
    if (r->count == PTXI_LANE_RANGES)
        l->unsuitable = true;
    else
        r->list[r->count++] = (struct ptxi_lane_range){ at, bytes };
}

static uint32_t bytes_of(uint32_t bits)
{
    return PTXI_LANES * bits / 8;
}

/* --- values in registers --- */

static struct ptxi_x86_rm in_frame(uint32_t at, uint32_t bits)
{
    return ptxi_x86_scaled(PTXI_NATIVE_FRAME, PTXI_RDX, bits == 64 ? 3 : 2, (int32_t)at);
}

static void replace_nan(loop *l, unsigned r)
{
    uint32_t number;

    if (!l->values[r].raw)
        return;
    ptxi_x86_vector_128(&l->c->x, PTXI_V_UCOMISS, r, 0, reg(r));
    number = ptxi_x86_jump_if(&l->c->x, PTXI_NP);
    ptxi_x86_vector_128(&l->c->x, PTXI_V_MOV, r, 0, ptxi_native_constant(PTXI_CONST_NAN, 0));
    ptxi_x86_patch(&l->c->x, number, l->c->x.size);
    l->values[r].raw = false;
}

static void store(loop *l, unsigned r)
{
    struct ptxi_lane_value *v = &l->values[r];

    if (!v->dirty)
        return;
    replace_nan(l, r);
    ptxi_x86_vector_128(&l->c->x, v->bits == 64 ? PTXI_V_MOVQ_TO : PTXI_V_MOVD_TO, r, 0, in_frame(v->at, v->bits));
    v->dirty = false;
}

static void keep(loop *l, unsigned r)
{
    l->kept |= UINT32_C(1) << r;
    l->values[r].used = ++l->clock;
}

/* A register without a value, or with the one that was used least recently. */
unsigned ptxi_lane_new(loop *l)
{
    unsigned r = PTXI_LANE_VALUES;

    for (unsigned k = 0; k < PTXI_LANE_VALUES; k++)
        if (!(l->kept >> k & 1) && (r == PTXI_LANE_VALUES || l->values[k].used < l->values[r].used))
            r = k;
    assert(r < PTXI_LANE_VALUES);
    store(l, r);
    l->values[r] = (struct ptxi_lane_value){ 0 };
    keep(l, r);
    return r;
}

static unsigned find(const loop *l, uint32_t at, uint32_t bits)
{
    unsigned r = 0;

    while (r < PTXI_LANE_VALUES && (l->values[r].bits != bits || l->values[r].at != at))
        r++;
    return r;
}

static unsigned source(loop *l, uint32_t at, uint32_t bits)
{
    unsigned r = find(l, at, bits);

    if (r == PTXI_LANE_VALUES) {
        if (!ptxi_lane_has(l, &l->written, at, bytes_of(bits)))
            add(l, &l->read, at, bytes_of(bits));
        r = ptxi_lane_new(l);
        ptxi_x86_vector_128(&l->c->x, bits == 64 ? PTXI_V_MOVQ : PTXI_V_MOVD, r, 0, in_frame(at, bits));
        l->values[r].at = at;
        l->values[r].bits = bits;
    }
    keep(l, r);
    return r;
}

unsigned ptxi_lane_source(loop *l, uint32_t at, uint32_t bits)
{
    const unsigned r = source(l, at, bits);

    replace_nan(l, r);
    return r;
}

unsigned ptxi_lane_source_f32(loop *l, uint32_t at)
{
    return source(l, at, 32);
}

void ptxi_lane_define(loop *l, uint32_t at, uint32_t bits, unsigned r)
{
    for (unsigned k = 0; k < PTXI_LANE_VALUES; k++)
        if (l->values[k].bits && ptxi_lane_overlap(at, bytes_of(bits), l->values[k].at, bytes_of(l->values[k].bits)))
            l->values[k] = (struct ptxi_lane_value){ .used = l->values[k].used };
    if (l->in_rax != UINT32_MAX && ptxi_lane_overlap(at, bytes_of(bits), l->in_rax, bytes_of(64)))
        l->in_rax = UINT32_MAX;
    add(l, &l->written, at, bytes_of(bits));
    l->values[r] = (struct ptxi_lane_value){ .at = at, .bits = bits, .dirty = true };
    keep(l, r);
}

void ptxi_lane_define_f32(loop *l, uint32_t at, unsigned r)
{
    ptxi_lane_define(l, at, 32, r);
    l->values[r].raw = true;
}

void ptxi_lane_lose_rax(loop *l)
{
    l->in_rax = UINT32_MAX;
}

void ptxi_lane_load_rax(loop *l, uint32_t at)
{
    if (l->in_rax == at)
        return;
    ptxi_x86_vector_128(&l->c->x, PTXI_V_MOVQ_TO, ptxi_lane_source(l, at, 64), 0, reg(PTXI_RAX));
    l->in_rax = at;
}

void ptxi_lane_define_rax(loop *l, uint32_t at)
{
    const unsigned d = ptxi_lane_new(l);

    ptxi_x86_vector_128(&l->c->x, PTXI_V_MOVQ, d, 0, reg(PTXI_RAX));
    ptxi_lane_define(l, at, 64, d);
    l->in_rax = at;
}

struct ptxi_x86_rm ptxi_lane_common(loop *l, unsigned slot, uint32_t bits)
{
    add(l, &l->common, slot * PTXI_UNIT, bytes_of(bits));
    return ptxi_native_frame(slot, 0);
}

static uint32_t lanes_of_row(unsigned slot)
{
    return slot * PTXI_UNIT + (uint32_t)offsetof(struct ptxi_address, lanes);
}

uint32_t ptxi_lane_read_row(loop *l, unsigned slot)
{
    if (!ptxi_lane_has(l, &l->written_rows, slot, 1))
        add(l, &l->read_rows, slot, 1);
    return lanes_of_row(slot);
}

uint32_t ptxi_lane_write_row(loop *l, unsigned slot)
{
    add(l, &l->written_rows, slot, 1);
    return lanes_of_row(slot);
}

struct ptxi_x86_rm ptxi_lane_bounds(unsigned load)
{
    return ptxi_native_on_stack(PTXI_STACK_BOUNDS + 16 * load);
}

struct ptxi_x86_rm ptxi_lane_add_load(loop *l, insn *i, unsigned bytes)
{
    if (l->load_count == PTXI_LANE_LOADS) {
        l->unsuitable = true;
        return ptxi_lane_bounds(0);
    }
    l->loads[l->load_count] = i;
    l->load_bytes[l->load_count] = bytes;
    return ptxi_lane_bounds(l->load_count++);
}

void ptxi_lane_begin(loop *l)
{
    l->in_rax = UINT32_MAX;
    l->load_count = 0;
    for (unsigned r = 0; r < PTXI_LANE_VALUES; r++)
        l->values[r] = (struct ptxi_lane_value){ 0 };
}

void ptxi_lane_store_all(loop *l)
{
    for (unsigned r = 0; r < PTXI_LANE_VALUES; r++)
        store(l, r);
}
