/* Values of one lane in vector registers, for loops lane by lane. See lane_loop.c. */
#ifndef PTXI_NATIVE_LANE_VALUES_H
#define PTXI_NATIVE_LANE_VALUES_H

#include "native/builder.h"

enum { PTXI_LANE_VALUES = 14, PTXI_LANE_TEMPORARY = 14, PTXI_LANE_RANGES = 32 };

/* A value of the lane in a vector register, whose other elements may have anything. */
struct ptxi_lane_value {
    uint32_t at, bits; /* element 0 of its register in the frame, and bits of an element; 0: none */
    bool dirty, raw;   /* newer than the frame; an f32 result that may be any NaN */
    uint32_t used;     /* time of its last use */
};

/* The elements of a register in the frame. */
struct ptxi_lane_range {
    uint32_t at, bytes;
};

struct ptxi_lane_ranges {
    struct ptxi_lane_range list[PTXI_LANE_RANGES];
    unsigned count;
};

struct ptxi_lane_loop {
    struct ptxi_native_builder *c;
    struct ptxi_lane_value values[PTXI_LANE_VALUES]; /* of vector registers 0, 1, ... */
    uint32_t clock;
    uint32_t kept;                /* registers that the operation still needs */
    uint32_t in_rax;              /* the 64-bit value in rax, or UINT32_MAX */
    struct ptxi_lane_ranges read; /* in a round before it is written */
    struct ptxi_lane_ranges written;
    struct ptxi_lane_ranges common;                  /* read of lane 0 for all lanes */
    struct ptxi_lane_ranges read_rows, written_rows; /* address registers */
    const struct ptxi_insn *loads[PTXI_LANE_RANGES];
    unsigned load_bytes[PTXI_LANE_RANGES];
    unsigned load_count;
    bool unsuitable; /* the loop is too large, or reads a register in two ways */
};

/* Registers: a value, which must not be written; a new one; a result. */
unsigned ptxi_lane_source(struct ptxi_lane_loop *l, uint32_t at, uint32_t bits);
/* The same for operations whose result does not depend on which NaN the operand is. */
unsigned ptxi_lane_source_f32(struct ptxi_lane_loop *l, uint32_t at);
unsigned ptxi_lane_new(struct ptxi_lane_loop *l);
void ptxi_lane_define(struct ptxi_lane_loop *l, uint32_t at, uint32_t bits, unsigned reg);
/* The same for an f32 result with any NaN. */
void ptxi_lane_define_f32(struct ptxi_lane_loop *l, uint32_t at, unsigned reg);
/* rax = a value of 64 bits; a value of 64 bits = rax. */
void ptxi_lane_load_rax(struct ptxi_lane_loop *l, uint32_t at);
void ptxi_lane_define_rax(struct ptxi_lane_loop *l, uint32_t at);
void ptxi_lane_lose_rax(struct ptxi_lane_loop *l); /* rax changes */
/* Element 0 of a register that the loop does not change, for all lanes. */
struct ptxi_x86_rm ptxi_lane_common(struct ptxi_lane_loop *l, unsigned slot, uint32_t bits);
/* Offsets of the lanes of an address register that is read or written. */
uint32_t ptxi_lane_read_row(struct ptxi_lane_loop *l, unsigned slot);
uint32_t ptxi_lane_write_row(struct ptxi_lane_loop *l, unsigned slot);
/* Another load: its bounds are on the stack, the lowest address, less the immediate, and how much higher others may be.
 */
struct ptxi_x86_rm ptxi_lane_add_load(struct ptxi_lane_loop *l, const struct ptxi_insn *i, unsigned bytes);

/* For the loop: whether a range is in a list, whether ranges overlap, the bytes of a register with such elements, and
 * where the bounds of a load are. A part of another range makes the loop unsuitable. */
bool ptxi_lane_has(struct ptxi_lane_loop *l, const struct ptxi_lane_ranges *r, uint32_t at, uint32_t bytes);
bool ptxi_lane_overlap(uint32_t at, uint32_t bytes, uint32_t other_at, uint32_t other_bytes);
struct ptxi_x86_rm ptxi_lane_bounds(unsigned load);
/* No value is in a register; the frame gets all values. */
void ptxi_lane_begin(struct ptxi_lane_loop *l);
void ptxi_lane_store_all(struct ptxi_lane_loop *l);

#endif
