/* Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2: "Instruction Format". */
#include "native/encoder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void ptxi_x86_data(struct ptxi_x86 *x, const void *data, uint32_t size)
{
    if (x->oom)
        return;
    if (x->capacity - x->size < size) {
        uint32_t capacity = 2 * (x->capacity + size) + 8192;
        unsigned char *bytes = realloc(x->bytes, capacity);

        if (!bytes) {
            x->oom = true;
            return;
        }
        x->bytes = bytes;
        x->capacity = capacity;
    }
    memcpy(x->bytes + x->size, data, size);
    x->size += size;
}

static void byte(struct ptxi_x86 *x, unsigned value)
{
    const unsigned char b = (unsigned char)value;

    if (x->size < x->capacity)
        x->bytes[x->size++] = b;
    else
        ptxi_x86_data(x, &b, 1);
}

static void word32(struct ptxi_x86 *x, uint32_t value)
{
    if (x->capacity - x->size >= sizeof value) { /* the copy is one instruction */
        memcpy(x->bytes + x->size, &value, sizeof value);
        x->size += sizeof value;
    } else {
        ptxi_x86_data(x, &value, sizeof value);
    }
}

/* --- operands --- */

static unsigned high(unsigned reg)
{
    return reg >> 3 & 1;
}

static bool has_index(struct ptxi_x86_rm rm)
{
    return rm.memory && rm.index != PTXI_NO_REGISTER;
}

static bool is_short(int32_t disp)
{
    return disp == (int8_t)disp;
}

/* The ModRM byte and what belongs to it. `after` bytes follow. EVEX scales short displacements, so it has none here. */
static void operand(struct ptxi_x86 *x, unsigned reg, struct ptxi_x86_rm rm, bool short_disp, unsigned after)
{
    const unsigned field = (reg & 7) << 3;

    if (!rm.memory) {
        byte(x, 0xc0 | field | (rm.reg & 7));
        return;
    }
    if (rm.reg == PTXI_RIP) {
        byte(x, field | 5);
        word32(x, (uint32_t)rm.disp - (x->size + 4 + after));
        return;
    }
    short_disp &= is_short(rm.disp);
    if (has_index(rm) || (rm.reg & 7) == PTXI_RSP) {
        const unsigned index = has_index(rm) ? rm.index & 7 : 4;

        byte(x, (short_disp ? 0x40 : 0x80) | field | 4);
        byte(x, (unsigned)rm.scale << 6 | index << 3 | (rm.reg & 7));
    } else {
        byte(x, (short_disp ? 0x40 : 0x80) | field | (rm.reg & 7));
    }
    if (short_disp)
        byte(x, (unsigned char)rm.disp);
    else
        word32(x, (uint32_t)rm.disp);
}

/* --- vectors --- */

struct vector_op {
    unsigned prefix, map, w, opcode;
};

static struct vector_op fields(uint32_t op)
{
    return (struct vector_op){ op & 3, op >> 2 & 3, op >> 4 & 3, op >> 8 };
}

/* `length`: 0 for 128 bits, 1 for 256 bits. */
static void vex(struct ptxi_x86 *x, unsigned length, uint32_t code, unsigned reg, unsigned first, struct ptxi_x86_rm rm,
                unsigned after)
{
    const struct vector_op op = fields(code);
    const unsigned b = rm.memory && rm.reg == PTXI_RIP ? 0 : high(rm.reg);

    assert(reg < 16 && first < 16 && (rm.memory || rm.reg < 16));
    byte(x, 0xc4);
    byte(x, !high(reg) << 7 | !(has_index(rm) && high(rm.index)) << 6 | !b << 5 | op.map);
    byte(x, (op.w & 1) << 7 | (~first & 15) << 3 | length << 2 | op.prefix);
    byte(x, op.opcode);
    operand(x, reg, rm, true, after);
}

static void evex(struct ptxi_x86 *x, uint32_t code, unsigned reg, unsigned first, struct ptxi_x86_rm rm, unsigned mask,
                 unsigned after)
{
    const struct vector_op op = fields(code);
    const unsigned b = rm.memory && rm.reg == PTXI_RIP ? 0 : high(rm.reg);
    unsigned index = has_index(rm) && high(rm.index);

    assert(reg < 32 && first < 32 && mask < 8);
    if (!rm.memory)
        index = rm.reg >> 4;
    byte(x, 0x62);
    byte(x, !high(reg) << 7 | !index << 6 | !b << 5 | !(reg >> 4) << 4 | op.map);
    byte(x, (op.w > 0) << 7 | (~first & 15) << 3 | 4 | op.prefix);
    byte(x, 0x40 | !(first >> 4) << 3 | mask);
    byte(x, op.opcode);
    operand(x, reg, rm, false, after);
}

static void vector(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm, unsigned mask,
                   unsigned after)
{
    if (x->wide)
        evex(x, op, reg, first, rm, mask, after);
    else
        vex(x, 1, op, reg, first, rm, after);
}

void ptxi_x86_vector(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm)
{
    vector(x, op, reg, first, rm, 0, 0);
}

void ptxi_x86_vector_imm(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm,
                         unsigned imm)
{
    vector(x, op, reg, first, rm, 0, 1);
    byte(x, imm);
}

void ptxi_x86_vector_masked(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm,
                            int imm, unsigned mask)
{
    assert(x->wide);
    evex(x, op, reg, first, rm, mask, imm >= 0);
    if (imm >= 0)
        byte(x, (unsigned)imm);
}

void ptxi_x86_vector_128(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned first, struct ptxi_x86_rm rm)
{
    vex(x, 0, op, reg, first, rm, 0);
}

void ptxi_x86_gather(struct ptxi_x86 *x, uint32_t op, unsigned reg, unsigned base, unsigned index, int32_t disp,
                     unsigned mask)
{
    const struct ptxi_x86_rm rm = ptxi_x86_indexed(base, index, disp);

    assert(reg < 16 && index < 16);
    if (x->wide)
        evex(x, op, reg, 0, rm, mask, 0);
    else
        vex(x, 1, op, reg, mask, rm, 0);
}

void ptxi_x86_vmovd(struct ptxi_x86 *x, unsigned v, unsigned reg)
{
    assert(v < 16);
    vex(x, 0, PTXI_V(1, 1, 0x6e, 0), v, 0, ptxi_x86_reg(reg), 0);
}

void ptxi_x86_vmovd_from(struct ptxi_x86 *x, unsigned reg, unsigned v)
{
    assert(v < 16);
    vex(x, 0, PTXI_V(1, 1, 0x7e, 0), v, 0, ptxi_x86_reg(reg), 0);
}

void ptxi_x86_vzeroupper(struct ptxi_x86 *x)
{
    byte(x, 0xc5);
    byte(x, 0xf8);
    byte(x, 0x77);
}

void ptxi_x86_kmovw_load(struct ptxi_x86 *x, unsigned k, struct ptxi_x86_rm memory)
{
    vex(x, 0, PTXI_V(0, 1, 0x90, 0), k, 0, memory, 0);
}

void ptxi_x86_kmovb_load(struct ptxi_x86 *x, unsigned k, struct ptxi_x86_rm memory)
{
    vex(x, 0, PTXI_V(1, 1, 0x90, 0), k, 0, memory, 0);
}

void ptxi_x86_kmovw_to(struct ptxi_x86 *x, unsigned k, unsigned reg)
{
    vex(x, 0, PTXI_V(0, 1, 0x92, 0), k, 0, ptxi_x86_reg(reg), 0);
}

void ptxi_x86_kmovw_from(struct ptxi_x86 *x, unsigned reg, unsigned k)
{
    vex(x, 0, PTXI_V(0, 1, 0x93, 0), reg, 0, ptxi_x86_reg(k), 0);
}

void ptxi_x86_kortestw(struct ptxi_x86 *x, unsigned k)
{
    vex(x, 0, PTXI_V(0, 1, 0x98, 0), k, 0, ptxi_x86_reg(k), 0);
}

/* --- general registers --- */

static void rex(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm)
{
    const unsigned b = rm.memory && rm.reg == PTXI_RIP ? 0 : high(rm.reg);
    const unsigned value = (bits == 64) << 3 | high(reg) << 2 | (has_index(rm) && high(rm.index)) << 1 | b;

    if (value)
        byte(x, 0x40 | value);
}

static void general(struct ptxi_x86 *x, unsigned bits, unsigned opcode, unsigned reg, struct ptxi_x86_rm rm,
                    unsigned after)
{
    assert(bits == 32 || bits == 64);
    rex(x, bits, reg, rm);
    if (opcode > 0xff)
        byte(x, opcode >> 8);
    byte(x, opcode);
    operand(x, reg, rm, true, after);
}

void ptxi_x86_load(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm)
{
    general(x, bits, 0x8b, reg, rm, 0);
}

void ptxi_x86_store(struct ptxi_x86 *x, unsigned bits, struct ptxi_x86_rm rm, unsigned reg)
{
    general(x, bits, 0x89, reg, rm, 0);
}

void ptxi_x86_load_part(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm)
{
    general(x, 32, bits == 8 ? 0x0fb6 : 0x0fb7, reg, rm, 0);
}

void ptxi_x86_load_signed_part(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm)
{
    general(x, 32, bits == 8 ? 0x0fbe : 0x0fbf, reg, rm, 0);
}

/* eax, ecx, edx and ebx have names for their lowest 8 bits without a REX prefix. */
void ptxi_x86_store_part(struct ptxi_x86 *x, unsigned bits, struct ptxi_x86_rm rm, unsigned reg)
{
    assert(reg <= PTXI_RBX);
    if (bits == 16)
        byte(x, 0x66);
    general(x, 32, bits == 8 ? 0x88 : 0x89, reg, rm, 0);
}

void ptxi_x86_store_imm(struct ptxi_x86 *x, unsigned bits, struct ptxi_x86_rm rm, int32_t imm)
{
    general(x, bits, 0xc7, 0, rm, 4);
    word32(x, (uint32_t)imm);
}

void ptxi_x86_imm(struct ptxi_x86 *x, unsigned reg, uint64_t imm)
{
    rex(x, imm <= UINT32_MAX ? 32 : 64, 0, ptxi_x86_reg(reg));
    byte(x, 0xb8 | (reg & 7));
    ptxi_x86_data(x, &imm, imm <= UINT32_MAX ? 4 : 8);
}

void ptxi_x86_alu(struct ptxi_x86 *x, enum ptxi_x86_alu op, unsigned bits, unsigned reg, struct ptxi_x86_rm rm)
{
    general(x, bits, op << 3 | 3, reg, rm, 0);
}

void ptxi_x86_alu_imm(struct ptxi_x86 *x, enum ptxi_x86_alu op, unsigned bits, struct ptxi_x86_rm rm, int32_t imm)
{
    general(x, bits, is_short(imm) ? 0x83 : 0x81, op, rm, is_short(imm) ? 1 : 4);
    if (is_short(imm))
        byte(x, (unsigned char)imm);
    else
        word32(x, (uint32_t)imm);
}

void ptxi_x86_test(struct ptxi_x86 *x, unsigned bits, unsigned a, unsigned b)
{
    general(x, bits, 0x85, b, ptxi_x86_reg(a), 0);
}

void ptxi_x86_test_imm(struct ptxi_x86 *x, struct ptxi_x86_rm rm, int32_t imm)
{
    general(x, 32, 0xf7, 0, rm, 4);
    word32(x, (uint32_t)imm);
}

void ptxi_x86_store_byte(struct ptxi_x86 *x, struct ptxi_x86_rm rm, int8_t imm)
{
    general(x, 32, 0xc6, 0, rm, 1);
    byte(x, (unsigned char)imm);
}

void ptxi_x86_cmp_byte(struct ptxi_x86 *x, struct ptxi_x86_rm rm, int8_t imm)
{
    assert(rm.memory);
    general(x, 32, 0x80, 7, rm, 1);
    byte(x, (unsigned char)imm);
}

void ptxi_x86_not(struct ptxi_x86 *x, unsigned reg)
{
    general(x, 32, 0xf7, 2, ptxi_x86_reg(reg), 0);
}

void ptxi_x86_shl(struct ptxi_x86 *x, unsigned bits, unsigned reg, unsigned count)
{
    general(x, bits, 0xc1, 4, ptxi_x86_reg(reg), 1);
    byte(x, count);
}

void ptxi_x86_shr(struct ptxi_x86 *x, unsigned bits, unsigned reg, unsigned count)
{
    general(x, bits, 0xc1, 5, ptxi_x86_reg(reg), 1);
    byte(x, count);
}

void ptxi_x86_shlx(struct ptxi_x86 *x, unsigned reg, unsigned from, unsigned count)
{
    vex(x, 0, PTXI_V(1, 2, 0xf7, 1), reg, count, ptxi_x86_reg(from), 0);
}

void ptxi_x86_shl_cl(struct ptxi_x86 *x, unsigned reg)
{
    general(x, 32, 0xd3, 4, ptxi_x86_reg(reg), 0);
}

void ptxi_x86_tzcnt(struct ptxi_x86 *x, unsigned reg, unsigned from)
{
    byte(x, 0xf3);
    general(x, 32, 0x0fbc, reg, ptxi_x86_reg(from), 0);
}

void ptxi_x86_popcnt(struct ptxi_x86 *x, unsigned reg, unsigned from)
{
    byte(x, 0xf3);
    general(x, 32, 0x0fb8, reg, ptxi_x86_reg(from), 0);
}

void ptxi_x86_imul(struct ptxi_x86 *x, unsigned reg, struct ptxi_x86_rm rm)
{
    general(x, 64, 0x0faf, reg, rm, 0);
}

void ptxi_x86_div(struct ptxi_x86 *x, unsigned reg)
{
    general(x, 64, 0xf7, 6, ptxi_x86_reg(reg), 0);
}

void ptxi_x86_movsxd(struct ptxi_x86 *x, unsigned reg, struct ptxi_x86_rm rm)
{
    general(x, 64, 0x63, reg, rm, 0);
}

void ptxi_x86_lea(struct ptxi_x86 *x, unsigned bits, unsigned reg, struct ptxi_x86_rm rm)
{
    general(x, bits, 0x8d, reg, rm, 0);
}

void ptxi_x86_prefetch(struct ptxi_x86 *x, struct ptxi_x86_rm rm)
{
    assert(rm.memory);
    general(x, 32, 0x0f18, 1, rm, 0); /* prefetcht0 */
}

void ptxi_x86_push(struct ptxi_x86 *x, unsigned reg)
{
    rex(x, 32, 0, ptxi_x86_reg(reg));
    byte(x, 0x50 | (reg & 7));
}

void ptxi_x86_pop(struct ptxi_x86 *x, unsigned reg)
{
    rex(x, 32, 0, ptxi_x86_reg(reg));
    byte(x, 0x58 | (reg & 7));
}

void ptxi_x86_call(struct ptxi_x86 *x, unsigned reg)
{
    general(x, 32, 0xff, 2, ptxi_x86_reg(reg), 0);
}

void ptxi_x86_jump_reg(struct ptxi_x86 *x, unsigned reg)
{
    general(x, 32, 0xff, 4, ptxi_x86_reg(reg), 0);
}

void ptxi_x86_ret(struct ptxi_x86 *x)
{
    byte(x, 0xc3);
}

/* --- jumps --- */

uint32_t ptxi_x86_jump(struct ptxi_x86 *x)
{
    byte(x, 0xe9);
    word32(x, 0);
    return x->size - 4;
}

uint32_t ptxi_x86_jump_if(struct ptxi_x86 *x, enum ptxi_x86_condition condition)
{
    byte(x, 0x0f);
    byte(x, 0x80 | condition);
    word32(x, 0);
    return x->size - 4;
}

void ptxi_x86_patch(struct ptxi_x86 *x, uint32_t place, uint32_t target)
{
    const uint32_t distance = target - (place + 4);

    if (x->oom)
        return;
    assert(place + 4 <= x->size && target <= x->size);
    memcpy(x->bytes + place, &distance, sizeof distance);
}
