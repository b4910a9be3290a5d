/* PTX ISA, "Control Flow Instructions: call, ret". */
#include "exec/engine/call.h"

#include <assert.h>

#include "base/fill.h"
#include "exec/engine/cta.h"
#include "exec/engine/divergence.h"
#include "exec/engine/frame.h"

enum {
    MAX_DEPTH = 4096,    /* of calls */
    MAX_BYTES = 64 << 20 /* of the frames of a chain of calls */
};

/* The list of a call's arguments and results (isa/bytecode.h), in the pool of the caller's code. */
struct call_list {
    unsigned args, rets;
    const uint16_t *values; /* triples, arguments first: slot in the caller, slot in the callee, number of words */
};

static struct call_list call_list_at(const struct ptxi_code *code, const struct ptxi_insn *call)
{
    const uint16_t *list = code->pool + call->imm;

    return (struct call_list){ list[2], list[3], list + 4 };
}

/* Copies words of parameters between frames, in the given lanes. */
static void copy_words(uint32_t *to, const uint32_t *from, unsigned words, ptxi_lanes lanes)
{
    for (unsigned n = 0; n < words * PTXI_LANES; n++)
        to[n] = lanes >> (n % PTXI_LANES) & 1 ? from[n] : to[n];
}

/* --- functions of the host --- */

/* Fills the result words after those that a host function has written. */
static void fill_results(struct ptxi_warp *w, const struct call_list *list, unsigned given)
{
    const uint16_t *ret = list->values + 3 * list->args;

    for (unsigned k = 0, word = 0; k < list->rets; k++, ret += 3)
        for (unsigned n = 0; n < ret[2]; n++, word++) {
            unsigned char *p = PTXI_SLOT(w->frame, ret[0] + 2 * n);

            for (ptxi_lanes left = word < given ? 0 : w->active; left; left &= left - 1)
                ptxi_fill(p + ptxi_first_lane(left) * sizeof(uint32_t), sizeof(uint32_t));
        }
}

/* Arguments and results of a host function stay in the caller's frame. */
static const struct ptxi_insn *call_builtin(struct ptxi_warp *w, const struct ptxi_insn *i,
                                            const struct ptxi_binding *binding)
{
    struct call_list list = call_list_at(w->frame->code, i);
    const uint16_t *value = list.values;
    const uint32_t *arg[PTXI_MAX_BUILTIN_WORDS];
    uint32_t *ret[PTXI_MAX_BUILTIN_WORDS];
    struct ptxi_builtin_call call = { .warp = w, .insn = i, .lanes = w->active, .args = arg, .rets = ret };

    for (unsigned k = 0; k < list.args + list.rets; k++, value += 3)
        for (unsigned n = 0; n < value[2] && call.arg_words + call.ret_words < PTXI_MAX_BUILTIN_WORDS; n++) {
            uint32_t *word = PTXI_SLOT(w->frame, value[0] + 2 * n);

            if (k < list.args)
                arg[call.arg_words++] = word;
            else
                ret[call.ret_words++] = word;
        }
    if (!binding->call(&call, binding->user))
        return w->stop;
    assert(call.given_words <= call.ret_words);
    fill_results(w, &list, call.given_words);
    return i + 1;
}

/* --- functions in PTX --- */

/* The bytecode of a function, which is compiled on its first call. */
static const struct ptxi_code *code_of(struct ptxi_warp *w, uint32_t func)
{
    const struct ptxi_program *p = w->cta->grid->program;
    const struct ptxi_code *code = atomic_load_explicit(&p->functions[func].code, memory_order_acquire);

    return code ? code : p->compile(p->ctx, func);
}

/* Whether the callee of an indirect call has words where the caller writes arguments and reads results. A kernel
 * cannot be called: its parameters are those of its launch. */
static bool matches_call(const struct ptxi_code *code, const struct call_list *list)
{
    unsigned units = 2 * (code->arg_words + code->ret_words);

    if (code->is_entry)
        return false;
    for (unsigned k = 0; k < list->args + list->rets; k++) {
        const uint16_t *value = list->values + 3 * k;

        if (value[1] + 2u * value[2] > units)
            return false;
    }
    return true;
}

/* End of the .local memory that calls of the active lanes may use. */
static uint64_t stack_limit(const struct ptxi_warp *w)
{
    uint64_t limit = w->local_stride;

    for (int l = 0; w->stack_moved && l < PTXI_LANES; l++)
        if (w->active >> l & 1 && w->stack_top[l] < limit)
            limit = w->stack_top[l];
    return limit;
}

/* An indirect call may have fewer words of arguments than the callee. */
static void pass_arguments(struct ptxi_warp *w, struct ptxi_frame *f, const struct ptxi_frame *from,
                           const struct call_list *list)
{
    unsigned words = 0;

    for (unsigned k = 0; k < list->args; k++)
        words += list->values[3 * k + 2];
    if (words < f->code->arg_words)
        ptxi_fill(f->regs, f->code->arg_words * PTXI_LANES * sizeof(uint32_t));
    for (unsigned k = 0; k < list->args; k++) {
        const uint16_t *value = list->values + 3 * k;

        copy_words(PTXI_SLOT(f, value[1]), PTXI_SLOT(from, value[0]), value[2], w->active);
    }
}

/* The running split continues in `frame`. */
static void switch_frame(struct ptxi_warp *w, struct ptxi_frame *frame)
{
    w->splits[w->current].frame = w->frame = frame;
    w->regs = frame->regs;
    w->stop = PTXI_NO_STOP;
}

const struct ptxi_insn *ptxi_call(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t func)
{
    const struct ptxi_grid *g = w->cta->grid;
    const struct ptxi_callee *callee = &g->program->functions[func];
    struct ptxi_frame *f, *from = w->frame;
    struct call_list list;
    const struct ptxi_code *code;

    assert(func < g->program->function_count);
    assert(w->splits[w->current].frame == from && w->splits[w->current].lanes == w->active);
    if (g->bindings[func].call)
        return call_builtin(w, i, &g->bindings[func]);
    code = code_of(w, func);
    list = call_list_at(from->code, i);
    if (!code && callee->too_large)
        return ptxi_fault(w, i, PTXI_FK_UNSUPPORTED, w->active, 0, 0, callee->too_large);
    if (!code)
        return ptxi_fault(w, i, callee->without_body ? PTXI_FK_UNRESOLVED : PTXI_FK_MEMORY, w->active, 0, 0,
                          callee->name);
    if (i->op == PTXI_OP_call_indirect && !matches_call(code, &list))
        return ptxi_fault(w, i, PTXI_FK_BRANCH, w->active, 0, 0, "indirect call of a function with other parameters");
    if (from->depth >= MAX_DEPTH || from->below > MAX_BYTES ||
        from->local_base + from->code->local_bytes + code->local_bytes > stack_limit(w))
        return ptxi_fault(w, i, PTXI_FK_STACK, w->active, 0, 0, callee->name);
    f = ptxi_frame_create(w, code);
    if (!f)
        return ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, callee->name);
    f->parent = from; /* takes over the split's reference to it */
    f->splits = 1;
    f->depth = from->depth + 1;
    f->below = from->below + ptxi_frame_bytes(f);
    f->return_to = i;
    f->local_base = from->local_base + from->code->local_bytes;
    if (code->local_bytes)
        ptxi_local_fill(w, w->active, f->local_base, code->local_bytes);
    pass_arguments(w, f, from, &list);
    switch_frame(w, f);
    return --w->quantum > 0 ? code->insns : ptxi_leave_quantum(w, code->insns);
}

const struct ptxi_insn *ptxi_return(struct ptxi_warp *w)
{
    struct ptxi_frame *f = w->frame, *to = f->parent;
    const struct ptxi_insn *call = f->return_to;
    struct call_list list;

    if (!to)
        return ptxi_leave_exit(w, w->active);
    list = call_list_at(to->code, call);
    for (unsigned k = list.args; k < list.args + list.rets; k++) {
        const uint16_t *value = list.values + 3 * k;

        copy_words(PTXI_SLOT(to, value[0]), PTXI_SLOT(f, value[1]), value[2], w->active);
    }
    to->splits++;
    ptxi_frame_unref(w, f);
    switch_frame(w, to);
    return w->split_count == 1 ? call + 1 : ptxi_leave_jump(w, call + 1);
}
