/* Tests the parser: syntax trees of valid text, and messages for invalid text. */
#include "unit/support/bits.h"

#include "parse/ast.h"

#include <string.h>

/* ---- a module, parsed ---- */

struct parsed {
    struct ptxi_arena arena;
    struct ptxi_diag diags;
    struct ptxi_str out; /* the messages */
    struct ptxi_module_ast *m;
};

static struct parsed parse_text(const char *text, size_t size)
{
    struct ptxi_parse_options options = { .file = "t.ptx" };
    struct parsed r;

    ptxi_arena_init(&r.arena, NULL);
    ptxi_diag_init(&r.diags, &r.arena);
    ptxi_str_init(&r.out, NULL);
    r.m = ptxi_parse(text, size, &options, &r.arena, &r.diags);
    /* diag keeps a pointer to an arena that will be copied to the caller, so render the messages now */
    ptxi_diag_render(&r.diags, text, size, "t.ptx", &r.out);
    return r;
}

static void free_parsed(struct parsed *r)
{
    ptxi_str_free(&r->out);
    ptxi_arena_free(&r->arena);
}

#define HEAD ".version 8.5\n.target sm_90a\n.address_size 64\n"
#define REGS \
    ".reg .pred %p<4>; .reg .b8 %c<4>; .reg .b16 %h<8>; .reg .u16 %uh<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; " \
    ".reg .f32 %f<8>;" \
    ".reg .f64 %fd<8>; .reg .f16 %q<4>; .reg .u32 %u<8>; .reg .s32 %s<8>; .reg .v4 .f32 %vf; .reg .v4 .b32 %vb; " \
    ".reg .b128 %o<4>;\n"

static char *kernel_text(const char *module, const char *body)
{
    size_t n = strlen(module) + strlen(body) + 2000;
    char *text = malloc(n);

    ck_assert_ptr_nonnull(text);
    snprintf(text, n, "%s%s\n.visible .entry k(.param .u64 pp, .param .u32 pq)\n{\n%s%s\nret;\n}\n", HEAD, module, REGS,
             body);
    return text;
}

/* A kernel with registers of every type and two parameters. */
static struct parsed parse_kernel(const char *module, const char *body)
{
    char *text = kernel_text(module, body);
    struct parsed r = parse_text(text, strlen(text));

    free(text);
    return r;
}

static struct parsed parse_valid_kernel(const char *module, const char *body)
{
    struct parsed r = parse_kernel(module, body);

    ck_assert_msg(r.m != NULL, "%s %s:\n%s", module, body, ptxi_str_text(&r.out));
    ck_assert_uint_eq(r.diags.errors, 0);
    return r;
}

static const struct ptxi_func *kernel(const struct parsed *r)
{
    for (uint32_t i = 0; i < r->m->func_count; i++)
        if (!strcmp(r->m->funcs[i]->name->s, "k"))
            return r->m->funcs[i];
    ck_abort_msg("no kernel");
    return NULL;
}

static const struct ptxi_operand *operand(const struct parsed *r, unsigned inst, unsigned i)
{
    const struct ptxi_func *f = kernel(r);

    ck_assert_uint_lt(inst, f->inst_count);
    ck_assert_uint_lt(i, f->insts[inst].operand_count);
    return &f->insts[inst].operands[i];
}

static const struct ptxi_var *variable(const struct parsed *r, const char *name)
{
    for (uint32_t i = 0; i < r->m->var_count; i++)
        if (!strcmp(r->m->vars[i]->name->s, name))
            return r->m->vars[i];
    ck_abort_msg("no variable %s", name);
    return NULL;
}

/* ---- registers and scopes ---- */

START_TEST(registers_have_ids_types_and_names)
{
    struct parsed r = parse_valid_kernel("", "mov.b32 %r15, %r0; mov.f64 %fd7, %fd3; mov.b32 %vb.y, %vb.w; "
                                             "mov.v4.f32 %vf, %vf; mov.b32 %r007, %r7;");
    const struct ptxi_func *f = kernel(&r);
    char buf[40];

    ck_assert_int_eq(operand(&r, 0, 0)->form, PTXI_OPD_REG);
    ck_assert_str_eq(ptxi_ast_reg_name(f, operand(&r, 0, 0)->reg, buf, sizeof buf), "%r15");
    ck_assert_int_eq(ptxi_ast_reg_type(f, operand(&r, 0, 0)->reg), PTXI_T_b32);
    ck_assert_uint_eq(operand(&r, 0, 0)->reg, operand(&r, 0, 1)->reg + 15);
    ck_assert_int_eq(operand(&r, 1, 1)->type, PTXI_T_f64);
    ck_assert_str_eq(ptxi_ast_reg_name(f, operand(&r, 2, 0)->reg, buf, sizeof buf), "%vb.y");
    ck_assert_uint_eq(operand(&r, 2, 0)->reg + 2, operand(&r, 2, 1)->reg);
    ck_assert_int_eq(operand(&r, 3, 0)->form, PTXI_OPD_VECTOR);
    ck_assert_uint_eq(operand(&r, 3, 0)->count, 4);
    ck_assert_uint_eq(operand(&r, 3, 0)->elements[3].reg, operand(&r, 3, 0)->elements[0].reg + 3);
    ck_assert_uint_eq(operand(&r, 4, 0)->reg, operand(&r, 4, 1)->reg); /* as ptxas reads it */
    ck_assert_int_eq(ptxi_ast_reg_type(f, f->reg_count), PTXI_T_NONE);
    free_parsed(&r);
}
END_TEST

START_TEST(inner_names_hide_outer_ones)
{
    struct parsed r =
        parse_valid_kernel("", "mov.b32 %r1, 1; { .reg .f32 %r1; .reg .u32 %r<1>; mov.f32 %r1, 0f00000000; "
                               "mov.u32 %r0, 1; mov.b32 %r2, 1; }"
                               "{ .reg .b64 x; { .reg .b16 x; mov.b16 x, 1; } mov.b64 x, 1; } mov.b32 %r1, 1; "
                               ".reg .pred p; mov.pred p, 1;");

    ck_assert_int_eq(operand(&r, 0, 0)->type, PTXI_T_b32);
    ck_assert_int_eq(operand(&r, 1, 0)->type, PTXI_T_f32);
    ck_assert_int_eq(operand(&r, 2, 0)->type, PTXI_T_u32);
    ck_assert_int_eq(operand(&r, 3, 0)->type, PTXI_T_b32); /* outside of the inner range: the outer register */
    ck_assert_int_eq(operand(&r, 4, 0)->type, PTXI_T_b16);
    ck_assert_int_eq(operand(&r, 5, 0)->type, PTXI_T_b64);
    ck_assert_uint_eq(operand(&r, 6, 0)->reg, operand(&r, 0, 0)->reg);
    ck_assert_int_eq(operand(&r, 7, 0)->type, PTXI_T_pred);
    free_parsed(&r);
}
END_TEST

START_TEST(labels_are_instructions)
{
    struct parsed r =
        parse_valid_kernel("", "A: bra A; bra B; { bra A; A: bra A; { bra A; A: } @%p1 bra C; } B: ret; C: ");
    const struct ptxi_func *f = kernel(&r);
    /*                            0        1          2           3          4               5          6 */
    static const uint32_t want[] = { 0, 6, 3, 3, 5, 7 };

    for (unsigned i = 0; i < 6; i++)
        ck_assert_msg(operand(&r, i, 0)->form == PTXI_OPD_LABEL && operand(&r, i, 0)->target == want[i],
                      "branch %u goes to %u", i,
                      operand(&r, i, 0)->target);
    ck_assert_uint_eq(f->label_count, 5); /* 0, 3, 5, 6, 7 */
    ck_assert_uint_eq(f->labels[4], 7);
    ck_assert_uint_eq(f->inst_count, 8);
    free_parsed(&r);
}
END_TEST

START_TEST(label_at_the_end_of_the_body)
{
    static const char text[] = HEAD ".entry k() { bra X; X: }";
    struct parsed r = parse_text(text, sizeof text - 1);

    ck_assert_ptr_nonnull(r.m);
    ck_assert_uint_eq(operand(&r, 0, 0)->target, 1);
    ck_assert_uint_eq(kernel(&r)->inst_count, 1);
    free_parsed(&r);
}
END_TEST

START_TEST(branch_tables)
{
    struct parsed r = parse_valid_kernel("", "t: .branchtargets A, B, A; u : .branchtargets N<2>; brx.idx %r0, t; "
                                             "{ brx.idx %u0, u; } A: ret; B: ret; N0: N1: ret;");
    const struct ptxi_targets *t = operand(&r, 0, 1)->table, *u = operand(&r, 1, 1)->table;

    ck_assert_uint_eq(t->count, 3);
    ck_assert_uint_eq(t->targets[0], 2);
    ck_assert_uint_eq(t->targets[1], 3);
    ck_assert_uint_eq(t->targets[2], 2);
    ck_assert_uint_eq(u->count, 2);
    ck_assert_uint_eq(u->targets[1], 4);
    free_parsed(&r);
}
END_TEST

/* ---- constants: PTX ISA, "Constant Expressions" ---- */

static const struct { const char *type, *text; uint64_t bits; } constants[] = {
    { "b64", "-7U/2", 0x7ffffffffffffffc },
    { "b64", "-1>>1", UINT64_MAX },
    { "b64", "-1<0U", 0 },
    { "b64", "(2-3U)>>1", 0x7fffffffffffffff },
    { "b64", "(~0)>>60", 15 },
    { "b64", "2+3<<1", 10 },
    { "b64", "6 & 3 == 3", 0 },
    { "b64", "3>2>1", 0 },
    { "b64", "(0xF0 & 0xCC | 0xAA) ^ 0xF0", 0x1a },
    { "b64", "-9223372036854775808/-1", 0 },
    { "b64", "(1 % 2)-2<0", 0 }, /* % is unsigned */
    { "b64", "(.s64)(1 % 2)-2<0", 1 },
    { "b64", "1<<64", 1 },
    { "b64", "1<<65", 2 },
    { "b64", "(-9223372036854775807-1)/-1", 0x8000000000000000 },
    { "b64", "-7/2", (uint64_t)-3 },
    { "b64", "-7 % 2", 1 },
    { "b64", "!5", 0 },
    { "b64", "!0-1<0", 0 },
    { "b64", "~0>0", 1 },
    { "b64", "(.s64)~0>0", 0 },
    { "b64", "1?2:3?4:5", 2 },
    { "b64", "0?2:0?4:5", 5 },
    { "b64", "(1?-1:0U)>0", 1 },
    { "b64", "1||0&&0", 1 },
    { "b64", "2*3+4*5", 26 },
    { "b64", "10-4-3", 3 },
    { "b64", "0x1F", 31 },
    { "b64", "017", 15 },
    { "b64", "0b101", 5 },
    { "b64", "WARP_SZ*2", 64 },
    { "b64", "18446744073709551615", UINT64_MAX },
    { "b64", "1.5<2.0", 1 },
    { "b64", "0d3ff0000000000000", 0x3ff0000000000000 },
    { "b64", "1.0", 0x3ff0000000000000 },
    { "b32", "0f3f800000", 0x3f800000 },
    { "b32", "-1", 0xffffffff },
    { "u16", "70000", 70000 & 0xffff },
    { "pred", "2", 1 },
    { "pred", "0", 0 },
    { "f64", "1.5+2.25", 0x400e000000000000 },
    { "f64", "-1.0", 0xbff0000000000000 },
    { "f64", "-.5*1e1", 0xc014000000000000 },
    { "f64", "0f3f800000", 0x3f800000 },
    { "f64", "0f80000001", 0x80000001 },
    { "f32", "0f12345678", 0x12345678 },
    { "f32", "1.0", 0x3f800000 },
    { "f32", "0.1", 0x3dcccccd },
    { "f32", "1e40", 0x7f800000 },
    { "f32", "-1e40", 0xff800000 },
    { "f32", "3.4028235677973366e38", 0x7f800000 }, /* halfway between the largest float and 2^128 */
    { "f32", "3.4028235677973362e38", 0x7f7fffff },
    { "f32", "1e-45", 1 },
    { "f32", "7.006492321624085e-46", 0 }, /* half of the smallest number, rounded to even */
    { "f32", "7.0064923216240869e-46", 1 },
    { "f32", "1.1754943e-38", 0x00800000 },
    { "f32", "16777217.0", 0x4b800000 },
    { "f32", "16777219.0", 0x4b800002 },
    { "f32", "0d3ff0000010000000", 0x3f800000 }, /* tie, to even */
    { "f32", "0d3ff0000010000001", 0x3f800001 },
    { "f32", "0d7ff8000000000000", 0x7fc00000 },
};

START_TEST(constants_have_the_bits_of_their_type)
{
    char body[200];
    struct parsed r;

    snprintf(body, sizeof body, ".reg .%s x; mov.%s x, %s;", constants[_i].type, constants[_i].type,
             constants[_i].text);
    r = parse_valid_kernel("", body);
    ck_assert_int_eq(operand(&r, 0, 1)->form, PTXI_OPD_IMM);
    ck_bits64_at(operand(&r, 0, 1)->imm, constants[_i].bits, "%s as .%s", constants[_i].text, constants[_i].type);
    free_parsed(&r);
}
END_TEST

/* ---- addresses and other operands ---- */

/* ptxas ignores the elements after the first one. */
START_TEST(first_element_counts)
{
    struct parsed r =
        parse_valid_kernel(".shared .b64 bar;", "fma.rn.bf16x2 {%r0, %r1}, {%r2, %r3, %r4, %r5}, %r6, {%r7};"
                                                "mbarrier.arrive.shared.b64 %rd0, [bar], {%r1, %r2}; "
                                                "isspacep.global %p0, %r1;");

    ck_assert_int_eq(operand(&r, 0, 0)->form, PTXI_OPD_REG);
    ck_assert_uint_eq(operand(&r, 0, 1)->reg, operand(&r, 0, 0)->reg + 2);
    ck_assert_uint_eq(operand(&r, 0, 3)->reg, operand(&r, 0, 0)->reg + 7);
    ck_assert_uint_eq(operand(&r, 1, 2)->reg, operand(&r, 0, 0)->reg + 1);
    ck_assert_uint_eq(operand(&r, 2, 1)->reg, operand(&r, 0, 0)->reg + 1);
    free_parsed(&r);
}
END_TEST

START_TEST(addresses)
{
    struct parsed r =
        parse_valid_kernel(".global .b32 A[3][2]; .shared .u64 s[4];",
                           "ld.global.u32 %u0, [%rd3+-8]; ld.global.u32 %u0, [A+4*2]; ld.global.u8 %u0, A[5]; "
                           "ld.shared.u8 %u0, s[%r2+3];"
                           "mov.u64 %rd0, A[5]; mov.u64 %rd0, A+5; ld.local.u32 %u0, [12]; "
                           "ld.param.u64 %rd0, [pp];"
                           "ld.global.u32 %u0, [%rd3+4294967292];");
    const struct ptxi_address *a = operand(&r, 0, 1)->address, *b = operand(&r, 1, 1)->address, *c = operand(&r, 2,
            1)->address,
                              *d = operand(&r, 3, 1)->address, *local = operand(&r, 6, 1)->address;

    ck_assert_ptr_null(a->var);
    ck_assert_int_eq(a->offset, -8);
    ck_assert_uint_ne(a->reg, PTXI_NO_REG);
    ck_assert_str_eq(b->var->name->s, "A");
    ck_assert_int_eq(b->offset, 8);
    ck_assert_uint_eq(b->reg, PTXI_NO_REG);
    ck_assert_int_eq(c->offset, 20); /* scaled by the declared element type, not by the access */
    ck_assert_int_eq(d->offset, 24);
    ck_assert_uint_eq(d->scale, 8);
    ck_assert_uint_ne(d->reg, PTXI_NO_REG);
    ck_assert_int_eq(operand(&r, 4, 1)->form, PTXI_OPD_VAR);
    ck_assert_int_eq(operand(&r, 4, 1)->offset, 20);
    ck_assert_int_eq(operand(&r, 5, 1)->offset, 5);
    ck_assert_int_eq(local->offset, 12);
    ck_assert(operand(&r, 7, 1)->address->var->is_param);
    ck_assert_int_eq(operand(&r, 8, 1)->address->offset, 4294967292); /* 64 bits, as ptxas adds them */
    free_parsed(&r);
}
END_TEST

/* ptxas accepts addresses of copies of tensors without brackets. */
START_TEST(addresses_without_brackets)
{
    struct parsed r = parse_valid_kernel(".shared .u64 s[4];",
                                         "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
                                         "s, [%rd1, {%r1}], s+8; "
                                         "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes "
                                         "%rd2, [%rd1, {%r1}], 0f00000010;");
    const struct ptxi_address *dst = operand(&r, 0, 0)->address, *mbar = operand(&r, 0, 3)->address;

    ck_assert_int_eq(operand(&r, 0, 0)->form, PTXI_OPD_ADDRESS);
    ck_assert_str_eq(dst->var->name->s, "s");
    ck_assert_uint_eq(dst->reg, PTXI_NO_REG);
    ck_assert_int_eq(mbar->offset, 8);
    ck_assert_uint_eq(operand(&r, 1, 0)->address->reg, operand(&r, 1, 1)->address->reg + 1);
    ck_assert_ptr_null(operand(&r, 1, 0)->address->var);
    ck_assert_int_eq(operand(&r, 1, 3)->address->offset, 16);
    free_parsed(&r);
}
END_TEST

START_TEST(operand_forms)
{
    struct parsed r =
        parse_valid_kernel("", "mov.u32 %u0, %tid.y; mov.b64 {%r1, _}, %rd1; "
                               "setp.ne.and.s32 %p0|%p1, %s0, 5, !%p2; "
                               "shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1; lop3 .b32\n%r0, %r1, %r2, %r3, 0x96; "
                               "@!%p3 add.f32 %f0, %f1, 1.0;"
                               "mov.b32 %r0, {%h0, 7}; atom.global.add.u32 _, [%rd0], 1;");
    const struct ptxi_func *f = kernel(&r);

    ck_assert_int_eq(operand(&r, 0, 1)->form, PTXI_OPD_SREG);
    ck_assert_uint_eq(operand(&r, 0, 1)->sreg >> 8, 1);
    ck_assert_int_eq(operand(&r, 1, 0)->form, PTXI_OPD_VECTOR);
    ck_assert_int_eq(operand(&r, 1, 0)->elements[1].form, PTXI_OPD_SINK);
    ck_assert_int_eq(operand(&r, 2, 1)->form, PTXI_OPD_REG);
    ck_assert(operand(&r, 2, 4)->negated);
    ck_assert_int_eq(operand(&r, 3, 1)->form, PTXI_OPD_NONE); /* without a second half */
    ck_assert_int_eq(operand(&r, 3, 2)->form, PTXI_OPD_REG);
    ck_assert_str_eq(f->insts[4].match->row->mnemonic, "lop3");
    ck_assert(f->insts[5].guard_negated && f->insts[5].guard != PTXI_NO_REG);
    ck_assert_uint_eq(f->insts[4].guard, PTXI_NO_REG);
    ck_bits64(operand(&r, 5, 2)->imm, 0x3f800000);
    ck_bits64(operand(&r, 6, 1)->elements[1].imm, 7);
    ck_assert_int_eq(operand(&r, 7, 0)->form, PTXI_OPD_SINK);
    free_parsed(&r);
}
END_TEST

START_TEST(qualifiers_in_any_order)
{
    struct parsed r = parse_valid_kernel("", "add.ftz.f32 %f0, %f1, %f2; add.f32.ftz %f0, %f1, %f2; "
                                             "ld.u32.global %u0, [%rd0]; add .ftz .f32 %f0, %f1, %f2;");
    const struct ptxi_func *f = kernel(&r);

    ck_assert_uint_eq(ptxi_isa_op(f->insts[0].match), ptxi_isa_op(f->insts[1].match));
    ck_assert_uint_eq(f->insts[0].match->mods, f->insts[1].match->mods);
    ck_assert(ptxi_isa_has(f->insts[2].match, "global"));
    free_parsed(&r);
}
END_TEST

/* Modifiers of other instructions have no effect (ignored.def). */
START_TEST(ignored_qualifiers)
{
    struct parsed r = parse_valid_kernel("", "add.sat.s32 %r0, %r1, %r2; "
                                             "add.rank.sat.acc::f16.s32.finite.b8x16.b4x16_p64 %r0, %r1, %r2; "
                                             "bar.sync 1; bar.sync.b2.b2 1;");
    const struct ptxi_func *f = kernel(&r);

    for (unsigned i = 0; i < 4; i += 2) {
        ck_assert_ptr_eq(f->insts[i].match->row, f->insts[i + 1].match->row);
        ck_assert_mem_eq(f->insts[i].match->words, f->insts[i + 1].match->words, sizeof f->insts[i].match->words);
        ck_assert_uint_eq(f->insts[i].match->mods, f->insts[i + 1].match->mods);
    }
    free_parsed(&r);
}
END_TEST

/* ---- calls ---- */

static const char call_module[] =
    ".func (.param .b32 rv) f1(.param .b32 a) { st.param.b32 [rv], 1; ret; "
    "} .func f3(.param .align 8 .b8 a[16]) { ret; }"
    ".func f4(.param .b32 a, .param .align 4 .b8 v[]) { ret; "
    "} .func (.param .b32 rv) f5(.param .b32 b) { st.param.b32 [rv], 2; ret; }"
    ".extern .func (.param .b32 r) vprintf(.param .b64 fmt, .param .b64 args);";

START_TEST(calls)
{
    struct parsed r =
        parse_valid_kernel(call_module, "{ .param .b64 param0; .param .b64 param1; .param .b32 retval0; "
                                        "st.param.b64 [param0], %rd0;\n call.uni (retval0),\n vprintf,\n (\n"
                                        "param0,\n param1\n)\n; ld.param.b32 %r0, [retval0]; }"
                                        "call (%r1), f1, (%r2); call (_), f1, (5); call f4, (%r1);"
                                        "{ prototype_3 : .callprototype (.param .b32 _) _ (.param .b32 _); "
                                        "call (%r1), %rd5, (%r2), prototype_3; }"
                                        "t: .calltargets f1, f5; @%p1 call (%r1), %rd5, (%r2), t;");
    const struct ptxi_call *c = operand(&r, 1, 0)->call, *sink = operand(&r, 4, 0)->call, *open = operand(&r, 5,
            0)->call,
                           *proto = operand(&r, 6, 0)->call, *table = operand(&r, 7, 0)->call;

    ck_assert(c->uniform);
    ck_assert_str_eq(c->func->name->s, "vprintf");
    ck_assert(!c->func->has_body && c->func->linkage == PTXI_LINK_EXTERN);
    ck_assert_uint_eq(c->arg_count, 2);
    ck_assert_int_eq(c->args[1].form, PTXI_OPD_VAR);
    ck_assert_str_eq(c->args[1].var->name->s, "param1");
    ck_assert_str_eq(c->rets[0].var->name->s, "retval0");
    ck_assert_int_eq(sink->rets[0].form, PTXI_OPD_SINK);
    ck_assert_int_eq(sink->args[0].form, PTXI_OPD_IMM);
    ck_assert_uint_eq(open->arg_count, 1);
    ck_assert_uint_eq(open->signature->param_count, 2);
    ck_assert_ptr_null(proto->func);
    ck_assert_uint_ne(proto->reg, PTXI_NO_REG);
    ck_assert_ptr_null(proto->targets);
    ck_assert_uint_eq(proto->signature->param_count, 1);
    ck_assert_uint_eq(table->target_count, 2);
    ck_assert_str_eq(table->targets[1]->name->s, "f5");
    free_parsed(&r);
}
END_TEST

/* ---- variables ---- */

START_TEST(initialisers)
{
    struct parsed r = parse_valid_kernel(".global .s32 x[3][2] = { {1,2}, {3} }; .func fn() { ret; "
                                         "} .global .u64 p[] = { 0, fn, generic(x)+8, x };"
                                         ".global .u8 b[3] = { 0xFF(1000+546), 0xFF00(131187), 0xFF00(x+4) }; "
                                         ".const .f64 raw = 0f3f800000;"
                                         ".global .b32 one = 1.0; .global .u8 cut = 300; "
                                         ".global .v2 .f32 v[2] = { {1.0, 2.0}, {3.0, 0f40800000} }; "
                                         ".global .b16 low = 3.14159; "
                                         ".global .f16x2 packed = { width = 4, 1.5, 2 };",
                                         "");
    static const int32_t expected_x[] = { 1, 2, 3 };
    const struct ptxi_var *x = variable(&r, "x"), *p = variable(&r, "p"), *b = variable(&r, "b");
    uint64_t raw;
    uint32_t one;
    uint16_t low;

    ck_assert_uint_eq(x->size, 24);
    ck_assert_uint_eq(x->element, 4);
    ck_assert_uint_eq(x->init_size, 12);
    ck_assert_mem_eq(x->init, expected_x, 12);
    ck_assert_uint_eq(p->size, 32);
    ck_assert(!p->unsized);
    ck_assert_uint_eq(p->reloc_count, 3);
    ck_assert_str_eq(p->relocs[0].func->name->s, "fn");
    ck_assert_uint_eq(p->relocs[0].offset, 8);
    ck_assert(p->relocs[1].generic && p->relocs[1].var == x && p->relocs[1].addend == 8 && p->relocs[1].bytes == 8);
    ck_assert(!p->relocs[2].generic && p->relocs[2].offset == 24);
    ck_assert_uint_eq(b->init[0], 0x0a);
    ck_assert_uint_eq(b->init[1], 0);
    ck_assert(b->relocs[0].shift == 8 && b->relocs[0].addend == 4 && b->relocs[0].bytes == 1 &&
              b->relocs[0].offset == 2);
    memcpy(&raw, variable(&r, "raw")->init, 8);
    ck_bits64(raw, 0x3f800000); /* as ptxas stores it */
    memcpy(&one, variable(&r, "one")->init, 4);
    ck_bits32(one, 0x3f800000);
    memcpy(&low, variable(&r, "low")->init, 2);
    ck_bits16(low, 0x866e); /* ptxas truncates the double */
    memcpy(&one, variable(&r, "packed")->init, 4); /* the first constant, as ptxas stores it */
    ck_bits32(one, 0x3fc00000);
    ck_assert_uint_eq(variable(&r, "cut")->init[0], 44);
    ck_assert_uint_eq(variable(&r, "v")->align, 8);
    ck_assert_uint_eq(variable(&r, "v")->init_size, 16);
    free_parsed(&r);
}
END_TEST

START_TEST(declarations)
{
    struct parsed r =
        parse_valid_kernel(".extern .shared .align 16 .b8 dyn[]; "
                           ".visible .global .align 8 .attribute(.managed) .u32 m; .weak .const .v4 .f32 c;"
                           ".common .global .u64 g; .global .texref t; .shared .b8 n<3>; "
                           ".extern .global .u32 e; .visible .global .u32 e = 7;",
                           ".local .align 8 .b8 __depot[40]; .shared .u16 s[5];");
    const struct ptxi_func *f = kernel(&r);

    ck_assert(variable(&r, "dyn")->unsized && variable(&r, "dyn")->align == 16 &&
              variable(&r, "dyn")->linkage == PTXI_LINK_EXTERN);
    ck_assert(variable(&r, "m")->managed && variable(&r, "m")->align == 8 && variable(&r, "m")->module_scope);
    ck_assert(variable(&r, "c")->vector == 4 && variable(&r, "c")->align == 16 && variable(&r, "c")->size == 16);
    ck_assert_int_eq(variable(&r, "g")->linkage, PTXI_LINK_COMMON);
    ck_assert_int_eq(variable(&r, "t")->opaque, 't');
    ck_assert_uint_eq(variable(&r, "n2")->size, 1);
    ck_assert(variable(&r, "e")->linkage == PTXI_LINK_VISIBLE && variable(&r, "e")->init_size == 4);
    for (uint32_t i = 0; i < r.m->var_count; i++)
        ck_assert_uint_eq(r.m->vars[i]->index, i);
    ck_assert_uint_eq(f->var_count, 2);
    ck_assert_uint_eq(f->vars[0]->size, 40);
    ck_assert_int_eq(f->vars[0]->space, PTXI_SPACE_LOCAL);
    ck_assert_uint_eq(f->vars[1]->size, 10);
    free_parsed(&r);
}
END_TEST

START_TEST(functions)
{
    static const char text[] = HEAD
        ".visible .func (.reg .b32 r) g(.reg .b32 a, .param .align 16 .b8 s[32]);\n"
        ".entry k(.param .u64 .ptr .global .align 16 p, .param .align 4 .b8 big[32000]) .maxntid 256, 2 .minnctapersm "
        "3 .reqnctapercluster 2,1,1 .explicitcluster\n"
        "{ .reg .b32 x; call (x), g, (x, y); }\n";
    static const char fixed[] = HEAD
        ".visible .func (.reg .b32 r) g(.reg .b32 a, .param .align 16 .b8 s[32]);\n"
        ".entry k(.param .u64 .ptr .global .align 16 p, .param .align 4 .b8 big[32000]) .maxntid 256, 2 .minnctapersm "
        "3 .reqnctapercluster 2,1,1 .explicitcluster\n"
        "{ .reg .b32 x; .param .align 16 .b8 y[32]; call (x), g, (x, y); }\n"
        ".visible .func (.reg .b32 r) g(.reg .b32 a, .param .align 16 .b8 s[32])\n{ add.u32 r, a, 1; ret; }\n"
        ".visible .func (.reg .b32 r) h(.reg .b32 a, .param .align 16 .b8 s[32]);\n.alias h, g;\n"
        ".func body() { .func within(); .alias within, body; ret; }\n";
    struct parsed bad = parse_text(text, sizeof text - 1), r = parse_text(fixed, sizeof fixed - 1);
    const struct ptxi_func *f, *g, *h;

    ck_assert_ptr_null(bad.m);
    ck_assert_ptr_nonnull(strstr(ptxi_str_text(&bad.out), "use of undeclared name 'y'"));
    ck_assert_msg(r.m != NULL, "%s", ptxi_str_text(&r.out));
    f = kernel(&r);
    g = r.m->funcs[0];
    h = r.m->funcs[2];
    ck_assert(f->is_entry && f->maxntid[0] == 256 && f->maxntid[1] == 2 && f->maxntid[2] == 1 && f->minnctapersm == 3);
    ck_assert(f->cluster[0] == 2 && f->explicit_cluster);
    ck_assert(f->signature.params[0]->ptr_space == PTXI_SPACE_GLOBAL && f->signature.params[0]->align == 8 &&
              f->signature.params[1]->size == 32000);
    ck_assert_ptr_eq(f->insts[0].operands[0].call->func, g); /* declared first, defined later: one function */
    ck_assert(g->has_body && g->inst_count == 2 && g->signature.params[0]->is_reg);
    ck_assert_uint_eq(g->insts[0].operands[0].reg, g->signature.rets[0]->reg);
    ck_assert_uint_eq(g->insts[0].operands[1].reg, g->signature.params[0]->reg);
    ck_assert_ptr_eq(h->alias_of, g);
    ck_assert_ptr_eq(r.m->funcs[4]->alias_of, r.m->funcs[3]);
    free_parsed(&bad);
    free_parsed(&r);
}
END_TEST

START_TEST(line_marks_and_files)
{
    struct parsed r = parse_valid_kernel(".file 2 \"C:\\dir\\a.cu\", 5, 6\n.file 1 \"b.cu\"\n",
                                         "\n.loc 2 7 3\nadd.u32 %u0, %u0, 1; add.u32 %u0, %u0, 1;\n"
                                         ".loc 1 9 4, function_name $L__info0, inlined_at 2 7 3\nadd.u32 %u0, %u0, 1;");
    const struct ptxi_func *f = kernel(&r);

    ck_assert_str_eq(r.m->files[2], "C:\\dir\\a.cu");
    ck_assert_str_eq(r.m->files[1], "b.cu");
    ck_assert_uint_eq(f->mark_count, 2);
    const struct ptxi_source_line *a = &f->marks[0].source, *b = &f->marks[1].source;

    ck_assert(f->marks[0].inst == 0 && a->file == 2 && a->line == 7 && a->column == 3 && !a->inlined);
    ck_assert(f->marks[1].inst == 2 && b->file == 1 && b->inlined->line == 7 && !b->inlined->function);
    ck_assert_uint_eq(f->insts[1].line, f->insts[0].line);
    ck_assert_uint_eq(f->insts[1].column, 22);
    free_parsed(&r);
}
END_TEST

/* The chain of calls that begins with this .loc, as "function@line function@line". */
static const char *chain(const struct ptxi_func *f, unsigned mark)
{
    static char text[256];
    int n = 0;

    text[0] = 0;
    for (const struct ptxi_inlined_call *c = f->marks[mark].source.inlined; c; c = c->caller)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s@%u", n ? " " : "", c->function ? c->function : "?",
                      c->line);
    return text;
}

#define ADD "add.u32 %u0, %u0, 1;\n"
#define INLINED(line, name, at) ".loc 1 " #line " 5, function_name " name ", inlined_at 1 " #at " 5\n" ADD

START_TEST(inlined_calls)
{
    struct parsed r = parse_valid_kernel(
        ".file 1 \"a.cu\"\n",
        "\n.loc 1 9 5\n" ADD INLINED(7, "names", 9) INLINED(3, "names + 2", 7) INLINED(3, "names + 2", 7)
        ".loc 1 7 5\n" ADD INLINED(3, "names+4", 7) INLINED(4, "other", 7) "ret; }\n"
        ".section .debug_info { other: .b8 97,0 }\n.section .debug_str { names: .b8 97,0,98,0\n.b8 99 }\n.entry z() {");
    const struct ptxi_func *f = r.m->funcs[0];

    ck_assert_str_eq(chain(f, 0), "");
    ck_assert_str_eq(chain(f, 1), "a@9");
    ck_assert_str_eq(chain(f, 2), "b@7 a@9");
    ck_assert_ptr_eq(f->marks[2].source.inlined, f->marks[3].source.inlined); /* one description of one call */
    ck_assert_str_eq(chain(f, 4), "");
    ck_assert_str_eq(chain(f, 5), "c@7"); /* line 7 is not inlined here; the last string has no end of its own */
    ck_assert_str_eq(chain(f, 6), "?@7"); /* the label is in another section */
    free_parsed(&r);
}
END_TEST
#undef ADD
#undef INLINED

START_TEST(concatenated_modules)
{
#define PART "\n.version 8.5\n.target sm_90\n.address_size 64\n.global .u32 x = 5;\n.visible .func f() { trap; }\n"
    static const char same[] = PART ".entry a() { ret; }\n" PART ".entry b() { ret; }\n", differ[] = PART PART
    ".visible .func f() { ret; }";
    struct parsed r = parse_text(same, sizeof same - 1), d = parse_text(differ, sizeof differ - 1);

    ck_assert_msg(r.m != NULL, "%s", ptxi_str_text(&r.out));
    ck_assert_uint_eq(r.m->func_count, 3);
    ck_assert_uint_eq(r.m->var_count, 1);
    ck_assert_ptr_null(d.m);
    free_parsed(&r);
    free_parsed(&d);
}
END_TEST

/* Without .address_size, the instructions decide. */
static unsigned address_size_of(const char *body)
{
    char text[256];
    int n = snprintf(text, sizeof text, ".version 3.0\n.target sm_30\n.global .u32 g;\n"
                     ".entry k(.param .u32 a) { .reg .u32 r; .reg .u64 w; .shared .u32 s; %s exit; }", body);
    struct parsed p = parse_text(text, (size_t)n);

    ck_assert_msg(p.m != NULL, "%s", ptxi_str_text(&p.out));
    unsigned size = p.m->address_size;
    free_parsed(&p);
    return size;
}

START_TEST(inferred_address_size)
{
    ck_assert_uint_eq(address_size_of(""), 64);
    ck_assert_uint_eq(address_size_of("mov.u64 w, g; ld.global.u32 r, [w];"), 64);
    ck_assert_uint_eq(address_size_of("mov.u32 r, s; st.shared.u32 [r], r; st.global.u32 [g], r;"), 64);
    ck_assert_uint_eq(address_size_of("ld.param.u32 r, [a]; ld.global.u32 r, [r];"), 32);
    ck_assert_uint_eq(address_size_of("ld.param.u32 r, [a]; ld.u32 r, [r];"), 32);
    ck_assert_uint_eq(address_size_of("mov.u32 r, g;"), 32);
    ck_assert_uint_eq(address_size_of("cvta.to.global.u32 r, r;"), 32);
}
END_TEST

START_TEST(module_headers)
{
    static const char old[] = ".version 1.4\n.target sm_13\n.entry k(.param .u32 a) { .reg .u32 r; "
                              "ld.param.u32 r, [a]; ld.global.u32 r, [r]; exit; }",
                      newer[] = ".version 10.3\n.target sm_150a, debug\n.address_size 64\n.section .debug_info { }",
                      none[] = "// nothing\n.version 8.0\n.target compute_80, texmode_independent\n\0\0";
    struct parsed a = parse_text(old, sizeof old - 1), b = parse_text(newer, sizeof newer - 1), c = parse_text(none,
            sizeof none - 1);

    ck_assert_msg(a.m != NULL, "%s", ptxi_str_text(&a.out));
    ck_assert(a.m->address_size == 32 && a.m->version == 14 && a.m->target.sm == 13);
    ck_assert_msg(b.m != NULL, "%s", ptxi_str_text(&b.out));
    ck_assert_uint_eq(b.diags.warnings, 2);
    ck_assert(b.m->target.suffix == 'a' && b.m->debug);
    ck_assert(c.m && c.m->func_count == 0 && c.m->texmode_independent && c.m->target.sm == 80);
    free_parsed(&a);
    free_parsed(&b);
    free_parsed(&c);
}
END_TEST

/* ---- text that must be refused, with words of the message ---- */

static const struct { const char *module, *body, *message; } invalid_texts[] = {
    { "", ";", "expected a statement before" },
    { "", "@%p1: ret;", "expected an instruction before" },
    { "", "@1 ret;", "expected a predicate register" },
    { "", "@%r1 ret;", "it must be a .pred register" },
    { "", "mov.b32 %r1, 5u;", "invalid character in a number" },
    { "", "add.b2.s32 %r1, %r2, %r3;", "has no modifier '.b2'" },
    { "", "add.s32.rank.box_dim %r1, %r2, %r3;", "invalid form" },
    { "", "bar.finite.warp.sync -1;", "has no modifier '.finite'" },
    { "", "testp.finite.number.f32 %p1, %f2;", "has no modifier" },
    { "", "ldmatrix.sync.aligned.m8n8.x1.shared.b16.b8x16 {%r1}, [%r2];", "has no modifier '.b8x16'" },
    { "", "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group.cta.gpu [%rd1, {%r1}], [%rd2];", "invalid form" },
    { "", "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], 7;", "must be an address in brackets" },
    { "", "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], -%r1;", "address in brackets" },
    { "", "mov.b32 %r1, 7%3;", "expected" },
    { "", "mov.b32 %r1, 1/0;", "division by zero" },
    { "", "mov.b32 %r1, 1 % 0;", "division by zero" },
    { "", "mov.b32 %r1, 1+1.0;", "cannot mix" },
    { "", "mov.b32 %r1, 1?2:3.0;", "cannot mix" },
    { "", "mov.b32 %r1, 99999999999999999999;", "does not fit in 64 bits" },
    { "", "mov.f32 %f1, -0f3f800000;", "cannot be part of an expression" },
    { "", "mov.f32 %f1, 0f3f8000;", "8 hexadecimal digits" },
    { "", "mov.f32 %f1, 1.f;", "invalid character in a number" },
    { "", "mov.f32 %f1, 1e999;", "out of range" },
    { "", "setp.eq.f32 %p0, %f1, 0;", "cannot be an integer constant" },
    { "", "mov.u32 %u1, 0f3f800000;", "cannot be a 32-bit floating-point constant" },
    { "", "mov.b32 %r1, 1.0;", "cannot be a floating-point constant" },
    { "", "add.u32 %f1, %u1, %u2;", "must be a 32-bit integer or .b32 register" },
    { "", "add.f32 %u1, %f1, %f2;", "must be a .f32 or .b32 register" },
    { "", "and.b32 %r1, %h1, %r2;", "must be a 32-bit register" },
    { "", "ld.global.u8 %f1, [%rd1];", "must be an 8-bit or wider integer" },
    { "", "ld.global.u32 %u1, [%r1];", "must be a 64-bit register" },
    { "", "ld.global.u32 %u1, [%f1];", "must be a 32-bit or 64-bit integer register" },
    { "", "add.f16 %h1, %h2, %u1;", "must be a .f16 or .b16 register" },
    { "", "add.f16 %h1, %h2, 1;", "is of type .f16, which has no constants" },
    { "", "add.bf16x2 %r1, %r2, %f1;", "must be a .b32 register" },
    { "", "ld.global.v2.u32 {%f1, %u1}, [%rd1];", "adjacent registers of a vector must have the same type" },
    { "", "ld.global.v2.u32 {%f1, %f2}, [%rd1];", "must be a 32-bit or wider integer" },
    { "", "ld.global.L2::cache_hint.u32 %u1, [%rd1], %fd1;", "must be a 64-bit integer" },
    { "", "ld.global.u32 %u1, [%rd1-4];", "expected" },
    { "", "ld.global.u32 %u1, [%rd1+%rd2];", "expected a constant" },
    { "", "ld.global.u32 %u1, [16];", "only an address in .local space" },
    { ".shared .u32 s;", "ld.global.u32 %u1, [s];", "is in .shared" },
    { ".global .u32 A[3][2];", "mov.u64 %rd1, A[1][2];", "expected" },
    { ".global .u32 x;", "mov.u64 %rd1, x[1];", "is not an array" },
    { "", "st.param.u32 [pq], 1;", "cannot write to parameter" },
    { "", "{ .param .u32 a; @%p1 st.param.u32 [a], 1; }", "cannot have a guard" },
    { "", "add.u32 %u1, %tid.x, 1;", "cannot be a special register" },
    { "", "mov.u32 %u1, %laneid.x;", "has no element '.x'" },
    { "", "mov.u32 %u1, %clock64;", "is of type .u64" },
    { "", "mov.u32 %tid.x, %u1;", "cannot write to special register" },
    { "", "mov.u32 _, %u1;", "cannot be '_'" },
    { "", "ld.global.v4.f32 {_,_,_,_}, [%rd1];", "must have at least one register" },
    { "", "ld.global.v4.f32 {%f1,%f2}, [%rd1];", "vector of 4 elements, not of 2" },
    { "", "mov.b64 %rd1, {%r1,%r2,%r3};", "cannot split" },
    { "", "mov.f64 %fd1, {%r1,%r2};", "must be a scalar" },
    { "", "add.u32 %u1, {%u2}, %u3;", "must be a scalar" },
    { "", "bra L; { L: ret; }", "label 'L' is not defined" },
    { "", "L: ret; L: ret;", "redefinition of" },
    { "", "bra %r1;", "is not defined in this function" },
    { "", "brx.idx %r1, L; L: ret;", "not the label of a previous .branchtargets" },
    { "", ".reg .b32 x; .reg .f32 x;", "redefinition of" },
    { "", ".reg .b32 y<3>; .reg .b32 y2;", "redefinition of" },
    { "", ".reg .b32 y2; .reg .b32 y<3>;", "redefinition of" },
    { "", ".reg .b32 y<2000000000>;", "too many registers" },
    { "", ".reg .b32 x[4];", "cannot be an array" },
    { "", ".reg .v4 .f64 x;", "wider than 128 bits" },
    { "", ".reg .b32 WARP_SZ;", "it is a name of the PTX language" },
    { "", ".visible .global .u32 x;", "expected '.func'" },
    { "", ".func x() { ret; }", "expected ';'" },
    { "", ".reg .u32 x; .extern .func x();", "as a different kind of symbol" },
    { "", ".section .x { .b8 1 }", "not accepted in the body of a function" },
    { "", ".global .texref x;", "must be declared outside of functions" },
    { ".func f(.param .u16 a) { ret; }", "{ .param .u16 x; call f, (x); }", "an integer of 8 or 16 bits" },
    { ".func (.reg .pred a) f() { ret; }", "call (%p1), f;", "a predicate or an integer" },
    { ".global .surfref s;", "txq.width.b32 %r1, [s];", "must be a .texref" },
    { ".global .texref t;", "suq.width.b32 %r1, [t];", "must be a .surfref" },
    { ".global .texref t;", "txq.force_unnormalized_coords.b32 %r1, [t];", "must be a .samplerref" },
    { ".global .texref t;", "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, 7, {%r1}];", "invalid sampler" },
    { "", "call nowhere;", "use of undeclared function" },
    { ".func f(.param .u32 a) { ret; }", "call f, (%f1);", "types differ" },
    { ".func f(.param .u32 a) { ret; }", "call f;", "expected 1, have 0" },
    { ".func f(.param .align 8 .b8 a[16]) { ret; }", "{ .param .align 4 .b8 x[16]; call f, (x); }",
      "alignments differ" },
    { ".func f(.param .align 8 .b8 a[16]) { ret; }", "{ .param .align 8 .b8 x[8]; call f, (x); }", "sizes differ" },
    { "", "call %rd1, (%r1);", "requires the label of a .callprototype" },
    { "", "fma.f32 %f1, %f2, %f3, %f4;", "'fma.f32' requires .(rn|rz|rm|rp)" },
    { "", "fmaa.f32 %f1, %f2, %f3, %f4;", "did you mean 'fma'" },
    { "", "add.u32 %u1, %u2;", "missing operand b" },
    { "", "add.u32 %u1, %u2, %u3, %u4;", "too many operands" },
    { "", "add.u32 %u1|%p1, %u2, %u3;", "does not accept a second destination" },
    { "", "add.u32 %u1, %zz, %u3;", "use of undeclared name '%zz'" },
    { ".global .u32 x[3][2] = {1,2,3};", "", "expected '{'" },
    { ".global .u32 x[2] = {1,2,3};", "", "too many values" },
    { ".global .u32 x = 1.0;", "", "with a floating-point constant" },
    { ".global .f32 x = 1;", "", "with an integer constant" },
    { ".global .u32 x; .global .s32 y = x;", "", "must be of type .u32 or .u64" },
    { ".global .u32 x; .global .u64 y = x-4;", "", "expected" },
    { ".global .u32 x; .global .u8 y = 0xF(x);", "", "invalid mask" },
    { ".global .u64 y = later; .global .u32 later;", "", "use of undeclared name" },
    { ".shared .u32 x = 1;", "", "the variable must be in .global or .const space" },
    { ".extern .global .u32 x = 1;", "", "invalid initializer of an .extern variable" },
    { ".global .align 3 .u32 x;", "", "power of two" },
    { ".global .u32 .align 8 x;", "", "expected a name" },
    { ".global .u32 x[4611686018427387904];", "", "an array size must be" },
    { ".global .u64 x[1099511627776];", "", "is too large" },
    { ".global .u32 x[4][4][4][4][4][4][4][4][4];", "", "too many dimensions" },
    { ".global .u32 x[];", "", "without a size" },
    { ".reg .u32 x;", "", "must be declared in a function" },
    { ".const .b8 a[40000]; .const .b8 b[40000];", "", "exceeds the size of the .const space" },
    { ".common .shared .u32 x;", "", "'.common' is only accepted for .global" },
    { ".func (.param .u32 a, .param .u32 b) f() { ret; }", "", "too many return values" },
    { ".version 9.0 .target sm_90a .func f() .abi_preserve 256;", "", "at most 255" },
    { ".version 9.0 .target sm_90a .func f() .abi_preserve_control 1 .abi_preserve_control 2;", "", "duplicate" },
    { ".version 9.0 .target sm_90a .func f() .abi_preserve 1 .noreturn;", "", "must precede" },
    { ".version 9.0 .target sm_90a .func f() .abi_preserve 1; .func f() .abi_preserve 2 { ret; }", "",
      "'f' has different parameters" },
    { ".entry e() .abi_preserve 1 { ret; }", "", "only accepted for functions" },
    { ".entry .attribute(.managed) e() { ret; }", "", "'.attribute' is not accepted for kernels" },
    { ".const .attribute(.managed) .b32 x;", "", "'.managed' is only accepted for .global" },
    { ".section .rn { .b8 1 }", "", "expected the name of a section" },
    { ".section .debug_info { .b64 .debug_str - 1 }", "", "or '}' before '-'" },
    { ".file 1 \"a\" .entry e() { .loc 1 4294967296 0 ret; }", "", "must fit in 32 bits" },
    { ".func f(.param .b8 a[], .param .u32 b);", "", "only the last parameter" },
    { ".func (.param .u32 r) f() .noreturn;", "", "cannot have a return value" },
    { ".func f(.param .u32 a); .func f(.param .u64 a) { ret; }", "", "'f' has different parameters" },
    { ".func f() { ret; } .func f() { ret; }", "", "redefinition of the body" },
    { ".entry e() .maxntid 32 .reqntid 32 { ret; }", "", "cannot be combined" },
    { ".entry e() .maxnctapersm 2 { ret; }", "", "was removed in" },
    { ".entry e(.param .b8 x[32765]) { ret; }", "", "at most 32764 bytes" },
    { ".entry e(.param .b8 x[]) { ret; }", "", "must have a size" },
    { ".entry e(.reg .u32 x) { ret; }", "", "expected '.param'" },
    { ".weak .func f() { ret; } .func g(); .alias g, f;", "", "cannot be .weak" },
    { ".section .debug_info { .b8 300 }", "", "does not fit in .b8" },
    { "#define X 5\n", "", "preprocessor" },
    { "/* open", "", "unterminated" },
    { ".pragma \"open", "", "unterminated" },
    { ".pragma \"unknown\";", "", "pragma \"unknown\" is unknown" },
    { ".func f() { ret; } .func f();", "", "after its definition" },
    { ".entry e() .maxntid 16+16 { ret; }", "", "expected" },
    { ".func (.param .u32 a, .reg .u32 b) f() { ret; }", "", "several are only accepted in registers" },
    { ".file 1 \"a\" .file 1 \"b\"", "", "redefinition of file 1" },
    { ".section .debug_str { L: .b8 1 L: .b8 2 }", "", "redefinition of label 'L'" },
    { ".global .texref t = { colour = 1 };", "", "unknown property 'colour'" },
    { ".target sm_80", "", "misplaced '.target'" },
    { ".global .u32 %tid;", "", "it is a name of the PTX language" },
    /* and the list is not used */
    { "", "t: .calltargets nothing; .reg .u64 to; call to, t;", "not a previously declared function" },
    { "", "setp.eq.u32 _|_, %u0, %u1;", "at least one half must be a register" },
    { "", "cvta.to.global.u32 %u0, %u1;", "requires .address_size 32" },
};

START_TEST(bad_text_is_refused)
{
    struct parsed r = parse_kernel(invalid_texts[_i].module, invalid_texts[_i].body);

    ck_assert_msg(r.m == NULL, "accepted: %s %s", invalid_texts[_i].module, invalid_texts[_i].body);
    ck_assert_msg(strstr(ptxi_str_text(&r.out), invalid_texts[_i].message) != NULL, "%s %s: '%s' is not in\n%s",
                  invalid_texts[_i].module, invalid_texts[_i].body, invalid_texts[_i].message, ptxi_str_text(&r.out));
    free_parsed(&r);
}
END_TEST

START_TEST(messages_have_the_documented_form)
{
    static const char text[] = ".version 8.5\n.target sm_90\n.address_size 64\n.entry k() { .reg .f32 %f<9>;\n    "
                               "fma.ru.f32 %f1, %f2, %f3, %f4;\n"
                               "    add.f32 %f1, %f2;\n} }\n.global .u32 x[2] = { 1, 2, 3 };\n";
    struct parsed r = parse_text(text, sizeof text - 1);

    ck_assert_ptr_null(r.m);
    ck_assert_uint_eq(r.diags.errors, 4);
    ck_assert_str_eq(ptxi_str_text(&r.out),
                     "t.ptx:5:8: error: 'fma.f32' has no modifier '.ru'\n"
                     "    5 |     fma.ru.f32 %f1, %f2, %f3, %f4;\n"
                     "      |        ^~~\n"
                     "note: accepted: fma.(rn|rz|rm|rp){.ftz}{.sat}.f32 (PTX ISA, \"Floating Point Instructions: "
                     "fma\")\n"
                     "t.ptx:6:5: error: missing operand b of 'add.f32'\n"
                     "    6 |     add.f32 %f1, %f2;\n"
                     "      |     ^~~~~~~\n"
                     "note: accepted: add{.(rn|rz|rm|rp)}{.ftz}{.sat}.f32 d, a, b (PTX ISA, \"Floating Point "
                     "Instructions: add\")\n"
                     "t.ptx:7:3: error: expected a directive of a module before '}'\n"
                     "    7 | } }\n"
                     "      |   ^\n"
                     "t.ptx:8:29: error: too many values: this dimension has 2 elements\n"
                     "    8 | .global .u32 x[2] = { 1, 2, 3 };\n"
                     "      |                             ^\n");
    free_parsed(&r);
}
END_TEST

static const struct { const char *head, *body, *message; } requirements[] = {
    { ".version 7.7\n.target sm_80\n", ".reg .b32 r; mov.u32 r, %cluster_ctarank;",
      "'%cluster_ctarank' requires PTX 7.8 or later" },
    { ".version 7.8\n.target sm_80\n", ".reg .b32 r; mov.u32 r, %cluster_ctarank;",
      "'%cluster_ctarank' requires .target sm_90 or higher" },
    { ".version 5.0\n.target sm_60\n", ".reg .b32 r; activemask.b32 r;", "'activemask.b32' requires PTX 6.2 or later" },
    { ".version 6.5\n.target sm_20\n", ".reg .b32 r; activemask.b32 r;",
      "'activemask.b32' requires .target sm_30 or higher" },
    { ".version 7.0\n.target sm_70\n", ".reg .b32 r; shfl.down.b32 r, r, 1, 31;", "was removed in PTX 6.4" },
    { ".version 7.0\n.target sm_90\n", "ret;", ".target sm_90 requires PTX 7.8 or later" },
    { ".version 7.0\n.target sm_80\n.address_size 64\n", ".reg .b64 d; .reg .b32 r; "
            "ld.relaxed.cluster.global.u32 r, [d];",
            "modifier '.cluster' of" },
};

START_TEST(versions_and_targets)
{
    char text[500];
    struct parsed r;

    snprintf(text, sizeof text, "%s.entry k() { %s }\n", requirements[_i].head, requirements[_i].body);
    r = parse_text(text, strlen(text));
    ck_assert_ptr_null(r.m);
    ck_assert_msg(strstr(ptxi_str_text(&r.out), requirements[_i].message) != NULL, "'%s' is not in\n%s",
                  requirements[_i].message, ptxi_str_text(&r.out));
    free_parsed(&r);
}
END_TEST

/* ---- malicious text ---- */

static struct parsed parse_repeated(const char *before, const char *what, unsigned times, const char *after)
{
    struct ptxi_str s;
    struct parsed r;

    ptxi_str_init(&s, NULL);
    ptxi_str_puts(&s, before);
    for (unsigned i = 0; i < times; i++)
        ptxi_str_puts(&s, what);
    ptxi_str_puts(&s, after);
    r = parse_text(ptxi_str_text(&s), s.len);
    ptxi_str_free(&s);
    return r;
}

#define OPEN HEAD ".entry k() { .reg .b32 r; .reg .b64 d; "

static const struct { const char *before, *what, *after, *message; } repetitions[] = {
    { OPEN, "{", "", "blocks are nested too deeply" },
    { OPEN "mov.b32 r, ", "(", "", "nested too deeply" },
    { OPEN "mov.b32 r, ", "-", "1; }", "nested too deeply" },
    { OPEN "mov.b32 r, ", "1?", "1; }", "nested too deeply" },
    { OPEN "mov.b32 ", "r,", "r; }", "too many operands" },
    { OPEN "mov.b32 {", "r,", "r}, r; }", "too many vector elements" },
    { OPEN "add", ".x", " r, r, r; }", "too many modifiers" },
    { OPEN "add", " .x", " r, r, r; }", "too long" },
    { OPEN, "foo;\n", "}", "100000 further errors not shown" },
    { OPEN, "bra nowhere;", "ret; }", "is not defined" },
    { HEAD ".global .u8 x[1] = ", "{", "", "expected" },
    { HEAD ".global .u8 x", "[1]", ";", "too many dimensions" },
    { HEAD ".func f(", ".param .b32 a,", ".param .b32 b);", "too many parameters" },
    { "", "\x80\n", "", "invalid character" },
};

START_TEST(endless_input_ends_in_an_error)
{
    struct parsed r = parse_repeated(repetitions[_i].before, repetitions[_i].what, 100100, repetitions[_i].after);
    const char *out = ptxi_str_text(&r.out);

    ck_assert_ptr_null(r.m);
    if (!strcmp(repetitions[_i].what, "foo;\n"))
        ck_assert_uint_le(r.diags.errors, PTXI_DIAG_MAX);
    else
        ck_assert_msg(strstr(out, repetitions[_i].message) != NULL, "%.500s", out);
    free_parsed(&r);
}
END_TEST

START_TEST(large_modules_are_accepted)
{
    struct parsed r = parse_repeated(OPEN ".reg .b32 %r<41249>; .global .u64 y; ",
                                     "add.u32 %r41248, %r1, 5; "
                                     "$L0: { .reg .pred p; bra $L0; }\n $L0: ",
                                     1, "ret; }");

    ck_assert_ptr_null(r.m); /* $L0 twice */
    free_parsed(&r);
    r = parse_repeated(OPEN ".reg .b32 %r<41249>;", "{ add.u32 %r41248, %r1, 5; L: { .reg .pred p; bra L; } }\n",
                       200000, "ret; }");
    ck_assert_msg(r.m != NULL, "%.300s", ptxi_str_text(&r.out));
    ck_assert_uint_eq(kernel(&r)->inst_count, 400001);
    ck_assert_uint_lt(r.arena.total / 400001, 300);
    free_parsed(&r);
    r = parse_repeated(HEAD ".global .b8 x[] = {0", ", 200", 1000000, "};");
    ck_assert_ptr_nonnull(r.m);
    ck_assert_uint_eq(variable(&r, "x")->size, 1000001);
    free_parsed(&r);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    char *text = kernel_text(call_module, "call (%r1), f1, (%r2); bra L; { .reg .b32 x<7>; t: .branchtargets L; "
                                          "brx.idx x3, t; } L: ret;");
    struct ptxi_parse_options options = { .file = "t.ptx" };
    bool done = false;

    for (long n = 0; !done; n++) {
        struct countdown cd = { .left = n };
        struct ptxi_alloc al = countdown_alloc(&cd);
        struct ptxi_arena arena;
        struct ptxi_diag diags;

        ptxi_arena_init(&arena, &al);
        ptxi_diag_init(&diags, &arena);
        done = ptxi_parse(text, strlen(text), &options, &arena, &diags) != NULL;
        ck_assert_uint_eq(diags.errors, 0);
        ptxi_arena_free(&arena);
        ck_assert_int_eq(cd.live, 0);
        ck_assert_int_lt(n, 1000);
    }
    free(text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("parse");
    TCase *t = tcase_create("parse");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, registers_have_ids_types_and_names);
    tcase_add_test(t, first_element_counts);
    tcase_add_test(t, inner_names_hide_outer_ones);
    tcase_add_test(t, labels_are_instructions);
    tcase_add_test(t, label_at_the_end_of_the_body);
    tcase_add_test(t, branch_tables);
    tcase_add_loop_test(t, constants_have_the_bits_of_their_type, 0, sizeof constants / sizeof *constants);
    tcase_add_test(t, addresses);
    tcase_add_test(t, addresses_without_brackets);
    tcase_add_test(t, operand_forms);
    tcase_add_test(t, qualifiers_in_any_order);
    tcase_add_test(t, ignored_qualifiers);
    tcase_add_test(t, calls);
    tcase_add_test(t, initialisers);
    tcase_add_test(t, declarations);
    tcase_add_test(t, functions);
    tcase_add_test(t, line_marks_and_files);
    tcase_add_test(t, inlined_calls);
    tcase_add_test(t, concatenated_modules);
    tcase_add_test(t, module_headers);
    tcase_add_test(t, inferred_address_size);
    tcase_add_loop_test(t, bad_text_is_refused, 0, sizeof invalid_texts / sizeof *invalid_texts);
    tcase_add_test(t, messages_have_the_documented_form);
    tcase_add_loop_test(t, versions_and_targets, 0, sizeof requirements / sizeof *requirements);
    tcase_add_loop_test(t, endless_input_ends_in_an_error, 0, sizeof repetitions / sizeof *repetitions);
    tcase_add_test(t, large_modules_are_accepted);
    tcase_add_test(t, every_allocation_may_fail);
    suite_add_tcase(s, t);
    return run_suite(s);
}
