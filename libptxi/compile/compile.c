#include "compile/compile.h"

#include "compile/codegen/codegen.h"
#include "compile/contract/contract_state.h"
#include "compile/ir/ir.h"
#include "compile/lower/lower_state.h"
#include "compile/optimize/optimize.h"

/* --- passes --- */

/* When a pass runs. */
enum condition {
    ALWAYS,
    UNLESS_AS_WRITTEN, /* reproduces what ptxas does to the text, where bits depend on it */
    IF_CONTRACTED,     /* the same, if the options allow contraction */
    IF_CHECKED,
    IF_INIT,
    IF_POINTERS
};

/* All passes after lowering, in order. Each returns false if memory is short (ir->oom) or if the frame is too large. */
static const struct pass {
    const char *name;
    bool (*run)(struct ptxi_ir *ir);
    enum condition condition;
} passes[] = {
    { "find_blocks", ptxi_cfg_find_blocks, ALWAYS },
    { "order_blocks", ptxi_cfg_order_blocks, ALWAYS },
    { "local_parts", ptxi_find_local_parts, IF_POINTERS },
    { "copy_propagation", ptxi_propagate_copies, ALWAYS },
    { "ptxas_simplify", ptxi_ptxas_simplify, UNLESS_AS_WRITTEN },
    { "nan_operand_order", ptxi_order_nan_operands, UNLESS_AS_WRITTEN },
    { "contract", ptxi_contract, IF_CONTRACTED },
    { "check_wgmma", ptxi_check_wgmma, IF_CHECKED },
    { "check_arrivals", ptxi_check_arrivals, IF_CHECKED },
    { "rematerialize", ptxi_rematerialize, ALWAYS },
    { "polling_loads", ptxi_ir_mark_polling_loads, IF_CHECKED },
    { "track_init", ptxi_track_init, IF_INIT },
    { "track_pointers", ptxi_track_pointers, IF_POINTERS },
    { "track_shared", ptxi_track_shared, IF_POINTERS },
    { "launch_invariant", ptxi_hoist_launch_invariant, ALWAYS },
    { "peephole", ptxi_peephole, ALWAYS },
    { "row_registers", ptxi_use_row_registers, ALWAYS },
    { "register_allocation", ptxi_allocate_registers, ALWAYS },
};

static bool is_wanted(const struct pass *pass, const struct ptxi_compile_options *options)
{
    switch (pass->condition) {
    case UNLESS_AS_WRITTEN: return !options->as_written;
    case IF_CHECKED: return options->check;
    case IF_INIT: return options->init;
    case IF_POINTERS: return options->pointers;
    case IF_CONTRACTED: return !options->as_written && options->contract;
    default: return true;
    }
}

static void after_pass(const char *name, const struct ptxi_ir *ir, const struct ptxi_compile_options *options)
{
    ptxi_ir_check(ir);
    if (options->after_pass)
        options->after_pass(options->ctx, name, ir);
}

static bool run_passes(struct ptxi_ir *ir, const struct ptxi_compile_options *options)
{
    after_pass("lower", ir, options);
    for (const struct pass *p = passes; p < passes + sizeof passes / sizeof *passes; p++) {
        if (!is_wanted(p, options))
            continue;
        if (!p->run(ir))
            return false;
        after_pass(p->name, ir, options);
    }
    return true;
}

/* --- functions --- */

enum { MAX_SHARED = 1 << 20 }; /* bytes: no device has more, and offsets are 32 bits wide */

static bool fits(const struct ptxi_lower *l, struct ptxi_diag *diags)
{
    uint64_t shared = l->shared_bytes - l->layout->shared_base;

    if (l->ir->local_bytes > PTXI_COMPILED_LOCAL)
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, l->func->loc, "%llu bytes of .local variables, a thread has %d",
                      (unsigned long long)l->ir->local_bytes, PTXI_MAX_LOCAL_VARIABLES);
    else if (shared > MAX_SHARED)
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, l->func->loc, "%llu bytes of .shared variables, a block has at most %d",
                      (unsigned long long)shared, MAX_SHARED);
    else
        return true;
    return false;
}

/* Lowers the function and runs the passes. False after a diagnostic, or if memory is short. */
static bool make_ir(struct ptxi_lower *l, struct ptxi_diag *diags)
{
    struct ptxi_ir *ir = l->ir;
    const char *wrong;

    if (!ptxi_lower(l)) {
        if (ir->too_large)
            ptxi_diag_add(diags, PTXI_DIAG_ERROR, l->func->loc, "more than %d bytes of .param variables",
                          4 * PTXI_MAX_AREA_WORDS);
        return false;
    }
    if (!fits(l, diags))
        return false;
    if (!run_passes(ir, l->options)) {
        if (!ir->oom)
            ptxi_diag_add(diags, PTXI_DIAG_ERROR, l->func->loc, "more registers than can be addressed");
        return false;
    }
    wrong = l->options->verify ? ptxi_verify_allocation(ir) : NULL;
    if (wrong)
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, l->func->loc, "the compiler is wrong: %s", wrong);
    return !wrong;
}

/* Whether a function of the module has operations by the async proxy, which may be on shared memory. */
static bool has_async_proxy(const struct ptxi_module_ast *tree)
{
    for (uint32_t f = 0; f < tree->func_count; f++)
        for (uint32_t k = 0; k < tree->funcs[f]->inst_count; k++) {
            const struct ptxi_match *m = tree->funcs[f]->insts[k].match;

            if (m->row->family == PTXI_M_wgmma || m->row->family == PTXI_M_tcgen05 ||
                (m->row->family == PTXI_M_cp && ptxi_isa_has_word(m, PTXI_Q_bulk)))
                return true;
        }
    return false;
}

static struct ptxi_code *compile(const struct ptxi_layout *layout, const struct ptxi_func *func,
                                 const struct ptxi_compile_options *options,
                                 struct ptxi_arena *scratch, struct ptxi_arena *arena, struct ptxi_diag *diags)
{
    struct ptxi_ir ir = { .arena = scratch, .module = layout->tree, .func = func };
    struct ptxi_lower l = { .ir = &ir, .layout = layout, .options = options, .func = func,
                            .shared_bytes = layout->shared_base };
    struct ptxi_code *code = make_ir(&l, diags) ? ptxi_emit(&ir, options, arena) : NULL;

    if (!code)
        return NULL;
    code->param_bytes = l.param_bytes;
    code->shared_base = layout->shared_base;
    code->shared_bytes = (uint32_t)l.shared_bytes - code->shared_base;
    code->shared_end = l.shared_end;
    code->in_clusters = layout->in_clusters;
    code->async_proxy = options->check && has_async_proxy(layout->tree);
    return code;
}

struct ptxi_code *ptxi_compile(const struct ptxi_layout *layout, const struct ptxi_func *func,
                               const struct ptxi_compile_options *options,
                               struct ptxi_arena *arena, struct ptxi_diag *diags)
{
    struct ptxi_arena scratch;
    struct ptxi_code *code;

    ptxi_arena_init(&scratch, arena->alloc);
    code = compile(layout, func, options, &scratch, arena, diags);
    ptxi_arena_free(&scratch);
    return code;
}

bool ptxi_compile_executes(const struct ptxi_row *row)
{
    return ptxi_lower_executes(row);
}
