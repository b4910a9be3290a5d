/* Contraction. contract.c has the rules. The other files build on each other in this order: contract_kind.c,
 * contract_access.c, contract_region.c, contract_product.c, contract_edit.c, contract_neg.c and contract_power.c. */
#ifndef PTXI_COMPILE_CONTRACT_CONTRACT_STATE_H
#define PTXI_COMPILE_CONTRACT_CONTRACT_STATE_H

#include "compile/ir/ir.h"
#include "isa/isa.h"

/* The pass: makes an fma of a mul and an add or sub, as ptxas does. False, with ir->oom, if memory is short. */
bool ptxi_contract(struct ptxi_ir *ir);

/* --- contract_kind.c: the role of an instruction in contraction --- */

enum ptxi_contract_kind { PTXI_IS_OTHER, PTXI_IS_MUL, PTXI_IS_ADD, PTXI_IS_SUB };

/* The operations on one type. */
struct ptxi_fusable {
    uint16_t mul, add, sub, fma, neg;
    uint16_t neg_same; /* neg without .ftz */
    enum ptxi_class class;
    uint64_t sign; /* the sign bits */
    bool packed;
};
enum { PTXI_FUSABLES = 11 };
extern const struct ptxi_fusable ptxi_fusables[];

/* An operation that ends with a product: of the numerator and the reciprocal of the denominator, both scaled. */
struct ptxi_quotient {
    uint16_t op, mul;
    uint16_t scale; /* makes the scale; 0: not scaled */
    bool of_one;    /* rcp: the numerator is 1 */
};

enum ptxi_contract_kind ptxi_contract_kind(const struct ptxi_ir_inst *i);
/* The type of a product or sum; ptxi_fusables for any other instruction. */
const struct ptxi_fusable *ptxi_contract_type(const struct ptxi_ir_inst *i);
bool ptxi_contract_is_neg(const struct ptxi_ir_inst *i);
/* NULL if the instruction is not such an operation. */
const struct ptxi_quotient *ptxi_contract_quotient(const struct ptxi_ir_inst *i);

/* --- the state of the pass --- */

struct ptxi_contract {
    struct ptxi_ir *ir;
    uint32_t vregs;             /* number of registers before this pass */
    uint32_t *region;           /* per instruction: number of its region of straight code */
    /* per register: instruction * 2 + is write, ascending; at one instruction reads come first */
    uint32_t *first, *accesses;
    uint8_t *known;             /* per register: enum knowledge of contract_access.c */
    /* of ptxi_contract_read_later(): per block, the round in which it was reached; blocks to visit */
    uint32_t *seen, *stack, round;
    /* per instruction: what an fma made here adds, before its sign was changed; else PTXI_NONE */
    uint32_t *addend;
    struct ptxi_ir_insertions ins;
    uint32_t sign[PTXI_FUSABLES]; /* constants with the sign bits of a type, or PTXI_NONE */
};

/* --- contract_region.c --- */

void ptxi_contract_find_regions(struct ptxi_contract *c);

/* --- contract_access.c: where registers are read and written, and which values ptxas knows --- */

/* False if memory is short. */
bool ptxi_contract_find_accesses(struct ptxi_contract *c);
/* The first access of v that is not before `access`. */
const uint32_t *ptxi_contract_access(const struct ptxi_contract *c, uint32_t v, uint32_t access);
/* The first access of v after instruction n. */
const uint32_t *ptxi_contract_access_after(const struct ptxi_contract *c, uint32_t v, uint32_t n);
bool ptxi_contract_written_once(const struct ptxi_contract *c, uint32_t v);
/* Whether v needs no register: ptxas knows its value, or it is in the constant bank. */
bool ptxi_contract_is_known(const struct ptxi_contract *c, uint32_t v);
/* Whether ptxas computes the product, so that it is a constant. */
bool ptxi_contract_is_computed(const struct ptxi_contract *c, const struct ptxi_ir_inst *mul);
/* Whether v has the same value at the instructions `from` and `to`. v may be PTXI_NONE. */
bool ptxi_contract_is_kept(const struct ptxi_contract *c, uint32_t v, uint32_t from, uint32_t to);
/* Whether any instruction that control may reach from instruction n reads the value that v has there. */
bool ptxi_contract_read_later(struct ptxi_contract *c, uint32_t v, uint32_t n);

/* --- contract_product.c: a product and its uses, all in one region, unless ptxas moves it --- */

struct ptxi_product {
    uint32_t mul; /* instruction */
    const uint32_t *uses;
    uint32_t count;
};

/* Finds the mul that made v as instruction n reads it; false if it cannot be fused. */
bool ptxi_contract_find_product(struct ptxi_contract *c, uint32_t v, uint32_t n, struct ptxi_product *p);
/* Finds the uses of the value that access `def` gives v, which `mul` or a neg of it has made; false if some are not in
 * its region. */
bool ptxi_contract_find_uses(struct ptxi_contract *c, uint32_t v, const uint32_t *def, const struct ptxi_ir_inst *mul,
                             struct ptxi_product *p);
/* Whether instruction n adds v, which `mul` makes, to another value, or subtracts one from the other. */
bool ptxi_contract_is_sum(const struct ptxi_contract *c, uint32_t n, uint32_t v, const struct ptxi_ir_inst *mul);
/* Whether the other operand of the sum is a product with only one use. */
bool ptxi_contract_prefers_other(struct ptxi_contract *c, uint32_t n, uint32_t v);
/* Whether v is a product, *p, that instruction n and all its other uses could add. */
bool ptxi_contract_can_fuse(struct ptxi_contract *c, uint32_t v, uint32_t n, struct ptxi_product *p);

/* --- contract_edit.c: changes of instructions --- */

/* The result of a new operation before instruction `at`. */
uint32_t ptxi_contract_make(struct ptxi_contract *c, uint32_t at, uint16_t op, enum ptxi_class class, uint32_t v,
                            uint32_t w);
/* v with its sign changed (`negate`), or a copy of v, made before instruction `at`. */
uint32_t ptxi_contract_derive(struct ptxi_contract *c, uint32_t v, uint32_t at, const struct ptxi_fusable *type,
                              bool negate);
/* Factor `f` of the product for instruction n: its value at the mul, with its sign changed if `negate`. */
uint32_t ptxi_contract_factor(struct ptxi_contract *c, unsigned f, const struct ptxi_product *p, uint32_t n,
                              bool negate);
/* Replaces a quotient by its product and the operations before that. Does nothing to a mul. */
void ptxi_contract_expand(struct ptxi_contract *c, uint32_t n);
/* Deletes a product that nothing reads any more. */
void ptxi_contract_drop(struct ptxi_contract *c, uint32_t mul);
/* The mods that decide which NaN a fused f64 operation returns: the factors are those of the product, and neg does not
 * change a NaN's sign. */
uint16_t ptxi_contract_nan_mods(uint16_t add, uint16_t mul, bool minus_a, bool minus_c);

/* --- contract_neg.c --- */

/* Makes products of negs of products; true if anything was changed. */
bool ptxi_contract_fold_negs(struct ptxi_contract *c);

/* --- contract_power.c --- */

/* Fuses products of f32 with products by powers of two. */
void ptxi_contract_scale_powers(struct ptxi_contract *c);

#endif
