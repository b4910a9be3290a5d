/* Loads and stores at any addresses, if all are aligned and in the allocation that the instruction hit last, or in the
 * CTA's shared memory. Else the handler does the access, in the order of the lanes.
 *
 * The code works on the complete frame, and all vector registers are free. Addresses of 64 bits are in registers 0 to 7
 * (AVX2) or 0 to 3; shared ones, relative to the CTA's memory at rdx, in the first half of these. The addresses are in
 * the frame, too. */
#include <assert.h>

#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

enum { T0 = 8, T1, T2, T3, T4, T5, T6, T7, MASK = 1 };

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

static void op(builder *c, uint32_t code, unsigned d, unsigned a, unsigned b)
{
    ptxi_x86_vector(&c->x, code, d, a, reg(b));
}

static void broadcast_imm(builder *c, unsigned d, uint32_t value)
{
    ptxi_x86_imm(&c->x, PTXI_RAX, value);
    ptxi_native_broadcast(c, d, PTXI_RAX, 32);
}

/* --- checks --- */

/* Fails if two vectors have a bit in common. */
static void expect_disjoint(builder *c, unsigned a, unsigned b)
{
    if (c->x.wide) {
        ptxi_x86_vector_masked(&c->x, PTXI_V_TESTMD, MASK, a, reg(b), -1, 0);
        ptxi_x86_kmovw_from(&c->x, PTXI_RAX, MASK);
        ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
    } else {
        op(c, PTXI_V_PTEST, a, 0, b);
    }
    ptxi_native_fail(c, PTXI_NE);
}

/* Compares a mask register with its lowest n bits. */
static void test_mask(builder *c, unsigned n)
{
    ptxi_x86_kmovw_from(&c->x, PTXI_RAX, MASK);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), (1 << n) - 1);
}

/* In partial code, vector d becomes part k of the vector a, with 0 in inactive lanes. Returns the vector that has them,
 * else a. Changes T5. */
static unsigned only_active(builder *c, unsigned d, unsigned a, unsigned k, unsigned bits)
{
    if (!c->partial)
        return a;
    ptxi_native_load_mask(c, T5, k, bits, true);
    op(c, PTXI_V_PAND, d, a, T5);
    return d;
}

void ptxi_native_load_bounds(builder *c, insn *i, unsigned size, bool is_store)
{
    ptxi_x86_load(&c->x, 64, PTXI_RAX, ptxi_x86_at(PTXI_NATIVE_GENERATION, 0));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, OF_HIT(i, generation));
    ptxi_native_fail(c, PTXI_NE);
    ptxi_x86_load(&c->x, 64, PTXI_RAX, OF_HIT(i, lo));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, is_store ? OF_HIT(i, write_hi) : OF_HIT(i, hi));
    ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_RCX, reg(PTXI_RAX));
    ptxi_native_fail(c, PTXI_B);
    ptxi_x86_alu_imm(&c->x, PTXI_SUB, 64, reg(PTXI_RCX), (int32_t)size);
    ptxi_native_fail(c, PTXI_B);
    if (i->imm)
        ptxi_x86_alu_imm(&c->x, PTXI_SUB, 64, reg(PTXI_RAX), i->imm);
}

/* As ptxi_all_within_64(), for loads, too. AVX2 has only a signed comparison, so it turns the signs. */
static void check_global(builder *c, insn *i, unsigned size, bool is_store)
{
    const unsigned from = T0, most = T1, outside = T2, bits = T3, t = T4, parts = ptxi_native_parts(c, 64);

    ptxi_native_load_bounds(c, i, size, is_store);
    if (!c->x.wide) {
        ptxi_x86_imm(&c->x, PTXI_RDX, UINT64_C(1) << 63);
        ptxi_x86_alu(&c->x, PTXI_XOR, 64, PTXI_RAX, reg(PTXI_RDX));
        ptxi_x86_alu(&c->x, PTXI_XOR, 64, PTXI_RCX, reg(PTXI_RDX));
        op(c, PTXI_V_PXOR, outside, outside, outside);
    }
    ptxi_native_broadcast(c, from, PTXI_RAX, 64);
    ptxi_native_broadcast(c, most, PTXI_RCX, 64);
    op(c, PTXI_V_PXOR, bits, bits, bits);
    for (unsigned k = 0; k < parts; k++) {
        op(c, PTXI_V_PSUBQ, t, k, from);
        if (c->x.wide) {
            only_active(c, t, t, k, 64);
            ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPUQ, MASK, t, reg(most), PTXI_COMPARE_LE, k ? MASK : 0);
        } else {
            op(c, PTXI_V_PCMPGTQ, t, t, most);
            only_active(c, t, t, k, 64);
            op(c, PTXI_V_POR, outside, outside, t);
        }
        op(c, PTXI_V_POR, bits, bits, only_active(c, t, k, k, 64));
    }
    if (c->x.wide) {
        test_mask(c, 8);
    } else {
        op(c, PTXI_V_MOVMSKPD, PTXI_RAX, 0, outside);
        ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
    }
    ptxi_native_fail(c, PTXI_NE);
    ptxi_x86_imm(&c->x, PTXI_RAX, size - 1);
    ptxi_native_broadcast(c, t, PTXI_RAX, 64);
    expect_disjoint(c, bits, t);
    ptxi_x86_imm(&c->x, PTXI_RCX, 0); /* the base of gathers */
}

/* As ptxi_shared_covers(), for each lane. The addresses become relative. */
static void check_shared(builder *c, insn *i, unsigned size)
{
    const unsigned by = T0, most = T1, highest = T2, bits = T3, t = T4, parts = ptxi_native_parts(c, 32);

    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_WARP(shared_size));
    ptxi_x86_alu_imm(&c->x, PTXI_SUB, 64, reg(PTXI_RCX), (int32_t)size);
    ptxi_native_fail(c, PTXI_B);
    ptxi_x86_imm(&c->x, PTXI_RAX, (uint32_t)i->imm);
    ptxi_x86_alu(&c->x, PTXI_SUB, 32, PTXI_RAX, OF_WARP(shared_at));
    ptxi_native_broadcast(c, by, PTXI_RAX, 32);
    ptxi_native_broadcast(c, most, PTXI_RCX, 32);
    for (unsigned k = 0; k < parts; k++) {
        const struct ptxi_x86_rm from = ptxi_native_frame(i->a, k * c->bytes);

        ptxi_x86_vector(&c->x, PTXI_V_PADDD, k, by, from);
        ptxi_x86_vector(&c->x, PTXI_V_MOV, t, 0, from);
        only_active(c, t, t, k, 32);
        only_active(c, k, k, k, 32);
        op(c, k ? PTXI_V_POR : PTXI_V_MOV, bits, k ? bits : 0, t);
        op(c, k ? PTXI_V_PMAXUD : PTXI_V_MOV, highest, k ? highest : 0, k);
    }
    if (c->x.wide) {
        ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPUD, MASK, highest, reg(most), PTXI_COMPARE_LE, 0);
        test_mask(c, 16);
    } else {
        op(c, PTXI_V_PMAXUD, highest, highest, most);
        op(c, PTXI_V_PCMPEQD, highest, highest, most);
        op(c, PTXI_V_MOVMSKPS, PTXI_RAX, 0, highest);
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), 0xff);
    }
    ptxi_native_fail(c, PTXI_NE);
    broadcast_imm(c, by, UINT32_C(0x80000000) | (size - 1)); /* no sum wraps */
    expect_disjoint(c, bits, by);
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_WARP(shared));
}

/* --- addresses --- */

/* What the code of an access needs to know. */
struct access {
    insn *i;
    unsigned bytes, count, bits; /* of elements, see PTXI_ELEMENTS */
    unsigned slots[4];           /* of the elements; the first `count` */
    bool shared;
    bool checks_each;            /* each lane is checked before it is accessed, see checks_each_lane() */
    unsigned lanes;              /* offset of the addresses in the frame */
};

/* The lanes of an address register that is a row of all lanes. */
static void expand_row(builder *c, unsigned slot, unsigned lanes)
{
    const unsigned first = T0, stride = T1, per_part = c->bytes / 8;

    ptxi_x86_movsxd(&c->x, PTXI_RAX, OF_ROW(slot, stride));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, OF_ROW(slot, stride));
    ptxi_native_fail(c, PTXI_NE);
    ptxi_x86_vector(&c->x, PTXI_V_BROADCASTQ, first, 0, OF_ROW(slot, first));
    ptxi_x86_vector(&c->x, PTXI_V_BROADCASTQ, stride, 0, OF_ROW(slot, stride));
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, k, 0, ptxi_native_constant(PTXI_CONST_IOTA, 4 * per_part * k));
        op(c, PTXI_V_PMULDQ, k, k, stride);
        op(c, PTXI_V_PADDQ, k, k, first);
        ptxi_native_store_lanes(c, k, ptxi_native_frame(0, lanes + k * c->bytes), k, 64, T2);
    }
}

static void load_lanes(builder *c, unsigned lanes)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++)
        ptxi_x86_vector(&c->x, PTXI_V_MOV, k, 0, ptxi_native_frame(0, lanes + k * c->bytes));
}

/* The same in partial code, for the active lanes, which are in the frame afterwards. */
static void load_active(builder *c, unsigned slot, unsigned lanes)
{
    const struct ptxi_x86_rm active = ptxi_native_on_stack(PTXI_STACK_ACTIVE);
    uint32_t other, row, done;

    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_ROW(slot, form));
    ptxi_x86_alu(&c->x, PTXI_XOR, 64, PTXI_RCX, reg(PTXI_NATIVE_ROW));
    ptxi_x86_test(&c->x, 32, PTXI_RCX, PTXI_RCX);
    other = ptxi_x86_jump_if(&c->x, PTXI_NE);
    ptxi_x86_shr(&c->x, 64, PTXI_RCX, 32);
    ptxi_x86_alu(&c->x, PTXI_AND, 32, PTXI_RCX, active);
    row = ptxi_x86_jump_if(&c->x, PTXI_E);
    ptxi_x86_alu(&c->x, PTXI_CMP, 32, PTXI_RCX, active);
    ptxi_native_fail(c, PTXI_NE);
    ptxi_x86_patch(&c->x, other, c->x.size);
    load_lanes(c, lanes);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, row, c->x.size);
    expand_row(c, slot, lanes);
    ptxi_x86_patch(&c->x, done, c->x.size);
}

/* All lanes are in a row, or none is. The lanes of a row have no other use. If `step` is not 0, rows with that stride
 * are left to the handler. */
static void load_address_register(builder *c, unsigned slot, unsigned lanes, unsigned step)
{
    uint32_t other, done;

    if (c->partial) {
        load_active(c, slot, lanes);
        return;
    }
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_NATIVE_ROW, OF_ROW(slot, form));
    other = ptxi_x86_jump_if(&c->x, PTXI_NE);
    if (step) {
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(slot, stride), (int32_t)step);
        ptxi_native_fail(c, PTXI_E);
    }
    expand_row(c, slot, lanes);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, other, c->x.size);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, OF_ROW(slot, form), (int32_t)PTXI_ROW_FORM);
    ptxi_native_fail(c, PTXI_E);
    load_lanes(c, lanes);
    ptxi_x86_patch(&c->x, done, c->x.size);
}

static void find_slots(struct access *a, bool is_store)
{
    insn *i = a->i;
    const unsigned stored[] = { i->b, i->c, i->d, i->mods };
    const unsigned pair[] = { i->d, i->c }, quad[] = { i->d, i->b, i->c, i->mods };
    const unsigned *slots = is_store ? stored : a->count == 4 ? quad : pair;

    for (unsigned e = 0; e < a->count; e++)
        a->slots[e] = slots[e];
}

/* Partial code checks each lane of a load just before it loads it, because few lanes may be active. If a check fails,
 * the handler loads all lanes again, so results must not overwrite the addresses. A store must not happen twice. */
static bool checks_each_lane(const builder *c, const struct access *a, uint32_t kind)
{
    const unsigned begin = a->i->a * PTXI_UNIT, end = a->lanes + 8 * PTXI_LANES;

    if (!c->partial || a->shared || kind & PTXI_STORES)
        return false;
    for (unsigned e = 0; e < a->count; e++) {
        const unsigned slot = a->slots[e] * PTXI_UNIT;

        if (a->slots[e] != PTXI_NO_SLOT && slot < end && begin < slot + a->bits / 8 * PTXI_LANES)
            return false;
    }
    return true;
}

static struct access begin_access(builder *c, insn *i, uint32_t elements, uint32_t kind)
{
    const enum ptxi_native_addresses where = (enum ptxi_native_addresses)(kind & 3);
    const bool in_register = where == PTXI_ADDRESS_REGISTER;
    struct access a = { .i = i, .bytes = ptxi_element_bytes(elements), .count = ptxi_element_count(elements),
                        .bits = ptxi_element_bits(elements), .shared = where == PTXI_SHARED_LANES };
    /* Rows of small elements and of quads: the handlers copy them as a whole. */
    const unsigned step = a.bytes < 4 || a.count == 4 ? a.bytes * a.count : 0;

    a.lanes = i->a * PTXI_UNIT + (in_register ? (unsigned)offsetof(struct ptxi_address, lanes) : 0);
    find_slots(&a, kind & PTXI_STORES);
    a.checks_each = checks_each_lane(c, &a, kind);
    if (in_register)
        load_address_register(c, i->a, a.lanes, step);
    else if (!a.shared && !a.checks_each)
        load_lanes(c, a.lanes);
    return a;
}

static void check_access(builder *c, const struct access *a, bool is_store)
{
    const unsigned size = a->bytes * a->count;

    if (a->shared)
        check_shared(c, a->i, size);
    else if (a->checks_each)
        ptxi_native_load_bounds(c, a->i, size, false);
    else
        check_global(c, a->i, size, is_store);
}

/* The memory at the address of lane l, in rax, and the offset. */
static struct ptxi_x86_rm memory_of_lane(builder *c, const struct access *a, unsigned l, unsigned offset)
{
    ptxi_x86_load(&c->x, a->shared ? 32 : 64, PTXI_RAX, ptxi_native_frame(0, a->lanes + l * (a->shared ? 4 : 8)));
    return ptxi_x86_indexed(PTXI_RAX, a->shared ? PTXI_NATIVE_SHARED : PTXI_NO_REGISTER, a->i->imm + (int32_t)offset);
}

/* --- gathers --- */

static void gather(builder *c, const struct access *a, uint32_t code, unsigned d, unsigned index)
{
    const unsigned mask = c->x.wide ? MASK : T7;

    if (c->x.wide) {
        ptxi_x86_imm(&c->x, PTXI_RAX, 0xffff);
        ptxi_x86_kmovw_to(&c->x, mask, PTXI_RAX);
    } else {
        op(c, PTXI_V_PCMPEQD, mask, mask, mask);
    }
    op(c, PTXI_V_PXOR, d, d, d); /* no dependency on the old value */
    if (a->shared)
        ptxi_x86_gather(&c->x, code, d, PTXI_RDX, index, 0, mask);
    else
        ptxi_x86_gather(&c->x, code, d, PTXI_RCX, index, a->i->imm, mask);
}

static void insert_half(builder *c, unsigned d, unsigned high)
{
    ptxi_x86_vector_imm(&c->x, c->x.wide ? PTXI_V_INSERT_HALF : PTXI_V_INSERT_128, d, d, reg(high), 1);
}

/* d = the lower words of the elements of a and b */
static void narrow(builder *c, unsigned d, unsigned a, unsigned b, unsigned t)
{
    if (c->x.wide) {
        ptxi_x86_vector(&c->x, PTXI_V_PMOVQD_TO, a, 0, reg(d));
        ptxi_x86_vector(&c->x, PTXI_V_PMOVQD_TO, b, 0, reg(t));
        insert_half(c, d, t);
    } else {
        ptxi_x86_vector_imm(&c->x, PTXI_V_SHUFPS, d, a, reg(b), 0x88);
        ptxi_x86_vector_imm(&c->x, PTXI_V_PERMQ, d, 0, reg(d), 0xd8);
    }
}

/* d = words of part k, changes T6 and T7. rcx is 0. */
static void gather_32(builder *c, const struct access *a, unsigned d, unsigned k)
{
    if (a->shared) {
        gather(c, a, PTXI_V_GATHERDD, d, k);
        return;
    }
    gather(c, a, PTXI_V_GATHERQD, d, 2 * k);
    gather(c, a, PTXI_V_GATHERQD, T6, 2 * k + 1);
    insert_half(c, d, T6);
}

/* The same for 64-bit elements. */
static void gather_64(builder *c, const struct access *a, unsigned d, unsigned k)
{
    if (!a->shared) {
        gather(c, a, PTXI_V_GATHERQQ, d, k);
        return;
    }
    if (k % 2) /* the upper half */
        ptxi_x86_vector_imm(&c->x, c->x.wide ? PTXI_V_EXTRACT_HALF : PTXI_V_EXTRACT_128, k / 2, 0, reg(T6), 1);
    gather(c, a, PTXI_V_GATHERDQ, d, k % 2 ? T6 : k / 2);
}

static void store_part(builder *c, unsigned slot, unsigned k, unsigned from)
{
    ptxi_x86_vector(&c->x, PTXI_V_MOV_TO, from, 0, ptxi_native_frame(slot, k * c->bytes));
}

/* --- loads --- */

static void load_words(builder *c, const struct access *a)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        gather_32(c, a, T0 + k, k);
        store_part(c, a->i->d, k, T0 + k);
    }
}

static void load_double_words(builder *c, const struct access *a)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        gather_64(c, a, T0 + k % 2, k);
        store_part(c, a->i->d, k, T0 + k % 2);
    }
}

static void load_pairs(builder *c, const struct access *a)
{
    const unsigned by = T5;

    if (c->x.wide) {
        ptxi_x86_imm(&c->x, PTXI_RAX, 32);
        ptxi_native_broadcast(c, by, PTXI_RAX, 64);
    }
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        gather_64(c, a, T0, 2 * k);
        gather_64(c, a, T1, 2 * k + 1);
        narrow(c, T2, T0, T1, T3);
        if (a->i->d != PTXI_NO_SLOT)
            store_part(c, a->i->d, k, T2);
        if (c->x.wide) {
            op(c, PTXI_V_PSRLVQ, T0, T0, by);
            op(c, PTXI_V_PSRLVQ, T1, T1, by);
            narrow(c, T2, T0, T1, T3);
        } else {
            ptxi_x86_vector_imm(&c->x, PTXI_V_SHUFPS, T2, T0, reg(T1), 0xdd);
            ptxi_x86_vector_imm(&c->x, PTXI_V_PERMQ, T2, 0, reg(T2), 0xd8);
        }
        if (a->i->c != PTXI_NO_SLOT)
            store_part(c, a->i->c, k, T2);
    }
}

/* Jumps unless all lanes have one address. */
static uint32_t jump_unless_one(builder *c, const struct access *a)
{
    const unsigned first = T0, t = T1, same = T2, bits = a->shared ? 32 : 64;

    ptxi_x86_vector(&c->x, a->shared ? PTXI_V_BROADCASTD : PTXI_V_BROADCASTQ, first, 0, reg(0));
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++)
        if (c->x.wide) {
            ptxi_x86_vector_masked(&c->x, a->shared ? PTXI_V_PCMPD : PTXI_V_PCMPQ, MASK, first, reg(k),
                                   PTXI_COMPARE_EQ, k ? MASK : 0);
        } else {
            op(c, a->shared ? PTXI_V_PCMPEQD : PTXI_V_PCMPEQQ, k ? t : same, first, k);
            if (k)
                op(c, PTXI_V_PAND, same, same, t);
        }
    if (c->x.wide) {
        test_mask(c, 512 / bits);
    } else {
        op(c, PTXI_V_MOVMSKPS, PTXI_RAX, 0, same);
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), 0xff);
    }
    return ptxi_x86_jump_if(&c->x, PTXI_NE);
}

static void load_one(builder *c, const struct access *a)
{
    for (unsigned e = 0; e < a->count; e++) {
        if (a->slots[e] == PTXI_NO_SLOT)
            continue;
        ptxi_x86_vector(&c->x, PTXI_V_BROADCASTD, T0, 0, memory_of_lane(c, a, 0, 4 * e));
        for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++)
            store_part(c, a->slots[e], k, T0);
    }
}

/* From vectors with an element of eight lanes to vectors with four elements of two lanes, l and l + 4, and back. */
static void transpose_4(builder *c, const unsigned a[4], const unsigned t[4], const unsigned d[4])
{
    op(c, PTXI_V_UNPCKLPS, t[0], a[0], a[1]);
    op(c, PTXI_V_UNPCKHPS, t[1], a[0], a[1]);
    op(c, PTXI_V_UNPCKLPS, t[2], a[2], a[3]);
    op(c, PTXI_V_UNPCKHPS, t[3], a[2], a[3]);
    op(c, PTXI_V_UNPCKLPD, d[0], t[0], t[2]);
    op(c, PTXI_V_UNPCKHPD, d[1], t[0], t[2]);
    op(c, PTXI_V_UNPCKLPD, d[2], t[1], t[3]);
    op(c, PTXI_V_UNPCKHPD, d[3], t[1], t[3]);
}

static const unsigned low_registers[4] = { 0, 1, 2, 3 }, middle_registers[4] = { 4, 5, 6, 7 },
                      temporaries[4] = { T0, T1, T2, T3 };

enum { LANES = 8 }; /* of a vector of 256 bits */

static struct ptxi_x86_rm eight_lanes(unsigned slot, unsigned k)
{
    return ptxi_native_frame(slot, k * LANES * 4);
}

/* Eight lanes of element e = a vector of 256 bits. The next operations load whole vectors, and would wait long for two
 * stores to one. So with AVX-512 the first half waits in a register for the second one. */
static void store_eight_lanes(builder *c, unsigned slot, unsigned k, unsigned e, unsigned from)
{
    enum { FIRST_WHOLE = 16 };
    const unsigned whole = FIRST_WHOLE + e;

    if (c->bytes == 32) {
        ptxi_x86_vector(&c->x, PTXI_V_MOV_TO, from, 0, eight_lanes(slot, k));
        return;
    }
    c->x.wide = true;
    if (k % 2 == 0) {
        op(c, PTXI_V_MOV, whole, 0, from);
    } else {
        insert_half(c, whole, from);
        store_part(c, slot, k / 2, whole);
    }
    c->x.wide = false;
}

/* With vectors of 256 bits. */
static void load_quads(builder *c, const struct access *a)
{
    const bool wide = c->x.wide;

    c->x.wide = false;
    for (unsigned k = 0; k < PTXI_LANES / LANES; k++) {
        for (unsigned l = 0; l < 4; l++) {
            ptxi_x86_vector_128(&c->x, PTXI_V_MOVU, l, 0, memory_of_lane(c, a, k * LANES + l, 0));
            ptxi_x86_vector_imm(&c->x, PTXI_V_INSERT_128, l, l, memory_of_lane(c, a, k * LANES + l + 4, 0), 1);
        }
        transpose_4(c, low_registers, temporaries, middle_registers);
        for (unsigned e = 0; e < 4; e++)
            if (a->slots[e] != PTXI_NO_SLOT)
                store_eight_lanes(c, a->slots[e], k, e, middle_registers[e]);
    }
    c->x.wide = wide;
}

/* Words, or vectors of words. Often all lanes have one address. */
static void load_one_or_all(builder *c, const struct access *a)
{
    uint32_t other, done;

    other = jump_unless_one(c, a);
    load_one(c, a);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, other, c->x.size);
    if (a->count == 1)
        load_words(c, a);
    else if (a->count == 2)
        load_pairs(c, a);
    else
        load_quads(c, a);
    ptxi_x86_patch(&c->x, done, c->x.size);
}

/* --- groups of eight lanes with neighbouring words, or pairs of words --- */

/* Shared addresses of pairs: jumps unless each register is a row. */
static uint32_t jump_unless_shared_pairs(builder *c)
{
    const unsigned step = T0, t = T1, same = T2;

    ptxi_x86_vector(&c->x, PTXI_V_MOV, step, 0, ptxi_native_constant(PTXI_CONST_IOTA_4, 0));
    op(c, PTXI_V_PADDD, step, step, step);
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        ptxi_x86_vector(&c->x, PTXI_V_BROADCASTD, t, 0, reg(k));
        op(c, PTXI_V_PADDD, t, t, step);
        if (c->x.wide) {
            ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPD, MASK, t, reg(k), PTXI_COMPARE_EQ, k ? MASK : 0);
        } else {
            op(c, PTXI_V_PCMPEQD, k ? t : same, t, k);
            if (k)
                op(c, PTXI_V_PAND, same, same, t);
        }
    }
    if (c->x.wide) {
        test_mask(c, 16);
    } else {
        op(c, PTXI_V_MOVMSKPS, PTXI_RAX, 0, same);
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), 0xff);
    }
    return ptxi_x86_jump_if(&c->x, PTXI_NE);
}

/* Global addresses: jumps unless each group is a row. Registers 0, 2, 4 and 6, or 0 to 3, begin with the first
 * addresses. */
static uint32_t jump_unless_groups(builder *c, bool pairs)
{
    const unsigned low = T0, high = T1, t = T2, u = T3, same = T4;

    ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, low, 0, ptxi_native_constant(PTXI_CONST_IOTA_4, 0));
    ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, high, 0, ptxi_native_constant(PTXI_CONST_IOTA_4, 16)); /* AVX2 */
    if (pairs) {
        op(c, PTXI_V_PADDQ, low, low, low);
        op(c, PTXI_V_PADDQ, high, high, high);
    }
    for (unsigned k = 0; k < PTXI_LANES / LANES; k++) {
        const unsigned first = c->x.wide ? k : 2 * k;

        ptxi_x86_vector(&c->x, PTXI_V_BROADCASTQ, t, 0, reg(first));
        if (c->x.wide) {
            op(c, PTXI_V_PADDQ, t, t, low);
            ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPQ, MASK, t, reg(first), PTXI_COMPARE_EQ, k ? MASK : 0);
            continue;
        }
        op(c, PTXI_V_PADDQ, u, t, low);
        op(c, PTXI_V_PADDQ, t, t, high);
        op(c, PTXI_V_PCMPEQQ, u, u, first);
        op(c, PTXI_V_PCMPEQQ, t, t, first + 1);
        op(c, PTXI_V_PAND, k ? t : same, t, u);
        if (k)
            op(c, PTXI_V_PAND, same, same, t);
    }
    if (c->x.wide) {
        test_mask(c, 8);
    } else {
        op(c, PTXI_V_MOVMSKPD, PTXI_RAX, 0, same);
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), 0xf);
    }
    return ptxi_x86_jump_if(&c->x, PTXI_NE);
}

static struct ptxi_x86_rm after(struct ptxi_x86_rm memory, int32_t by)
{
    memory.disp += by;
    return memory;
}

static void load_group(builder *c, insn *i, unsigned k, struct ptxi_x86_rm memory, bool pairs)
{
    ptxi_x86_vector(&c->x, PTXI_V_MOVU, T0, 0, memory);
    if (!pairs) {
        store_eight_lanes(c, i->d, k, 0, T0);
        return;
    }
    ptxi_x86_vector(&c->x, PTXI_V_MOVU, T1, 0, after(memory, 32));
    for (unsigned e = 0; e < 2; e++) {
        const unsigned slot = e ? i->c : i->d;

        ptxi_x86_vector_imm(&c->x, PTXI_V_SHUFPS, T2, T0, reg(T1), e ? 0xdd : 0x88);
        ptxi_x86_vector_imm(&c->x, PTXI_V_PERMQ, T2, 0, reg(T2), 0xd8);
        if (slot != PTXI_NO_SLOT)
            store_eight_lanes(c, slot, k, e, T2);
    }
}

/* Pairs: T0 becomes those of lanes 0, 1, 4 and 5, T1 those of the others. */
static void store_group(builder *c, insn *i, unsigned k, struct ptxi_x86_rm memory, bool pairs)
{
    ptxi_x86_vector(&c->x, PTXI_V_MOV, T0, 0, eight_lanes(i->b, k));
    if (!pairs) {
        ptxi_x86_vector(&c->x, PTXI_V_MOVU_TO, T0, 0, memory);
        return;
    }
    ptxi_x86_vector(&c->x, PTXI_V_UNPCKHPS, T1, T0, eight_lanes(i->c, k));
    ptxi_x86_vector(&c->x, PTXI_V_UNPCKLPS, T0, T0, eight_lanes(i->c, k));
    ptxi_x86_vector_128(&c->x, PTXI_V_MOVU_TO, T0, 0, memory);
    ptxi_x86_vector_128(&c->x, PTXI_V_MOVU_TO, T1, 0, after(memory, 16));
    ptxi_x86_vector_imm(&c->x, PTXI_V_EXTRACT_128, T0, 0, after(memory, 32), 1);
    ptxi_x86_vector_imm(&c->x, PTXI_V_EXTRACT_128, T1, 0, after(memory, 48), 1);
}

/* With vectors of 256 bits. */
static void move_groups(builder *c, const struct access *a, bool is_store)
{
    const bool wide = c->x.wide, pairs = a->count == 2;

    c->x.wide = false;
    for (unsigned k = 0; k < PTXI_LANES / LANES; k++) {
        const struct ptxi_x86_rm memory = memory_of_lane(c, a, k * LANES, 0);

        if (is_store)
            store_group(c, a->i, k, memory, pairs);
        else
            load_group(c, a->i, k, memory, pairs);
    }
    c->x.wide = wide;
}

/* --- AVX-512: two rows of words, as blocks of 16 x 16 threads access them --- */

enum { HALF = PTXI_LANES / 2 };

static struct ptxi_x86_rm address_of_lane(const struct access *a, unsigned l)
{
    return ptxi_native_frame(0, a->lanes + 8 * l);
}

/* Jumps unless each half is a row. First a look at its ends, because other patterns are frequent. */
static void jump_unless_halves(builder *c, const struct access *a, uint32_t others[3])
{
    const unsigned low = T0, high = T1, t = T2;

    for (unsigned h = 0; h < 2; h++) {
        ptxi_x86_load(&c->x, 64, PTXI_RAX, address_of_lane(a, (h + 1) * HALF - 1));
        ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_RAX, address_of_lane(a, h * HALF));
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, reg(PTXI_RAX), 4 * (HALF - 1));
        others[h] = ptxi_x86_jump_if(&c->x, PTXI_NE);
    }
    ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, low, 0, ptxi_native_constant(PTXI_CONST_IOTA_4, 0));
    ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, high, 0, ptxi_native_constant(PTXI_CONST_IOTA_4, 4 * LANES));
    for (unsigned k = 0; k < PTXI_LANES / LANES; k++) {
        ptxi_x86_vector(&c->x, PTXI_V_BROADCASTQ, t, 0, reg(k & ~1u));
        op(c, PTXI_V_PADDQ, t, t, k % 2 ? high : low);
        ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPQ, MASK, t, reg(k), PTXI_COMPARE_EQ, k ? MASK : 0);
    }
    test_mask(c, LANES);
    others[2] = ptxi_x86_jump_if(&c->x, PTXI_NE);
}

static void check_halves(builder *c, const struct access *a, bool is_store)
{
    ptxi_native_load_bounds(c, a->i, 4 * HALF, is_store);
    for (unsigned h = 0; h < 2; h++) {
        ptxi_x86_load(&c->x, 64, PTXI_RDX, address_of_lane(a, h * HALF));
        ptxi_x86_test_imm(&c->x, reg(PTXI_RDX), 3);
        ptxi_native_fail(c, PTXI_NE);
        ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_RDX, reg(PTXI_RAX));
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, reg(PTXI_RCX));
        ptxi_native_fail(c, PTXI_A);
    }
}

/* Returns the jump from the end of this code. Goes on where the addresses are something else. */
static uint32_t move_halves(builder *c, const struct access *a, bool is_store)
{
    uint32_t others[3], done;

    jump_unless_halves(c, a, others);
    check_halves(c, a, is_store);
    for (unsigned h = 0; h < 2; h++) {
        const struct ptxi_x86_rm memory = memory_of_lane(c, a, h * HALF, 0);

        if (is_store) {
            ptxi_x86_vector(&c->x, PTXI_V_MOV, T0, 0, ptxi_native_frame(a->i->b, 4 * HALF * h));
            ptxi_x86_vector(&c->x, PTXI_V_MOVU_TO, T0, 0, memory);
        } else {
            ptxi_x86_vector(&c->x, PTXI_V_MOVU, T0, 0, memory);
            store_part(c, a->i->d, h, T0);
        }
    }
    done = ptxi_x86_jump(&c->x);
    for (unsigned k = 0; k < 3; k++)
        ptxi_x86_patch(&c->x, others[k], c->x.size);
    return done;
}

/* --- elements of 8 and 16 bits: the aligned words around them --- */

/* The addresses of part k are aligned. T0 = how far elements are in their words, in bits. T4 has 3 in all elements. */
static void align_part(builder *c, const struct access *a, unsigned k)
{
    if (a->shared) {
        op(c, PTXI_V_PAND, T0, k, T4);
        op(c, PTXI_V_PSUBD, k, k, T0);
    } else {
        op(c, PTXI_V_PAND, T1, 2 * k, T4);
        op(c, PTXI_V_PAND, T2, 2 * k + 1, T4);
        op(c, PTXI_V_PSUBQ, 2 * k, 2 * k, T1);
        op(c, PTXI_V_PSUBQ, 2 * k + 1, 2 * k + 1, T2);
        narrow(c, T0, T1, T2, T3);
    }
    for (unsigned n = 0; n < 3; n++)
        op(c, PTXI_V_PADDD, T0, T0, T0);
}

/* d = the lower halves of the words of a, then those of b */
static void pack(builder *c, unsigned d, unsigned a, unsigned b)
{
    if (c->x.wide) {
        ptxi_x86_vector(&c->x, PTXI_V_PMOVDW_TO, a, 0, reg(d));
        ptxi_x86_vector(&c->x, PTXI_V_PMOVDW_TO, b, 0, reg(T0));
        insert_half(c, d, T0);
    } else {
        op(c, PTXI_V_PACKUSDW, d, a, b);
        ptxi_x86_vector_imm(&c->x, PTXI_V_PERMQ, d, 0, reg(d), 0xd8);
    }
}

static void extend_elements(builder *c, const struct access *a, unsigned d, bool is_signed)
{
    op(c, PTXI_V_PSLLVD, d, d, T5);
    op(c, is_signed ? PTXI_V_PSRAVD : PTXI_V_PSRLVD, d, d, T5);
    if (a->bits == 16 && is_signed) {
        broadcast_imm(c, T3, 0xffff);
        op(c, PTXI_V_PAND, d, d, T3);
    }
}

static void load_small(builder *c, const struct access *a, bool is_signed)
{
    ptxi_x86_imm(&c->x, PTXI_RAX, 3);
    ptxi_native_broadcast(c, T4, PTXI_RAX, a->shared ? 32 : 64);
    broadcast_imm(c, T5, 32 - 8 * a->bytes);
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        const unsigned d = a->shared ? k : 2 * k; /* the addresses are no longer needed */

        align_part(c, a, k);
        gather_32(c, a, T2, k);
        op(c, PTXI_V_PSRLVD, T2, T2, T0);
        extend_elements(c, a, T2, is_signed);
        if (a->bits == 32) {
            store_part(c, a->i->d, k, T2);
        } else if (k % 2 == 0) {
            op(c, PTXI_V_MOV, d, 0, T2);
        } else {
            pack(c, T3, a->shared ? k - 1 : 2 * (k - 1), T2);
            store_part(c, a->i->d, k / 2, T3);
        }
    }
}

/* --- stores, in the order of the lanes --- */

static void store_scalars(builder *c, const struct access *a)
{
    for (unsigned l = 0; l < PTXI_LANES; l++) {
        const struct ptxi_x86_rm memory = memory_of_lane(c, a, l, 0);
        const struct ptxi_x86_rm from = ptxi_native_frame(a->i->b, l * a->bits / 8);

        ptxi_x86_load(&c->x, a->bits == 64 ? 64 : 32, PTXI_RCX, from);
        if (a->bytes < 4)
            ptxi_x86_store_part(&c->x, 8 * a->bytes, memory, PTXI_RCX);
        else
            ptxi_x86_store(&c->x, a->bits, memory, PTXI_RCX);
    }
}

/* --- partial code: the active lanes one after the other, in their order. Gathers take as long for few lanes as for
 * all. --- */

static unsigned log_2(unsigned n)
{
    return (unsigned)__builtin_ctz(n);
}

/* Fails if the address of a lane, in rax, is not as check_global() expects. */
static void check_lane(builder *c, const struct access *a)
{
    const unsigned size = a->bytes * a->count;

    ptxi_x86_load(&c->x, 64, PTXI_RCX, reg(PTXI_RAX));
    ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_RCX, reg(PTXI_RSI));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RCX, reg(PTXI_R8));
    ptxi_native_fail(c, PTXI_A);
    if (size > 1) {
        ptxi_x86_test_imm(&c->x, reg(PTXI_RAX), (int32_t)size - 1);
        ptxi_native_fail(c, PTXI_NE);
    }
}

/* rax = the address of the lane in rdx. */
static uint32_t begin_active(builder *c, const struct access *a)
{
    uint32_t next;

    if (a->checks_each) {
        ptxi_x86_load(&c->x, 64, PTXI_RSI, reg(PTXI_RAX));
        ptxi_x86_load(&c->x, 64, PTXI_R8, reg(PTXI_RCX));
    }
    next = ptxi_native_begin_active(c);
    ptxi_x86_load(&c->x, a->shared ? 32 : 64, PTXI_RAX,
                  ptxi_x86_scaled(PTXI_NATIVE_FRAME, PTXI_RDX, a->shared ? 2 : 3, (int32_t)a->lanes));
    if (a->checks_each)
        check_lane(c, a);
    return next;
}

/* Element e of the lane. */
static struct ptxi_x86_rm memory_of_active(const struct access *a, unsigned e)
{
    return ptxi_x86_indexed(PTXI_RAX, a->shared ? PTXI_NATIVE_SHARED : PTXI_NO_REGISTER,
                            a->i->imm + (int32_t)(e * a->bytes));
}

static struct ptxi_x86_rm value_of_active(const struct access *a, unsigned slot)
{
    return ptxi_x86_scaled(PTXI_NATIVE_FRAME, PTXI_RDX, log_2(a->bits / 8), (int32_t)(slot * PTXI_UNIT));
}

static void load_active_lanes(builder *c, const struct access *a, bool is_signed)
{
    const uint32_t next = begin_active(c, a);

    for (unsigned e = 0; e < a->count; e++) {
        if (a->slots[e] == PTXI_NO_SLOT)
            continue;
        if (a->bytes >= 4)
            ptxi_x86_load(&c->x, a->bits, PTXI_RCX, memory_of_active(a, e));
        else
            (is_signed ? ptxi_x86_load_signed_part : ptxi_x86_load_part)(&c->x, 8 * a->bytes, PTXI_RCX,
                                                                         memory_of_active(a, e));
        if (a->bits == 16)
            ptxi_x86_store_part(&c->x, 16, value_of_active(a, a->slots[e]), PTXI_RCX);
        else
            ptxi_x86_store(&c->x, a->bits, value_of_active(a, a->slots[e]), PTXI_RCX);
    }
    ptxi_native_end_active(c, next);
}

static void store_active_lanes(builder *c, const struct access *a)
{
    const uint32_t next = begin_active(c, a);

    for (unsigned e = 0; e < a->count; e++) {
        if (a->bits == 16)
            ptxi_x86_load_part(&c->x, 16, PTXI_RCX, value_of_active(a, a->slots[e]));
        else
            ptxi_x86_load(&c->x, a->bits, PTXI_RCX, value_of_active(a, a->slots[e]));
        if (a->bytes < 4)
            ptxi_x86_store_part(&c->x, 8 * a->bytes, memory_of_active(a, e), PTXI_RCX);
        else
            ptxi_x86_store(&c->x, a->bits, memory_of_active(a, e), PTXI_RCX);
    }
    ptxi_native_end_active(c, next);
}

/* Stores the elements of up to 16 lanes from `first` on, in partial code those of active lanes. */
static void scatter(builder *c, const struct access *a, uint32_t code, unsigned from, unsigned index, unsigned first)
{
    const unsigned active = PTXI_STACK_ACTIVE + first / 8;
    const bool all_words = code == PTXI_V_SCATTERDD;

    if (c->partial) {
        (all_words ? ptxi_x86_kmovw_load : ptxi_x86_kmovb_load)(&c->x, MASK, ptxi_native_on_stack(active));
    } else {
        ptxi_x86_imm(&c->x, PTXI_RAX, 0xffff);
        ptxi_x86_kmovw_to(&c->x, MASK, PTXI_RAX);
    }
    if (a->shared)
        ptxi_x86_gather(&c->x, code, from, PTXI_RDX, index, 0, MASK);
    else
        ptxi_x86_gather(&c->x, code, from, PTXI_RCX, index, a->i->imm, MASK);
}

/* AVX-512. Of two lanes with one address, the higher one is later. */
static void store_scattered(builder *c, const struct access *a)
{
    const unsigned parts = ptxi_native_parts(c, a->bits), lanes = PTXI_LANES / parts;

    for (unsigned k = 0; k < parts; k++) {
        const unsigned first = k * lanes;

        ptxi_x86_vector(&c->x, PTXI_V_MOV, T0, 0, ptxi_native_frame(a->i->b, k * c->bytes));
        if (a->shared && a->bits == 32) {
            scatter(c, a, PTXI_V_SCATTERDD, T0, k, first);
        } else if (a->shared) {
            if (k % 2)
                ptxi_x86_vector_imm(&c->x, PTXI_V_EXTRACT_HALF, k / 2, 0, reg(T6), 1);
            scatter(c, a, PTXI_V_SCATTERDQ, T0, k % 2 ? T6 : k / 2, first);
        } else if (a->bits == 64) {
            scatter(c, a, PTXI_V_SCATTERQQ, T0, k, first);
        } else {
            scatter(c, a, PTXI_V_SCATTERQD, T0, 2 * k, first);
            ptxi_x86_vector_imm(&c->x, PTXI_V_EXTRACT_HALF, T0, 0, reg(T1), 1);
            scatter(c, a, PTXI_V_SCATTERQD, T1, 2 * k + 1, first + lanes / 2);
        }
    }
}

/* Scatter instructions take as long for few lanes as for all, but a loop over lanes also ends with a branch that the
 * host foresees badly. */
static void store_few_or_many(builder *c, const struct access *a)
{
    enum { FEW = 6 };
    uint32_t few, done;

    if (!c->x.wide || a->count > 1 || a->bytes < 4) {
        store_active_lanes(c, a);
        return;
    }
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
    ptxi_x86_popcnt(&c->x, PTXI_RAX, PTXI_RAX);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), FEW);
    few = ptxi_x86_jump_if(&c->x, PTXI_B);
    store_scattered(c, a);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, few, c->x.size);
    store_active_lanes(c, a);
    ptxi_x86_patch(&c->x, done, c->x.size);
}

/* The 8 bytes of a lane, from the lower or the upper half of a vector of 128 bits. */
static void store_pair(builder *c, const struct access *a, unsigned l, unsigned from)
{
    ptxi_x86_vector_128(&c->x, l % 2 ? PTXI_V_MOVHPS_TO : PTXI_V_MOVQ_TO, from, 0, memory_of_lane(c, a, l, 0));
}

/* With vectors of 256 bits. */
static void store_pairs(builder *c, const struct access *a)
{
    const bool wide = c->x.wide;

    c->x.wide = false;
    for (unsigned k = 0; k < PTXI_LANES / LANES; k++) {
        ptxi_x86_vector(&c->x, PTXI_V_MOV, T0, 0, eight_lanes(a->i->b, k));
        ptxi_x86_vector(&c->x, PTXI_V_UNPCKHPS, T1, T0, eight_lanes(a->i->c, k));
        ptxi_x86_vector(&c->x, PTXI_V_UNPCKLPS, T0, T0, eight_lanes(a->i->c, k));
        for (unsigned l = 0; l < LANES; l++) {
            if (l == 4) {
                ptxi_x86_vector_imm(&c->x, PTXI_V_EXTRACT_128, T0, 0, reg(T0), 1);
                ptxi_x86_vector_imm(&c->x, PTXI_V_EXTRACT_128, T1, 0, reg(T1), 1);
            }
            store_pair(c, a, k * LANES + l, l % 4 < 2 ? T0 : T1);
        }
    }
    c->x.wide = wide;
}

static void store_quads(builder *c, const struct access *a)
{
    const bool wide = c->x.wide;

    c->x.wide = false;
    for (unsigned k = 0; k < PTXI_LANES / LANES; k++) {
        for (unsigned e = 0; e < 4; e++)
            ptxi_x86_vector(&c->x, PTXI_V_MOV, e, 0, eight_lanes(a->slots[e], k));
        transpose_4(c, low_registers, temporaries, middle_registers);
        for (unsigned l = 0; l < LANES; l++) {
            const unsigned from = middle_registers[l % 4];

            if (l >= 4)
                ptxi_x86_vector_imm(&c->x, PTXI_V_EXTRACT_128, from, 0, reg(from), 1);
            ptxi_x86_vector_128(&c->x, PTXI_V_MOVU_TO, from, 0, memory_of_lane(c, a, k * LANES + l, 0));
        }
    }
    c->x.wide = wide;
}

/* --- emitters --- */

static void put_load(builder *c, const struct access *a, uint32_t kind)
{
    if (c->partial)
        load_active_lanes(c, a, kind & PTXI_EXTENDS_SIGN);
    else if (a->bytes < 4)
        load_small(c, a, kind & PTXI_EXTENDS_SIGN);
    else if (a->bits == 64)
        load_double_words(c, a);
    else if (a->count > 1 || a->shared)
        load_one_or_all(c, a);
    else
        load_words(c, a);
}

static void put_store(builder *c, const struct access *a)
{
    if (c->partial)
        store_few_or_many(c, a);
    else if (a->count == 2)
        store_pairs(c, a);
    else if (a->count == 4)
        store_quads(c, a);
    else if (a->bytes < 4 || !c->x.wide)
        store_scalars(c, a);
    else
        store_scattered(c, a);
}

void ptxi_native_access_lanes(builder *c, insn *i, uint32_t elements, uint32_t kind)
{
    const struct access a = begin_access(c, i, elements, kind);
    const bool words = !a.shared && a.count == 1 && a.bytes == 4 && a.bits == 32, pairs = a.count == 2;
    const bool tries_groups = !c->partial && (words || pairs), tries_halves = tries_groups && words && c->x.wide;
    uint32_t other = 0, done = 0, halves_done = 0;

    if (tries_halves)
        halves_done = move_halves(c, &a, kind & PTXI_STORES);
    check_access(c, &a, kind & PTXI_STORES);
    if (tries_groups) {
        other = a.shared ? jump_unless_shared_pairs(c) : jump_unless_groups(c, pairs);
        move_groups(c, &a, kind & PTXI_STORES);
        done = ptxi_x86_jump(&c->x);
        ptxi_x86_patch(&c->x, other, c->x.size);
    }
    if (kind & PTXI_STORES)
        put_store(c, &a);
    else
        put_load(c, &a, kind);
    if (tries_groups)
        ptxi_x86_patch(&c->x, done, c->x.size);
    if (tries_halves)
        ptxi_x86_patch(&c->x, halves_done, c->x.size);
}

void ptxi_native_put_lanes(builder *c, insn *i, ptxi_native_lanes_emitter *lanes, uint32_t first, uint32_t second)
{
    ptxi_native_drop(c);
    c->lanes_case = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    lanes(c, i, first, second);
    ptxi_native_resume(c, c->lanes_case);
}

static bool is_aligned(insn *i, uint32_t elements)
{
    return !((uint32_t)i->imm & (ptxi_element_bytes(elements) * ptxi_element_count(elements) - 1));
}

bool ptxi_native_emit_access(builder *c, insn *i, uint32_t elements, uint32_t kind)
{
    if (!is_aligned(i, elements))
        return false;
    ptxi_native_put_lanes(c, i, ptxi_native_access_lanes, elements, kind);
    return true;
}
