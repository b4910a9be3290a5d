/* Launches of a part of a grid: whether the blocks of a kernel may depend on each other. */
#include "api/launch/launch.h"

#include "api/module/provider.h"

#include "base/str.h"
#include "compile/lower/shared_layout.h"
#include "isa/isa.h"

#include <stdlib.h>

/* What is wrong with a window, and where. */
struct refusal {
    const char *why;               /* NULL: nothing */
    const struct ptxi_func *func;  /* the function with the instruction or the call */
    const struct ptxi_source_loc *loc;
    bool untracked;                /* it is the tracking, not the window */
};

struct walk {
    ptxiFunction kernel;
    bool *seen;
    bool windowed, tracked;
    uint32_t *stack, depth;        /* functions with bodies to visit */
    const struct ptxi_func *from;  /* the function that names the others */
    struct refusal refusal;
};

/* Why tracking does not see all that the instruction changes in memory, or NULL. */
static const char *find_untracked(const struct ptxi_insn *i)
{
    if (i->op == PTXI_OP_tensor_copy && i->mods >> PTXI_TENSOR_REDUCE & PTXI_TENSOR_REDUCE_MASK)
        return "reductions by tensor copies are not tracked";
    switch (ptxi_op_mnemonics[i->op]) {
    case PTXI_M_sust: case PTXI_M_sured: return "an array has no addresses by which its changes could be named";
    case PTXI_M_tensormap: return "changes of tensor maps are not tracked";
    default: return NULL;
    }
}

/* Whether an operation on memory that CTAs share has an effect that depends on the order of the CTAs. */
static const char *find_why(const struct ptxi_insn *i)
{
    enum { SPACE = 3, SHARED = 1 };

    switch (ptxi_op_mnemonics[i->op]) {
    case PTXI_M_clusterlaunchcontrol: return "clusterlaunchcontrol takes clusters from the rest of the grid";
    case PTXI_M_atom: case PTXI_M_red: break;
    default: return NULL;
    }
    if ((i->mods & SPACE) == SHARED)
        return NULL;
    switch (i->op) {
    case PTXI_OP_atom_cas_b16: case PTXI_OP_atom_cas_b32: case PTXI_OP_atom_cas_b64: case PTXI_OP_atom_cas_b128:
        return "a compare-and-swap depends on the order of the blocks";
    default:
        return i->d == PTXI_NO_SLOT ? NULL : "the result of an atomic operation depends on the order of the blocks";
    }
}

static void examine_code(struct walk *w, const struct ptxi_func *f, const struct ptxi_code *code)
{
    for (uint32_t k = 0; k < code->count && !w->refusal.why; k++) {
        const char *why = w->windowed ? find_why(&code->insns[k]) : NULL;
        bool untracked = !why && w->tracked && (why = find_untracked(&code->insns[k]));

        if (!why && w->windowed && k == code->polls_at)
            why = "a loop around a volatile, relaxed or acquire load may wait for another block";
        if (why)
            w->refusal = (struct refusal){ why, f, &code->locs[k], untracked };
    }
}

static const struct ptxi_func *resolve_alias(const struct ptxi_func *f)
{
    while (f->alias_of)
        f = f->alias_of;
    return f;
}

static void visit(void *ctx, const struct ptxi_var *var, const struct ptxi_func *f)
{
    struct walk *w = ctx;

    (void)var;
    if (!f || w->seen[(f = resolve_alias(f))->index])
        return;
    w->seen[f->index] = true;
    if (f->has_body)
        w->stack[w->depth++] = f->index;
    else if (ptxi_provider_is_registered(f->name->s) && !w->refusal.why)
        w->refusal = (struct refusal){ .why = "calls of the device runtime may launch grids", .func = w->from };
}

/* Examines everything that the kernel can reach. */
static ptxiResult examine(struct walk *w, unsigned variant)
{
    ptxiModule m = w->kernel->module;

    visit(w, NULL, w->kernel->func);
    while (w->depth && !w->refusal.why) {
        const struct ptxi_func *f = m->tree->funcs[w->stack[--w->depth]];
        const struct ptxi_code *code = ptxi_module_code(m, f->index, variant);

        if (!code)
            return ptxi_launch_no_code(w->kernel, variant);
        w->from = f;
        examine_code(w, f, code);
        ptxi_layout_visit_names(f, visit, w);
    }
    return PTXI_SUCCESS;
}

static ptxiResult refuse(ptxiFunction kernel, const struct refusal *r)
{
    struct ptxi_loc at = { .line = r->loc ? r->loc->line : 0, .col = r->loc ? r->loc->column : 0 };
    const struct ptxi_text *t = ptxi_text_at(&kernel->module->texts, &at);
    struct ptxi_str text;

    ptxi_str_init(&text, NULL);
    ptxi_str_printf(&text, r->untracked ? "the memory of kernel %s cannot be tracked: %s"
                                              : "a part of the grid of kernel %s cannot run apart: %s",
                    kernel->func->name->s, r->why);
    if (r->func)
        ptxi_str_printf(&text, " (function %s", r->func->name->s);
    if (at.line)
        ptxi_str_printf(&text, ", %s:%u", t->name, at.line);
    ptxi_str_printf(&text, r->func ? ")\n" : "\n");
    ptxiReport report = {
        .result = PTXI_ERROR_NOT_SUPPORTED, .text = ptxi_str_text(&text), .kernel = kernel->func->name->s,
        .function = r->func ? r->func->name->s : NULL, .ptxFile = at.line ? t->name : NULL, .ptxLine = at.line,
    };
    struct ptxi_failure *failure = ptxi_failure_create(&report);

    ptxi_str_free(&text);
    return ptxi_api_return_failure(kernel->module->ctx, PTXI_ERROR_NOT_SUPPORTED, failure);
}

static uint64_t count_clusters(const struct ptxi_launch_shape *s)
{
    uint64_t n = 1;

    for (int k = 0; k < 3; k++)
        n *= s->grid[k] / (s->cluster[k] ? s->cluster[k] : 1);
    return n;
}

ptxiResult ptxi_launch_check_window(ptxiFunction f, const struct ptxi_launch_shape *s, unsigned variant)
{
    struct walk w = { .kernel = f, .windowed = s->window.count != 0,
                      .tracked = variant & PTXI_VARIANT_TRACK };
    ptxiResult r = PTXI_ERROR_OUT_OF_MEMORY;
    uint32_t count = f->module->tree->func_count;

    if (w.windowed && s->window.first + s->window.count > count_clusters(s))
        return PTXI_ERROR_INVALID_VALUE;
    if (s->cooperative && w.windowed)
        return refuse(f, &(struct refusal){ .why = "blocks of a cooperative launch may wait for each other" });
    w.seen = calloc(count + 1, sizeof *w.seen);
    w.stack = malloc((count + 1) * sizeof *w.stack);
    if (w.seen && w.stack)
        r = examine(&w, variant);
    free(w.seen);
    free(w.stack);
    return r || !w.refusal.why ? r : refuse(f, &w.refusal);
}
