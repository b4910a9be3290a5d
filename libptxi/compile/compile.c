#include "compile/compile.h"

#include "compile/lower/lower.h"
#include "compile/ir/ir.h"
#include "compile/lower/shared_layout.h"

/* What ptxas makes of the text, where bits depend on it. */
static bool optimised(struct ptxi_ir *ir, const struct ptxi_compile_options *options)
{
    return ptxi_algebra(ir) && ptxi_operand_order(ir) && (!options->contract || ptxi_contract(ir));
}

static bool passes(struct ptxi_ir *ir, const struct ptxi_compile_options *options)
{
    return ptxi_cfg_build(ir) && ptxi_cfg_order(ir) && ptxi_copies(ir) && (options->as_written || optimised(ir, options)) &&
           ptxi_constants(ir) && ptxi_uniform(ir) && ptxi_fuse(ir) && ptxi_slots(ir);
}

enum { MOST_SHARED = 1 << 20 }; /* bytes: no device has more, and offsets in it are 32 bits wide */

static bool fits(const struct ptxi_build *b, struct ptxi_diag *diags)
{
    if (b->ir->local_bytes > PTXI_COMPILED_LOCAL)
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, b->func->loc, "%llu bytes of .local variables, a thread has %d",
                      (unsigned long long)b->ir->local_bytes, PTXI_MAX_LOCAL_VARIABLES);
    else if (b->shared_bytes - b->layout->shared_base > MOST_SHARED)
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, b->func->loc, "%llu bytes of .shared variables, a block has at most %d",
                      (unsigned long long)(b->shared_bytes - b->layout->shared_base), MOST_SHARED);
    else
        return true;
    return false;
}

static struct ptxi_code *compile(const struct ptxi_layout *layout, const struct ptxi_func *func, const struct ptxi_compile_options *options,
                                 struct ptxi_arena *scratch, struct ptxi_arena *arena, struct ptxi_diag *diags)
{
    struct ptxi_ir ir = { .arena = scratch, .func = func };
    struct ptxi_build b = { .ir = &ir, .layout = layout, .options = options, .func = func, .shared_bytes = layout->shared_base };
    struct ptxi_code *code;
    const char *wrong;

    if (!ptxi_build(&b)) {
        if (ir.too_large)
            ptxi_diag_add(diags, PTXI_DIAG_ERROR, func->loc, "more than %d bytes of .param variables", 4 * PTXI_MOST_AREA_WORDS);
        return NULL;
    }
    if (!fits(&b, diags))
        return NULL;
    if (!passes(&ir, options)) {
        if (!ir.oom)
            ptxi_diag_add(diags, PTXI_DIAG_ERROR, func->loc, "more registers than can be addressed");
        return NULL;
    }
    wrong = options->verify ? ptxi_verify(&ir) : NULL;
    if (wrong) {
        ptxi_diag_add(diags, PTXI_DIAG_ERROR, func->loc, "the compiler is wrong: %s", wrong);
        return NULL;
    }
    code = ptxi_emit(&ir, options, arena);
    if (!code)
        return NULL;
    code->param_bytes = b.param_bytes;
    code->shared_base = layout->shared_base;
    code->shared_bytes = (uint32_t)b.shared_bytes - code->shared_base;
    code->shared_end = b.shared_end;
    code->in_clusters = layout->in_clusters;
    return code;
}

struct ptxi_code *ptxi_compile(const struct ptxi_layout *layout, const struct ptxi_func *func, const struct ptxi_compile_options *options,
                               struct ptxi_arena *arena, struct ptxi_diag *diags)
{
    struct ptxi_arena scratch;
    struct ptxi_code *code;

    ptxi_arena_init(&scratch, arena->alloc);
    code = compile(layout, func, options, &scratch, arena, diags);
    ptxi_arena_free(&scratch);
    return code;
}
