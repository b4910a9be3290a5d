/* Tests the control flow graph: the order of blocks, and which loops may wait for other threads. */
#include "unit/support/random_program.h"

#include "compile/lower/lower_state.h"
#include "compile/ir/ir.h"

struct graph {
    struct module m;
    struct ptxi_arena scratch;
    struct ptxi_ir ir;
};

static void make_graph(struct graph *g, const char *text)
{
    static struct ptxi_compile_options options;
    struct ptxi_lower b = { .ir = &g->ir, .options = &options };

    ck_assert(load(&g->m, text, NULL));
    ptxi_arena_init(&g->scratch, NULL);
    options = default_options(&g->m);
    g->ir = (struct ptxi_ir){ .arena = &g->scratch };
    b.layout = g->m.layout;
    b.func = g->ir.func = find_func(&g->m, "k");
    ck_assert(ptxi_lower(&b));
    ck_assert(ptxi_cfg_find_blocks(&g->ir));
    ck_assert(ptxi_cfg_order_blocks(&g->ir));
}

static void free_graph(struct graph *g)
{
    ptxi_arena_free(&g->scratch);
    unload(&g->m);
}

/* True if every path from the entry to block b goes through block d. */
static bool dominates(const struct ptxi_ir *ir, uint32_t d, uint32_t b)
{
    uint8_t *seen = calloc(ir->block_count, 1);
    uint32_t *stack = calloc(ir->block_count + 1, sizeof *stack), top = 0;
    bool reached;

    if (d != 0)
        stack[top++] = 0;
    if (d != 0)
        seen[0] = 1;
    while (top) {
        const struct ptxi_block *block = &ir->blocks[stack[--top]];

        for (uint32_t e = 0; e < block->succ_count; e++) {
            uint32_t to = ir->edges[block->succ + e];

            if (to != d && !seen[to]) {
                seen[to] = 1;
                stack[top++] = to;
            }
        }
    }
    reached = seen[b];
    free(seen);
    free(stack);
    return !reached;
}

/* Computes the blocks of the loop with the back edge from -> head: those that reach `from` without passing the head. */
static void check_contiguous(const struct ptxi_ir *ir, uint32_t from, uint32_t head, unsigned seed)
{
    uint8_t *in = calloc(ir->block_count, 1);
    uint32_t *stack = calloc(ir->block_count + 1, sizeof *stack), top = 0, low = UINT32_MAX, high = 0, count = 0;

    in[head] = 1;
    if (!in[from])
        stack[top++] = from;
    in[from] = 1;
    while (top) {
        const struct ptxi_block *block = &ir->blocks[stack[--top]];

        for (uint32_t e = 0; e < block->pred_count; e++) {
            uint32_t p = ir->pred_edges[block->pred + e];

            if (!in[p] && ir->blocks[p].order != PTXI_NONE) {
                in[p] = 1;
                stack[top++] = p;
            }
        }
    }
    for (uint32_t b = 0; b < ir->block_count; b++) {
        if (!in[b])
            continue;
        count++;
        low = ir->blocks[b].order < low ? ir->blocks[b].order : low;
        high = ir->blocks[b].order > high ? ir->blocks[b].order : high;
    }
    ck_assert_msg(high - low + 1 == count, "program %u: a loop of %u blocks occupies %u positions", seed, count,
                  high - low + 1);
    ck_assert_msg(ir->blocks[head].order == low, "program %u: a loop does not begin with its head", seed);
    free(in);
    free(stack);
}

/* In structured programs, only back edges go backward, and the blocks of a loop are adjacent. */
START_TEST(blocks_follow_their_predecessors)
{
    for (unsigned seed = 0; seed < 500; seed++) {
        struct random r = { seed };
        struct ptxi_str s;
        struct graph g;

        ptxi_str_init(&s, NULL);
        structured_program(&r, &s);
        make_graph(&g, ptxi_str_text(&s));
        for (uint32_t p = 0; p < g.ir.order_count; p++) {
            uint32_t b = g.ir.order[p];
            const struct ptxi_block *block = &g.ir.blocks[b];

            for (uint32_t e = 0; e < block->succ_count; e++) {
                uint32_t to = g.ir.edges[block->succ + e];

                if (g.ir.blocks[to].order > p)
                    continue;
                ck_assert_msg(dominates(&g.ir, to, b),
                              "program %u: a branch goes back to a block that is not the head of a loop", seed);
                check_contiguous(&g.ir, b, to, seed);
            }
        }
        free_graph(&g);
        ptxi_str_free(&s);
    }
}
END_TEST

/* Thousands of nested loops and arbitrary branches make more regions than are worth ordering. */
START_TEST(irreducible_flow_compiles_in_bounded_time)
{
    enum { LABELS = 20000 };

    for (int irreducible = 0; irreducible < 2; irreducible++) {
        struct ptxi_code *code;
        struct ptxi_str s;
        struct module m;

        ptxi_str_init(&s, NULL);
        ptxi_str_puts(&s, HEAD ".visible .entry k()\n{\n.reg .pred %p;\n");
        for (unsigned i = 0; i < LABELS; i++)
            ptxi_str_printf(&s, irreducible ? "L%u: @%%p bra L%u;\n" : "L%u:\n", i, i * 7919 % LABELS);
        for (unsigned i = LABELS; !irreducible && i--;)
            ptxi_str_printf(&s, "@%%p bra L%u;\n", i);
        ptxi_str_puts(&s, "ret;\n}\n");
        code = code_of(&m, ptxi_str_text(&s), "k", NULL);
        for (uint32_t k = 0; k < code->count; k++) {
            const char *name = ptxi_op_names[code->insns[k].op];

            if (!strncmp(name, "bra", 3))
                ck_assert_int_gt(code->insns[k].imm, 0);
            else if (!strncmp(name, "loop", 4))
                ck_assert_int_le(code->insns[k].imm, 0);
        }
        ck_assert_uint_ge(count_ops(code, "loop"), irreducible ? LABELS / 4 : LABELS);
        unload(&m);
        ptxi_str_free(&s);
    }
}
END_TEST

/* nvcc puts rarely executed code after the end of the function, from where it jumps back. The join must move after
 * it. */
START_TEST(a_join_before_its_arm_is_moved)
{
    struct module m;
    struct ptxi_code *c = code_of(&m,
                                  KERNEL(".param .u64 p", ".reg .b32 %r<5>; .reg .pred %p<3>; .reg .b64 %rd<3>;\n"
                                          "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; "
                                          "setp.eq.s32 %p1, %r1, 0;\n"
                                          "@%p1 bra RARE;\n"
                                          "JOIN: st.global.u32 [%rd1+4], %r1; ret;\n"
                                          "RARE: mov.u32 %r1, 5; bra JOIN;\n"),
                                  "k", NULL);

    ck_assert_uint_eq(count_ops(c, "loop"), 0);
    ck_assert_uint_eq(count_ops(c, "bra"), 1);
    ck_assert_uint_eq(count_ops(c, "st_global_32"), 1);
    ck_assert(find_op(c, PTXI_OP_mov_32) < find_op(c, PTXI_OP_st_global_32));
    unload(&m);
}
END_TEST

START_TEST(loops_that_may_wait_are_recognized)
{
    static const struct { const char *body; unsigned mods; } rows[] = {
        { "add.s32 %r2, %r2, 1;", 0 },
        { "ld.global.u32 %r3, [%rd1]; add.s32 %r2, %r2, %r3;", PTXI_LOOP_READS },
        { "atom.global.add.u32 %r3, [%rd1], 1; add.s32 %r2, %r2, %r3;", PTXI_LOOP_READS },
        { "st.global.u32 [%rd1], %r2; add.s32 %r2, %r2, 1;", 0 },
        { "bar.sync 0; add.s32 %r2, %r2, 1;", PTXI_LOOP_READS },
        /* only stores of other threads change the loop's values */
        { "ld.acquire.gpu.global.u32 %r2, [%rd1];", PTXI_LOOP_READS | PTXI_LOOP_POLLS },
        { "ld.volatile.global.u32 %r3, [%rd1]; xor.b32 %r2, %r3, %r4;", PTXI_LOOP_READS | PTXI_LOOP_POLLS },
        { "atom.global.acquire.gpu.cas.b32 %r2, [%rd1], 0, 1;", PTXI_LOOP_READS | PTXI_LOOP_POLLS },
        { "ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p2, %r2, 5; @%p2 bra M; "
          "ld.volatile.global.u32 %r2, [%rd1+4]; M:", PTXI_LOOP_READS | PTXI_LOOP_POLLS },
        { "ld.volatile.global.u32 %r2, [%rd1]; st.global.u32 [%rd1+4], %r2;", PTXI_LOOP_READS },
        { "ld.volatile.global.u32 %r2, [%rd1]; add.s32 %r4, %r4, 1; add.s32 %r2, %r2, %r4;", PTXI_LOOP_READS },
        { "ld.volatile.global.u32 %r2, [%rd1]; bar.sync 0;", PTXI_LOOP_READS },
        { "ld.volatile.global.u32 %r3, [%rd1]; setp.eq.s32 %p2, %r3, 5; @%p2 mov.u32 %r2, %r3;", PTXI_LOOP_READS },
    };

    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct module m;
        char text[1000];
        const struct ptxi_insn *loop;

        snprintf(text, sizeof text, KERNEL(".param .u64 p", ".reg .b32 %%r<5>; .reg .pred %%p<3>; .reg .b64 %%rd<3>;\n"
                "ld.param.u64 %%rd1, [p]; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r4, %%clock;\n"
                "L: %s setp.lt.s32 %%p1, %%r2, 10; @%%p1 bra L; st.global.u32 [%%rd1], %%r2;"), rows[k].body);
        loop = find_op(code_of(&m, text, "k", NULL), PTXI_OP_loop_lt_s32);
        ck_assert(loop != NULL);
        ck_assert_msg((loop->mods & ~PTXI_LOOP_WAITS) == (int)rows[k].mods, "%s: %u", rows[k].body, loop->mods);
        unload(&m);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cfg");
    TCase *t = tcase_create("cfg");

    tcase_set_timeout(t, 120);
    tcase_add_test(t, blocks_follow_their_predecessors);
    tcase_add_test(t, irreducible_flow_compiles_in_bounded_time);
    tcase_add_test(t, a_join_before_its_arm_is_moved);
    tcase_add_test(t, loops_that_may_wait_are_recognized);
    suite_add_tcase(s, t);
    return run_suite(s);
}
