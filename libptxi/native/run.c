/* Runs warps with native code, and compiles functions when they are hot. */
#include "native/native.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "exec/engine/divergence.h"
#include "native/compiler.h"
#include "native/exec_memory.h"

/* Where native code has been left: the pc, and the warp, which may be another one (ptxi_native_switch_warp()). */
struct left {
    const struct ptxi_insn *pc;
    struct ptxi_warp *w;
};

typedef struct left enter_code(const struct ptxi_insn *i, struct ptxi_warp *w, const void *at);

/* A place where the code may be entered. */
struct entry {
    const void *at;        /* NULL: none */
    _Atomic uint8_t worth; /* more if the code runs long from here, less if it is left soon; 0: PTXI_TIER_AUTO does not
                            * enter here */
    bool head;             /* code that reaches it looks whether another split waits here */
};

struct ptxi_native_code {
    unsigned char *bytes; /* executable */
    uint32_t size;
    enter_code *enter;
    _Atomic(struct ptxi_native_code *) partial; /* the code for warps with inactive lanes, or `none`, `compiling` */
    _Atomic uint32_t partial_heat;
    struct entry entry[]; /* by instruction */
};

/* What struct ptxi_function_state refers to while a thread compiles, and if there is no native code. */
static struct ptxi_native_code compiling, none;

/* Of entries: at first, at most. */
enum { WORTH_FIRST = 16, WORTH_MOST = 64 };

static bool is_code(const struct ptxi_native_code *n)
{
    return n && n != &compiling && n != &none;
}

/* --- the host --- */

enum width { WIDTH_UNKNOWN, WIDTH_NONE, WIDTH_256, WIDTH_512 };

/* The width of the handlers' vectors: a group of a shape (exec/memory/shape.h) is a vector. */
static enum width find_width(void)
{
#if PTXI_LANES != 32 || !defined(__x86_64__)
    return WIDTH_NONE;
#elif defined(HAVE_X86_LEVELS)
    enum ptxi_cpu_level level = ptxi_cpu_level();

    if (level == PTXI_CPU_V4)
        return WIDTH_512;
    return level == PTXI_CPU_V3 ? WIDTH_256 : WIDTH_NONE;
#elif defined(__AVX512F__)
    return ptxi_cpu_level_host() == PTXI_CPU_V4 ? WIDTH_512 : WIDTH_NONE;
#else
    return ptxi_cpu_level_host() >= PTXI_CPU_V3 ? WIDTH_256 : WIDTH_NONE;
#endif
}

/* CPUID takes long in a virtual machine. */
static enum width host_width(void)
{
    static _Atomic int width;

    if (width == WIDTH_UNKNOWN)
        width = find_width();
    return (enum width)width;
}

/* --- compilation --- */

/* Adds the code to the file in which perf looks for names, if PTXI_PERF_MAP is 1. */
static void tell_perf(const struct ptxi_native_code *n, const char *name, bool partial)
{
    const char *wanted = getenv("PTXI_PERF_MAP");
    char path[40];
    FILE *file;

    if (!wanted || strcmp(wanted, "1"))
        return;
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    file = fopen(path, "a");
    if (!file)
        return;
    fprintf(file, "%" PRIxPTR " %" PRIx32 " ptxi:%s%s\n", (uintptr_t)n->bytes, n->size, name,
            partial ? ":partial" : "");
    fclose(file);
}

static struct ptxi_native_code *place(struct ptxi_native_builder *c)
{
    const uint32_t count = c->code->count;
    struct ptxi_native_code *n = malloc(sizeof *n + count * sizeof *n->entry);

    if (!n)
        return NULL;
    n->size = c->x.size;
    n->bytes = ptxi_exec_memory_new(c->x.bytes, c->x.size);
    if (!n->bytes) {
        free(n);
        return NULL;
    }
    n->enter = (enter_code *)(uintptr_t)(n->bytes + c->start);
    for (uint32_t k = 0; k < count; k++) {
        n->entry[k].at = c->entry[k] ? n->bytes + c->entry[k] : NULL;
        n->entry[k].worth = WORTH_FIRST;
        n->entry[k].head = c->heads[k];
    }
    n->partial = NULL;
    n->partial_heat = 0;
    tell_perf(n, c->code->name, c->partial);
    return n;
}

/* `partial`: for warps with inactive lanes. */
static struct ptxi_native_code *compile(const struct ptxi_code *code, ptxi_handler *const *table, bool partial)
{
    const enum width width = host_width();
    struct ptxi_native_builder c = { .x.wide = width == WIDTH_512, .code = code, .table = table, .partial = partial };
    struct ptxi_native_code *n = NULL;

    if (width != WIDTH_NONE && ptxi_native_compile(&c))
        n = place(&c);
    ptxi_native_builder_free(&c);
    return n ? n : &none;
}

bool ptxi_native_list(const struct ptxi_code *code, ptxi_handler *const *table, struct ptxi_native_listing *listing)
{
    const enum width width = host_width();
    struct ptxi_native_builder c = { .x.wide = width == WIDTH_512, .code = code, .table = table };
    bool done = width != WIDTH_NONE && ptxi_native_compile(&c);

    if (done) {
        *listing = (struct ptxi_native_listing){ c.x.bytes, c.x.size, c.begin, c.start, c.pieces, c.piece_count };
        c.x.bytes = NULL;
        c.begin = NULL;
        c.pieces = NULL;
    }
    ptxi_native_builder_free(&c);
    return done;
}

void ptxi_native_listing_free(struct ptxi_native_listing *listing)
{
    free(listing->bytes);
    free(listing->begin);
    free(listing->rare);
}

/* Instructions in which native code does not pay for its entry. */
enum { SHORT = 6 };

/* Whether native code is of no use for a function. A function that it calls may have some. */
static bool is_too_short(const struct ptxi_code *code)
{
    if (code->count >= SHORT)
        return false;
    for (uint32_t k = 0; k < code->count; k++) {
        const struct ptxi_insn *i = &code->insns[k];
        const bool loops = ptxi_native_is_branch(i->op) && i->imm <= 0;

        if (loops || i->op == PTXI_OP_call || i->op == PTXI_OP_call_indirect)
            return false;
    }
    return true;
}

bool ptxi_native_is_useless(const struct ptxi_code *code)
{
    return code->state && atomic_load_explicit(&code->state->code, memory_order_acquire) == &none && is_too_short(code);
}

/* One thread compiles. The others interpret meanwhile. */
static struct ptxi_native_code *heat_up(const struct ptxi_warp *w, const struct ptxi_code *code)
{
    struct ptxi_function_state *s = code->state;
    struct ptxi_native_code *n;
    void *expected = NULL;

    if (!s || atomic_fetch_add_explicit(&s->heat, 1, memory_order_relaxed) < w->cta->grid->native_after)
        return NULL;
    if (!atomic_compare_exchange_strong(&s->code, &expected, &compiling))
        return NULL;
    n = w->cta->grid->native_after && is_too_short(code) ? &none : compile(code, w->table, false);
    atomic_store(&s->code, n);
    return n;
}

/* The same for code that runs warps with inactive lanes. */
static struct ptxi_native_code *heat_up_partial(const struct ptxi_warp *w, struct ptxi_native_code *n)
{
    enum { INSTRUCTIONS = 64 };
    const uint32_t after = w->cta->grid->native_after * INSTRUCTIONS;
    struct ptxi_native_code *expected = NULL, *partial;

    if (atomic_fetch_add_explicit(&n->partial_heat, 1, memory_order_relaxed) < after)
        return NULL;
    if (!atomic_compare_exchange_strong(&n->partial, &expected, &compiling))
        return NULL;
    partial = compile(w->frame->code, w->table, true);
    atomic_store(&n->partial, partial);
    return partial;
}

static void release(struct ptxi_native_code *n)
{
    assert(n != &compiling);
    if (!is_code(n))
        return;
    release(n->partial);
    ptxi_exec_memory_free(n->bytes, n->size);
    free(n);
}

void ptxi_native_release(const struct ptxi_code *code)
{
    if (code->state)
        release(atomic_exchange(&code->state->code, NULL));
}

/* --- the dispatch loop --- */

/* The code of the running function. The warps of a CTA that run it share the look-up. */
struct tier {
    const struct ptxi_code *code;
    struct ptxi_native_code *native; /* NULL: none */
    bool is_final;                   /* `native` will not change */
    bool is_auto;
};

static inline void find_tier(struct tier *t, const struct ptxi_warp *w)
{
    const struct ptxi_code *code = w->frame->code;
    struct ptxi_native_code *n;

    if (__builtin_expect(t->is_final && t->code == code, 1))
        return;
    n = code->state ? atomic_load_explicit(&code->state->code, memory_order_acquire) : NULL;
    if (__builtin_expect(!n, 0))
        n = heat_up(w, code);
    t->code = code;
    t->native = is_code(n) ? n : NULL;
    t->is_final = t->native || n == &none;
    t->is_auto = w->cta->grid->native_after;
}

/* Whether native code that began at `from` and was left for `to` has run for a few instructions only. Loops have paid
 * for the quantum. */
static inline bool was_short(const struct ptxi_warp *w, const struct ptxi_insn *from, const struct ptxi_insn *to,
                             int64_t quantum)
{
    if (to == w->stop && w->barrier_state >= PTXI_WARP_BARRIER_AT && w->barrier_state != PTXI_WARP_EXITED)
        to = w->barrier_pc;
    return w->quantum == quantum && (uintptr_t)to - (uintptr_t)from < SHORT * sizeof *to;
}

/* To enter and to leave native code takes the time of some instructions. Where it is mostly left soon (lanes diverge,
 * or the warp waits), the interpreter is faster. */
static inline void judge(struct entry *e, bool is_short)
{
    const uint8_t worth = atomic_load_explicit(&e->worth, memory_order_relaxed);

    if (is_short)
        atomic_store_explicit(&e->worth, worth - (worth > 0), memory_order_relaxed);
    else if (worth < WORTH_MOST)
        atomic_store_explicit(&e->worth, worth + 1, memory_order_relaxed);
}

/* Whether a warp that runs code from here on leaves it where another split waits. */
static inline bool sees_stop(const struct ptxi_warp *w, const struct ptxi_native_code *n)
{
    return w->active == PTXI_ALL_LANES || w->stop == PTXI_NO_STOP ||
           n->entry[w->stop - w->frame->code->insns].head;
}

/* Tests first what excludes most places, as warps with inactive lanes come here for each instruction. */
static inline bool is_open(const struct ptxi_warp *w, const struct tier *t, const struct ptxi_native_code *n,
                           const struct entry *e)
{
    return e->at && (atomic_load_explicit(&e->worth, memory_order_relaxed) || !t->is_auto) && sees_stop(w, n);
}

static inline struct left enter(struct left at, const struct tier *t, struct ptxi_native_code *n, struct entry *e)
{
    const int64_t quantum = at.w->quantum;
    const struct left to = n->enter(at.pc, at.w, e->at);

    if (t->is_auto)
        judge(e, to.w == at.w && was_short(at.w, at.pc, to.pc, quantum));
    return to;
}

/* The native code for the active lanes, or NULL. */
static inline struct ptxi_native_code *code_for_lanes(const struct ptxi_warp *w, struct ptxi_native_code *n)
{
    struct ptxi_native_code *partial;

    if (!n || w->active == PTXI_ALL_LANES)
        return n;
    partial = atomic_load_explicit(&n->partial, memory_order_acquire);
    if (__builtin_expect(!partial, 0))
        partial = heat_up_partial(w, n);
    return is_code(partial) ? partial : NULL;
}

/* Executes from a pc on: native code, or one instruction. */
static inline struct left step(struct left at, const struct tier *t)
{
    struct ptxi_native_code *n = code_for_lanes(at.w, t->native);

    if (n) {
        struct entry *e = &n->entry[at.pc - t->code->insns];

        if (is_open(at.w, t, n, e))
            return enter(at, t, n, e);
    }
    return (struct left){ at.w->table[at.pc->op](at.pc, at.w), at.w };
}

/* Runs until the warp leaves the dispatch loop, or another one that native code went on with, which is returned. Calls
 * and returns change the function. */
static inline struct ptxi_warp *run_warp(struct left at, struct tier *t)
{
    do {
        const struct ptxi_frame *frame = at.w->frame;

        find_tier(t, at.w);
        do
            at = step(at, t);
        while (at.pc != at.w->stop && at.w->frame == frame);
    } while (at.pc != at.w->stop);
    return at.w;
}

/* A warp that has used its quantum has run for long. */
static void heat_of_quantum(const struct ptxi_warp *w)
{
    enum { HEAT = 64 };
    struct ptxi_function_state *s = w->frame->code->state;

    if (w->event == PTXI_EVENT_QUANTUM && s)
        atomic_fetch_add_explicit(&s->heat, HEAT, memory_order_relaxed);
}

struct ptxi_warp *ptxi_native_run(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct tier tier = { 0 };

    for (;;) {
        struct ptxi_warp *next;

        w = run_warp((struct left){ pc, w }, &tier);
        next = w->next;
        if (w->barrier_state < PTXI_WARP_BARRIER_AT || next->barrier_state != PTXI_WARP_BARRIER_PASSED) {
            heat_of_quantum(w);
            return w;
        }
        w = next;
        w->barrier_state = PTXI_WARP_BARRIER_NONE;
        pc = w->barrier_pc + 1;
    }
}
