/* Compiles random programs of integers and branches. A small interpreter runs their bytecode, and memory must match
 * an evaluation of their syntax trees. */
#include "unit/support/random_program.h"

/* --- an interpreter with one lane for the few operations that the programs need; it keeps the value of an index
 * register in the first bytes of its slot --- */

enum { MEMORY = 4096 };

struct machine {
    const struct ptxi_code *code;
    uint16_t *frame; /* one element per unit */
    uint8_t *memory; /* global memory: addresses are offsets */
};

/* Registers begin at any unit. */
typedef uint32_t __attribute__((aligned(2), may_alias)) word32;
typedef uint64_t __attribute__((aligned(2), may_alias)) word64;

static word32 *word(const struct machine *m, uint16_t slot)
{
    ck_assert_uint_lt(slot, m->code->frame_units);
    return (word32 *)&m->frame[slot];
}

static int32_t number(const struct machine *m, uint16_t slot)
{
    return (int32_t)*word(m, slot);
}

static word64 *wide(const struct machine *m, uint16_t slot)
{
    ck_assert_uint_lt(slot, m->code->frame_units);
    return (word64 *)&m->frame[slot];
}

static uint16_t *pred(const struct machine *m, uint16_t slot)
{
    ck_assert_uint_lt(slot, m->code->frame_units);
    return &m->frame[slot];
}

static void run_setp(struct machine *m, const struct ptxi_insn *i, bool t)
{
    ck_assert_int_eq(i->imm, PTXI_NO_SLOT);
    *pred(m, i->d) = t;
}

/* Runs one operation. Returns the next one, or NULL at the end. */
static const struct ptxi_insn *run_insn(struct machine *m, const struct ptxi_insn *i)
{
    switch (i->op) {
    case PTXI_OP_end: case PTXI_OP_exit: return NULL;
    case PTXI_OP_mov_32: *word(m, i->d) = *word(m, i->a); break;
    case PTXI_OP_mov_64: *wide(m, i->d) = *wide(m, i->a); break;
    case PTXI_OP_add_i32: *word(m, i->d) = *word(m, i->a) + *word(m, i->b); break;
    case PTXI_OP_sub_i32: *word(m, i->d) = *word(m, i->a) - *word(m, i->b); break;
    case PTXI_OP_mul_lo_i32: *word(m, i->d) = *word(m, i->a) * *word(m, i->b); break;
    case PTXI_OP_xor_b32: *word(m, i->d) = *word(m, i->a) ^ *word(m, i->b); break;
    case PTXI_OP_and_b32: *word(m, i->d) = *word(m, i->a) & *word(m, i->b); break;
    case PTXI_OP_ext_u32_64: *wide(m, i->d) = *word(m, i->a); break;
    case PTXI_OP_add_i64: *wide(m, i->d) = *wide(m, i->a) + *wide(m, i->b); break;
    case PTXI_OP_mad_lo_i32: *word(m, i->d) = *word(m, i->a) * *word(m, i->b) + *word(m, i->c); break;
    case PTXI_OP_setp_lt_s32: run_setp(m, i, (int32_t)*word(m, i->a) < (int32_t)*word(m, i->b)); break;
    case PTXI_OP_setp_eq_i32: run_setp(m, i, *word(m, i->a) == *word(m, i->b)); break;
    case PTXI_OP_index_mov: case PTXI_OP_index_from: *word(m, i->d) = *word(m, i->a); break;
    case PTXI_OP_index_add: *word(m, i->d) = *word(m, i->a) + *word(m, i->b); break;
    case PTXI_OP_index_sub: *word(m, i->d) = *word(m, i->a) - *word(m, i->b); break;
    case PTXI_OP_index_mul: *word(m, i->d) = *word(m, i->a) * *word(m, i->b); break;
    case PTXI_OP_index_mad: *word(m, i->d) = *word(m, i->a) * *word(m, i->b) + *word(m, i->c); break;
    case PTXI_OP_index_setp_lt_s32: run_setp(m, i, (number(m, i->a) < number(m, i->b)) != (i->mods != 0)); break;
    case PTXI_OP_index_setp_eq: run_setp(m, i, (number(m, i->a) == number(m, i->b)) != (i->mods != 0)); break;
    case PTXI_OP_index_sreg: case PTXI_OP_sreg_32: *word(m, i->d) = 77; break;
    case PTXI_OP_ld_param_64: *wide(m, i->d) = 0; break;
    case PTXI_OP_ld_global_32: memcpy(word(m, i->d), m->memory + *wide(m, i->a) + i->imm, 4); break;
    case PTXI_OP_st_global_32: memcpy(m->memory + *wide(m, i->a) + i->imm, word(m, i->b), 4); break;
    case PTXI_OP_guard: return (*pred(m, i->a) != 0) != (i->mods & 1) ? i + 1 : i + 2;
    case PTXI_OP_bra: ck_assert_int_gt(i->imm, 0); return i + i->imm;
    case PTXI_OP_bra_if: ck_assert_int_gt(i->imm, 0); return *pred(m, i->a) ? i + i->imm : i + 1;
    case PTXI_OP_bra_ifn: ck_assert_int_gt(i->imm, 0); return *pred(m, i->a) ? i + 1 : i + i->imm;
    case PTXI_OP_loop: ck_assert_int_le(i->imm, 0); return i + i->imm;
    case PTXI_OP_loop_if: ck_assert_int_le(i->imm, 0); return *pred(m, i->a) ? i + i->imm : i + 1;
    case PTXI_OP_loop_ifn: ck_assert_int_le(i->imm, 0); return *pred(m, i->a) ? i + 1 : i + i->imm;
#define COMPARED(name, op) \
    case PTXI_OP_bra_##name: ck_assert_int_gt(i->imm, 0); return number(m, i->a) op number(m, i->b) ? i + i->imm \
        : i + 1; \
    case PTXI_OP_loop_##name: ck_assert_int_le(i->imm, 0); return number(m, i->a) op number(m, i->b) ? i + i->imm \
        : i + 1;
    COMPARED(eq_i32, ==)
    COMPARED(ne_i32, !=)
    COMPARED(lt_s32, <)
    COMPARED(ge_s32, >=)
    COMPARED(index_eq, ==)
    COMPARED(index_ne, !=)
    COMPARED(index_lt_s32, <)
    COMPARED(index_ge_s32, >=)
#undef COMPARED
    case PTXI_OP_brx: {
        const uint16_t *p = m->code->pool + i->imm;
        uint32_t k = *word(m, i->a);

        ck_assert_uint_lt(k, ptxi_pool_word(p, 0));
        return i + (int32_t)ptxi_pool_word(p, k + 1);
    }
    default: ck_abort_msg("operation %s is not supported by this test", ptxi_op_names[i->op]);
    }
    return i + 1;
}

static void run_code(const struct ptxi_code *code, uint8_t *memory)
{
    struct machine m = { code, calloc(code->frame_units + 4, 2), memory };

    ck_assert(m.frame != NULL);
    memset(m.frame, 0x5a, code->frame_units * 2);
    for (uint32_t k = 0; k < code->const_count; k++)
        memcpy(&m.frame[code->consts[k].slot], &code->consts[k].value, code->consts[k].bytes ? code->consts[k].bytes
               : 2);
    for (const struct ptxi_insn *i = code->setup; i;)
        i = run_insn(&m, i);
    for (const struct ptxi_insn *i = code->insns; i;)
        i = run_insn(&m, i);
    free(m.frame);
}

/* --- evaluation of the syntax tree --- */

struct reader {
    const struct ptxi_func *f;
    uint64_t *regs;
    uint8_t *memory;
};

static uint64_t value(const struct reader *r, const struct ptxi_operand *o)
{
    return o->form == PTXI_OPD_REG ? r->regs[o->reg] : o->form == PTXI_OPD_IMM ? o->imm : 77;
}

static uint32_t compute(const char *name, uint32_t a, uint32_t b)
{
    return !strcmp(name, "add") ? a + b : !strcmp(name, "sub") ? a - b : !strcmp(name, "mul") ? a * b : !strcmp(name,
            "xor") ? a ^ b : a & b;
}

static bool is_64(const struct ptxi_match *m)
{
    return ptxi_isa_has(m, "u64") || ptxi_isa_has(m, "s64");
}

/* Returns the index of the next instruction. */
static uint32_t read_inst(struct reader *r, uint32_t at)
{
    const struct ptxi_inst *i = &r->f->insts[at];
    const struct ptxi_operand *o = i->operands;
    const char *name = i->match->row->mnemonic;

    if (i->guard != PTXI_NO_REG && (r->regs[i->guard] != 0) == i->guard_negated)
        return at + 1;
    if (!strcmp(name, "ret"))
        return r->f->inst_count;
    if (!strcmp(name, "bra"))
        return o[0].target;
    if (!strcmp(name, "brx"))
        return o[1].table->targets[r->regs[o[0].reg]];
    if (!strcmp(name, "setp"))
        r->regs[o[0].reg] = ptxi_isa_has(i->match, "lt") ? (int32_t)value(r, &o[2]) < (int32_t)value(r, &o[3])
                                                         : (uint32_t)value(r, &o[2]) == (uint32_t)value(r, &o[3]);
    else if (!strcmp(name, "mov") || !strcmp(name, "cvt"))
        r->regs[o[0].reg] = value(r, &o[1]);
    else if (!strcmp(name, "ld"))
        r->regs[o[0].reg] = 0;
    else if (!strcmp(name, "st"))
        memcpy(r->memory + r->regs[o[0].address->reg] + o[0].address->offset, &r->regs[o[1].reg], 4);
    else if (is_64(i->match))
        r->regs[o[0].reg] = value(r, &o[1]) + value(r, &o[2]);
    else
        r->regs[o[0].reg] = compute(name, (uint32_t)value(r, &o[1]), (uint32_t)value(r, &o[2]));
    if (!strcmp(name, "ld") && ptxi_isa_has(i->match, "global"))
        memcpy(&r->regs[o[0].reg], r->memory + r->regs[o[1].address->reg] + o[1].address->offset, 4);
    return at + 1;
}

static void read_tree(const struct ptxi_func *f, uint8_t *memory)
{
    struct reader r = { f, calloc(f->reg_count + 1, sizeof(uint64_t)), memory };

    ck_assert(r.regs != NULL);
    for (uint32_t at = 0; at < f->inst_count;)
        at = read_inst(&r, at);
    free(r.regs);
}

/* --- comparison --- */

/* Any block may branch to any other. A count of executed blocks ends the program. */
static void tangled_program(struct random *r, struct ptxi_str *s)
{
    uint32_t blocks = 2 + draw(r, 14);

    begin_program(s);
    for (uint32_t b = 0; b < blocks; b++) {
        ptxi_str_printf(s, "L%u:\nadd.s32 %%r20, %%r20, -1;\nsetp.lt.s32 %%p8, %%r20, 0;\n@%%p8 bra END;\n", b);
        for (uint32_t k = draw(r, 6); k; k--)
            random_op(r, s);
        if (draw(r, 8) == 0) {
            ptxi_str_printf(s, "T%u: .branchtargets L%u, L%u, L%u, L%u;\nand.b32 %%r21, %%r%u, 3;\nbrx.idx %%r21, "
                               "T%u;\n", b, draw(r, blocks),
                            draw(r, blocks), draw(r, blocks), draw(r, blocks), draw(r, REGS), b);
        } else if (draw(r, 4)) {
            ptxi_str_printf(s, "@%s%%p%u bra L%u;\n", draw(r, 2) ? "!" : "", draw(r, PREDS), draw(r, blocks));
        }
        if (draw(r, 3) == 0)
            ptxi_str_printf(s, "bra L%u;\n", draw(r, blocks));
    }
    end_program(s);
}

static void check_program(const char *text, unsigned seed)
{
    static uint8_t got[MEMORY], want[MEMORY];
    struct module m;
    struct ptxi_code *code = code_of(&m, text, "k", NULL);

    for (unsigned k = 0; k < MEMORY; k++)
        got[k] = want[k] = (uint8_t)(k * 7 + seed);
    read_tree(find_func(&m, "k"), want);
    run_code(code, got);
    if (memcmp(got, want, MEMORY))
        fputs(text, stderr);
    ck_assert_msg(!memcmp(got, want, MEMORY), "program %u: wrong results", seed);
    unload(&m);
}

/* Programs take five times as long with sanitizers. */
#ifdef __SANITIZE_ADDRESS__
enum { PROGRAMS = 600 };
#else
enum { PROGRAMS = 3000 };
#endif

START_TEST(random_programs_match_their_text)
{
    for (unsigned seed = 0; seed < PROGRAMS; seed++) {
        struct random r = { seed };
        struct ptxi_str s;

        ptxi_str_init(&s, NULL);
        if (seed % 2)
            tangled_program(&r, &s);
        else
            structured_program(&r, &s);
        check_program(ptxi_str_text(&s), seed);
        ptxi_str_free(&s);
    }
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    struct random r = { 5 };
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    structured_program(&r, &s);
    for (long n = 0;; n++) {
        struct countdown cd = { .left = n };
        struct ptxi_alloc al = countdown_alloc(&cd);
        struct ptxi_compile_options o;
        struct module m;
        bool ok = load(&m, ptxi_str_text(&s), &al);

        o = default_options(&m);
        o.verify = false;
        ok = ok && ptxi_compile(m.layout, find_func(&m, "k"), &o, &m.arena, &m.diags);
        unload(&m);
        ck_assert_int_eq(cd.live, 0);
        if (ok)
            break;
    }
    ptxi_str_free(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("programs");
    TCase *t = tcase_create("programs");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, random_programs_match_their_text);
    tcase_add_test(t, every_allocation_may_fail);
    suite_add_tcase(s, t);
    return run_suite(s);
}
