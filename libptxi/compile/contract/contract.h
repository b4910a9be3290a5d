/* What the parts of contraction share. contract.c has the rules. */
#ifndef PTXI_COMPILE_CONTRACT_CONTRACT_H
#define PTXI_COMPILE_CONTRACT_CONTRACT_H

#include "compile/lower/lower.h"

/* contract_kind.c: what instructions are to contraction. */
enum ptxi_contract_kind { PTXI_IS_OTHER, PTXI_IS_MUL, PTXI_IS_ADD, PTXI_IS_SUB };

/* What products and sums of one type become. */
struct ptxi_fusable {
    uint16_t mul, add, sub, fma, neg, neg_same; /* neg_same: without .ftz */
    enum ptxi_class class;
    uint64_t sign; /* the sign bits */
    bool packed;
};
enum { PTXI_FUSABLES = 11 };
extern const struct ptxi_fusable ptxi_fusables[];

struct ptxi_contract {
    struct ptxi_ir *ir;
    uint32_t vregs;                /* that there were before this pass */
    uint32_t *zone;                /* instruction -> number of its stretch */
    uint32_t *first, *accesses;    /* per vreg: instruction * 2 + is write, ascending; at one instruction reads come first */
    uint8_t *outside;              /* per vreg: an enum outside of contract_access.c */
    uint32_t *seen, *stack, round; /* per block: in which round read_later() has come to it; and where it goes next */
    uint32_t *addend;              /* per instruction: what a fused one made here adds, before its sign was changed; else PTXI_NONE */
    struct ptxi_ir_insertions ins;
    uint32_t sign[PTXI_FUSABLES];  /* constants */
};

enum ptxi_contract_kind ptxi_contract_kind(const struct ptxi_ir_inst *i);
/* The type of a product or sum; ptxi_fusables for any other instruction. */
const struct ptxi_fusable *ptxi_contract_type(const struct ptxi_ir_inst *i);
bool ptxi_contract_is_neg(const struct ptxi_ir_inst *i);
/* Whether it is an operation that ends with a product; this makes of it the product and what is before. */
bool ptxi_contract_is_quotient(const struct ptxi_ir_inst *i);
void ptxi_contract_expand(struct ptxi_contract *c, uint32_t n);

/* contract_stretch.c */
void ptxi_contract_find_stretches(struct ptxi_contract *c);

/* contract_access.c: where registers are read and written, and whose values ptxas knows; false when memory is short. */
bool ptxi_contract_find_accesses(struct ptxi_contract *c);
/* First access of v from that one on. */
const uint32_t *ptxi_contract_access(const struct ptxi_contract *c, uint32_t v, uint32_t access);
/* First access of v behind instruction n. */
const uint32_t *ptxi_contract_access_after(const struct ptxi_contract *c, uint32_t v, uint32_t n);
bool ptxi_contract_written_once(const struct ptxi_contract *c, uint32_t v);
bool ptxi_contract_is_outside(const struct ptxi_contract *c, uint32_t v); /* v needs no register */
/* A product that ptxas computes, which is a constant and no product. */
bool ptxi_contract_is_computed(const struct ptxi_contract *c, const struct ptxi_ir_inst *mul);
/* Whether v, which may be no operand at all, is at instruction `to` what it was at instruction `from`. */
bool ptxi_contract_is_kept(const struct ptxi_contract *c, uint32_t v, uint32_t from, uint32_t to);
/* Whether anything behind instruction n reads v as it is there, whichever way control goes. */
bool ptxi_contract_read_later(struct ptxi_contract *c, uint32_t v, uint32_t n);

/* contract_product.c: a product and its uses, all in one stretch, unless it floats. */
struct ptxi_product {
    uint32_t mul; /* instruction */
    const uint32_t *uses;
    uint32_t count;
};

/* The mul that made v as instruction n reads it; false if it is none that could be fused. */
bool ptxi_contract_find_product(struct ptxi_contract *c, uint32_t v, uint32_t n, struct ptxi_product *p);
/* The uses of the value that access `def` gives v, and that `mul` has made or with another sign; false if they are not all in its stretch. */
bool ptxi_contract_find_uses(struct ptxi_contract *c, uint32_t v, const uint32_t *def, const struct ptxi_ir_inst *mul, struct ptxi_product *p);
/* Whether instruction n adds v, which `mul` makes, to something else, or subtracts one from the other. */
bool ptxi_contract_is_sum(const struct ptxi_contract *c, uint32_t n, uint32_t v, const struct ptxi_ir_inst *mul);
/* The other operand of a sum is a product with one use. */
bool ptxi_contract_prefers_other(struct ptxi_contract *c, uint32_t n, uint32_t v);
/* Whether v is a product, *p, that instruction n and all other uses could add. */
bool ptxi_contract_can_fuse(struct ptxi_contract *c, uint32_t v, uint32_t n, struct ptxi_product *p);

/* contract.c: how instructions are changed. */
uint32_t ptxi_contract_make(struct ptxi_contract *c, uint32_t at, uint16_t op, enum ptxi_class class, uint32_t v, uint32_t w);
/* v with its sign changed, or a copy of it, made before instruction `at`. */
uint32_t ptxi_contract_derive(struct ptxi_contract *c, uint32_t v, uint32_t at, const struct ptxi_fusable *type, bool negate);
/* Factor `f` of p's mul for instruction n: as it was at the mul, with changed sign if asked. */
uint32_t ptxi_contract_factor(struct ptxi_contract *c, unsigned f, const struct ptxi_product *p, uint32_t n, bool negate);
/* Nobody needs the product any more. */
void ptxi_contract_drop(struct ptxi_contract *c, uint32_t mul);
/* Which NaN comes out of a fused f64 operation: the factors are those of the product, and neg does not change a NaN's sign. */
uint16_t ptxi_contract_nan_mods(uint16_t add, uint16_t mul, bool minus_a, bool minus_c);

/* contract_neg.c: products whose sign neg changes; true if anything was. */
bool ptxi_contract_negs(struct ptxi_contract *c);
/* contract_power.c: products of products of f32 and powers of two. */
void ptxi_contract_powers(struct ptxi_contract *c);

#endif
