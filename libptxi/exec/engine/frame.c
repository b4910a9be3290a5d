/* Calls. Frames belong to splits: a frame is referenced by the splits that stand in it and by the frames called from
 * it, and goes back to the warp's free lists with the last of them. */
#include "base/fill.h"
#include "exec/engine/engine.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_DEPTH = 4096,     /* of calls */
    MAX_BYTES = 64 << 20, /* of the frames of a chain of calls */
    SMALLEST_CLASS_SHIFT = 10,
    CLASS_COUNT = 16
};

void ptxi_frame_fill(struct ptxi_frame *frame, const struct ptxi_code *code)
{
    for (uint32_t k = 0; k < code->const_count; k++) {
        const struct ptxi_const *c = &code->consts[k];
        unsigned char *p = PTXI_SLOT(frame, c->slot);

        for (int l = 0; l < PTXI_LANES; l++) {
            if (c->bytes == 2)
                ((uint16_t *)p)[l] = (uint16_t)c->value;
            else if (c->bytes == 4)
                ((uint32_t *)p)[l] = (uint32_t)c->value;
            else if (c->bytes == 8)
                ((uint64_t *)p)[l] = c->value;
        }
        if (!c->bytes)
            *(ptxi_lanes *)p = c->value ? PTXI_ALL_LANES : 0;
    }
}

void ptxi_frame_fill_unwritten(struct ptxi_frame *frame)
{
    const struct ptxi_code *code = frame->code;

    for (uint32_t k = 0; k < code->unwritten_count; k++)
        ptxi_fill(PTXI_SLOT(frame, code->unwritten[k].first), (size_t)code->unwritten[k].units * PTXI_UNIT);
}

/* Memory of the host's allocator is cleared once: slots keep values of earlier calls, but nothing of the process. */
static struct ptxi_frame *allocate(unsigned class)
{
    size_t bytes = (size_t)1 << (SMALLEST_CLASS_SHIFT + class);
    struct ptxi_frame *f = aligned_alloc(64, bytes);

    return f ? memset(f, 0, bytes) : NULL;
}

static struct ptxi_frame *frame_new(struct ptxi_warp *w, const struct ptxi_code *code)
{
    size_t bytes = sizeof(struct ptxi_frame) + (size_t)code->frame_units * PTXI_UNIT;
    unsigned class = 0;
    struct ptxi_frame *f;

    while (((size_t)1 << (SMALLEST_CLASS_SHIFT + class)) < bytes)
        class++;
    if (class >= CLASS_COUNT)
        return NULL;
    f = w->free_frames[class];
    if (f)
        w->free_frames[class] = f->parent;
    else
        f = allocate(class);
    if (f) {
        f->size_class = class;
        f->code = code;
        ptxi_frame_fill(f, code);
        ptxi_frame_fill_unwritten(f);
    }
    return f;
}

void ptxi_frame_drop(struct ptxi_warp *w, struct ptxi_frame *frame)
{
    while (frame && !--frame->splits) {
        struct ptxi_frame *parent = frame->parent;

        if (!parent)
            return; /* the entry frame is the CTA's */
        frame->parent = w->free_frames[frame->size_class];
        w->free_frames[frame->size_class] = frame;
        frame = parent;
    }
}

void ptxi_warp_free_frames(struct ptxi_warp *w)
{
    for (int c = 0; c < CLASS_COUNT; c++)
        while (w->free_frames[c]) {
            struct ptxi_frame *f = w->free_frames[c];

            w->free_frames[c] = f->parent;
            free(f);
        }
}

/* Copies words of parameters between frames, in the given lanes. */
static void copy_words(uint32_t *to, const uint32_t *from, unsigned words, ptxi_lanes lanes)
{
    for (unsigned n = 0; n < words * PTXI_LANES; n++)
        to[n] = lanes >> (n % PTXI_LANES) & 1 ? from[n] : to[n];
}

/* Words of results beyond those that a function of the host's has given. `list`: its results, see bytecode.h. */
static void fill_results(struct ptxi_warp *w, const uint16_t *list, unsigned rets, unsigned given)
{
    for (unsigned k = 0, word = 0; k < rets; k++, list += 3)
        for (unsigned n = 0; n < list[2]; n++, word++) {
            unsigned char *p = PTXI_SLOT(w->frame, list[0] + 2 * n);

            for (ptxi_lanes left = word < given ? 0 : w->active; left; left &= left - 1)
                ptxi_fill(p + ptxi_first_lane(left) * sizeof(uint32_t), sizeof(uint32_t));
        }
}

/* A function of the host's: its arguments and results stay in the caller's frame. */
static const struct ptxi_insn *call_builtin(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_binding *binding)
{
    const uint16_t *list = w->frame->code->pool + i->imm;
    unsigned args = list[2], rets = list[3];
    const uint32_t *arg[PTXI_MAX_BUILTIN_WORDS];
    uint32_t *ret[PTXI_MAX_BUILTIN_WORDS];
    struct ptxi_builtin_call call = { .warp = w, .insn = i, .lanes = w->active, .args = arg, .rets = ret };

    list += 4;
    for (unsigned k = 0; k < args + rets; k++, list += 3)
        for (unsigned n = 0; n < list[2] && call.arg_words + call.ret_words < PTXI_MAX_BUILTIN_WORDS; n++) {
            uint32_t *word = PTXI_SLOT(w->frame, list[0] + 2 * n);

            if (k < args)
                arg[call.arg_words++] = word;
            else
                ret[call.ret_words++] = word;
        }
    if (!binding->call(&call, binding->user))
        return w->stop;
    fill_results(w, list - 3 * rets, rets, call.given_words);
    return i + 1;
}

static const struct ptxi_code *code_of(struct ptxi_warp *w, uint32_t func)
{
    const struct ptxi_program *p = w->cta->grid->program;
    const struct ptxi_code *code = atomic_load_explicit(&p->functions[func].code, memory_order_acquire);

    return code ? code : p->compile(p->ctx, func);
}

/* Whether a function's words are where the caller of an indirect call puts and fetches them. A kernel's parameters are
 * those of its launch: it cannot be called. */
static bool fits(const struct ptxi_code *code, const uint16_t *list)
{
    unsigned units = 2 * (code->arg_words + code->ret_words), values = list[2] + (unsigned)list[3];

    if (code->is_entry)
        return false;
    for (unsigned k = 0; k < values; k++)
        if (list[4 + 3 * k + 1] + 2u * list[4 + 3 * k + 2] > units)
            return false;
    return true;
}

/* Where the .local memory that calls may take ends, for the lanes that run. */
static uint64_t stack_limit(const struct ptxi_warp *w)
{
    uint64_t limit = w->local_stride;

    for (int l = 0; w->stack_moved && l < PTXI_LANES; l++)
        if (w->active >> l & 1 && w->stack_top[l] < limit)
            limit = w->stack_top[l];
    return limit;
}

void ptxi_local_fill(struct ptxi_warp *w, ptxi_lanes lanes, uint64_t at, uint64_t bytes)
{
    uint64_t end = at + bytes;

    if (ptxi_fill_byte)
        w->local_written = end > w->local_written ? (uint32_t)end : w->local_written;
    else
        end = end < w->local_written ? end : w->local_written;
    for (; end > at && lanes; lanes &= lanes - 1)
        ptxi_fill_few(w->local + ptxi_first_lane(lanes) * w->local_stride + at, ptxi_fill_byte, end - at);
}

/* An indirect call may bring fewer words than the callee has. */
static void pass_arguments(struct ptxi_warp *w, struct ptxi_frame *f, const struct ptxi_frame *from, const uint16_t *list)
{
    unsigned words = 0;

    for (unsigned k = 0; k < list[2]; k++)
        words += list[4 + 3 * k + 2];
    if (words < f->code->arg_words)
        ptxi_fill(f->regs, f->code->arg_words * PTXI_LANES * sizeof(uint32_t));
    for (unsigned k = 0; k < list[2]; k++)
        copy_words(PTXI_SLOT(f, list[4 + 3 * k + 1]), PTXI_SLOT(from, list[4 + 3 * k]), list[4 + 3 * k + 2], w->active);
}

const struct ptxi_insn *ptxi_call(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t func)
{
    const struct ptxi_grid *g = w->cta->grid;
    const struct ptxi_callee *callee = &g->program->functions[func];
    struct ptxi_split *s = &w->splits[w->current];
    const struct ptxi_code *code;
    struct ptxi_frame *f, *from = w->frame;
    const uint16_t *list = from->code->pool + i->imm;

    if (g->bindings[func].call)
        return call_builtin(w, i, &g->bindings[func]);
    code = code_of(w, func);
    if (!code && callee->too_large)
        return ptxi_fault(w, i, PTXI_FK_UNSUPPORTED, w->active, 0, 0, callee->too_large);
    if (!code)
        return ptxi_fault(w, i, callee->without_body ? PTXI_FK_UNRESOLVED : PTXI_FK_MEMORY, w->active, 0, 0, callee->name);
    if (i->op == PTXI_OP_call_indirect && !fits(code, list))
        return ptxi_fault(w, i, PTXI_FK_BRANCH, w->active, 0, 0, "indirect call of a function with other parameters");
    if (from->depth >= MAX_DEPTH || from->below > MAX_BYTES || from->local_base + from->code->local_bytes + code->local_bytes > stack_limit(w))
        return ptxi_fault(w, i, PTXI_FK_STACK, w->active, 0, 0, callee->name);
    f = frame_new(w, code);
    if (!f)
        return ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, callee->name);
    f->parent = from; /* takes over the split's reference to it */
    f->splits = 1;
    f->depth = from->depth + 1;
    f->below = from->below + ((uint64_t)1 << (SMALLEST_CLASS_SHIFT + f->size_class));
    f->return_to = i;
    f->local_base = from->local_base + from->code->local_bytes;
    if (code->local_bytes)
        ptxi_local_fill(w, w->active, f->local_base, code->local_bytes);
    pass_arguments(w, f, from, list);
    s->frame = w->frame = f;
    w->regs = f->regs;
    w->stop = PTXI_NO_STOP;
    return --w->quantum > 0 ? code->insns : ptxi_leave_quantum(w, code->insns);
}

const struct ptxi_insn *ptxi_return(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_frame *f = w->frame, *to = f->parent;
    const struct ptxi_insn *call = f->return_to;
    const uint16_t *list;
    unsigned args, rets;

    (void)i;
    if (!to)
        return ptxi_lanes_exit(w, w->active);
    list = to->code->pool + call->imm;
    args = list[2];
    rets = list[3];
    list += 4 + 3 * args;
    for (unsigned k = 0; k < rets; k++)
        copy_words(PTXI_SLOT(to, list[3 * k]), PTXI_SLOT(f, list[3 * k + 1]), list[3 * k + 2], w->active);
    to->splits++;
    ptxi_frame_drop(w, f);
    w->splits[w->current].frame = w->frame = to;
    w->regs = to->regs;
    w->stop = PTXI_NO_STOP;
    return w->split_count == 1 ? call + 1 : ptxi_leave_switch(w, call + 1);
}
