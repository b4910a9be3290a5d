#include "exec/sched/cta_context.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fill.h"
#include "exec/async/async.h"
#include "exec/async/mbarrier.h"
#include "exec/check/check.h"
#include "exec/engine/address_space.h"
#include "exec/engine/divergence.h"
#include "exec/engine/frame.h"
#include "exec/memmap/memmap.h"
#include "exec/tcgen05/tmem_queue.h"
#include "exec/track/track.h"

enum {
    WORDS_SLACK = 16,           /* bytes after the end of shared memory, which accesses to whole words may reach */
    LONG_LOCAL_BYTES = 64 << 10 /* size from which .local memory is given back to the host instead of cleared */
};

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Rounds up to an odd number of cache lines, so that neighbours do not compete for the same sets of a cache. */
static size_t odd_lines(size_t bytes)
{
    return round_up(bytes, 64) | 64;
}

/* Replaces the memory if it has less than `need` bytes. The new memory is zero. False: memory is short. */
static bool grow(unsigned char **p, size_t *have, size_t need)
{
    if (*have >= need)
        return true;
    free(*p);
    *p = aligned_alloc(128, round_up(need, 128));
    *have = *p ? need : 0;
    if (*p)
        memset(*p, 0, round_up(need, 128));
    return *p;
}

/* .local memory is large and mostly unused: the host allocates its pages on first use. */
static bool grow_local(struct ptxi_cta *c, size_t need)
{
    if (c->local_bytes >= need)
        return true;
    if (c->local)
        munmap(c->local, c->local_bytes);
    c->local = mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c->local == MAP_FAILED)
        c->local = NULL;
    c->local_bytes = c->local ? need : 0;
    return c->local;
}

/* Clears what stores of earlier CTAs have written. */
static void clear_local(struct ptxi_warp *w)
{
    if (w->local_written >= LONG_LOCAL_BYTES && !madvise(w->local, w->local_stride * PTXI_LANES, MADV_DONTNEED))
        return;
    for (unsigned l = 0; l < PTXI_LANES; l++)
        ptxi_fill_few(w->local + l * w->local_stride, 0, w->local_written);
}

/* Clears .local memory before a launch divides it differently. */
static void clear_all_local(struct ptxi_cta *c)
{
    for (uint32_t k = 0; k < c->warps_allocated; k++) {
        if (c->warps[k].local_written)
            clear_local(&c->warps[k]);
        c->warps[k].local_written = 0;
    }
}

/* What the start of a warp writes is the same for each CTA of a launch. So it is kept, and copied with a few wide
 * stores. */
enum { START_FIRST = offsetof(struct ptxi_warp, frame),
       START_END = offsetof(struct ptxi_warp, splits) + sizeof(struct ptxi_split) };
struct warp_start {
    unsigned char bytes[START_END - START_FIRST];
    bool is_same; /* false: ptxi_warp_start() does more than to write these bytes */
};

/* They are after the warps. */
static struct warp_start *warp_starts(const struct ptxi_cta *c)
{
    return (struct warp_start *)(c->warps + c->warps_allocated);
}

static bool grow_warps(struct ptxi_cta *c, uint32_t count)
{
    struct ptxi_warp *more;

    if (c->warps_allocated >= count)
        return true;
    more = aligned_alloc(128, round_up(count * (sizeof *more + sizeof(struct warp_start)), 128));
    if (!more)
        return false;
    memset(more, 0, count * sizeof *more);
    if (c->warps)
        memcpy(more, c->warps, c->warps_allocated * sizeof *more);
    free(c->warps);
    c->warps = more;
    c->warps_allocated = count;
    return true;
}

void ptxi_cta_context_free(struct ptxi_cta *c)
{
    assert(!c->busy);
    for (uint32_t k = 0; k < c->warps_allocated; k++) {
        ptxi_warp_free_frames(&c->warps[k]);
        ptxi_warp_async_free(&c->warps[k]);
    }
    ptxi_check_free_cta(c);
    ptxi_bulk_free(c);
    ptxi_tmem_free(c);
    free(c->warps);
    free(c->frames);
    free(c->shared);
    if (c->local)
        munmap(c->local, c->local_bytes);
    free(c);
}

/* The generation of unchecked launches. The memory map never reaches it. */
static const _Atomic uint64_t unchecked_generation = UINT64_MAX;

/* Sets up what all CTAs of a launch have in common, and computes the launch-invariant values. */
static void prepare_warp(struct ptxi_cta *c, uint32_t index, size_t local_stride, const struct ptxi_level *level)
{
    struct ptxi_grid *g = c->grid;
    struct ptxi_warp *w = &c->warps[index];
    struct ptxi_frame *f = (struct ptxi_frame *)(c->frames + index * c->frame_stride);

    w->table = level->table;
    w->cta = c;
    w->worker = c->worker;
    w->hits = c->worker->hits;
    /* a checked launch must not use the hits of an unchecked one */
    w->generation = g->unchecked ? &unchecked_generation : &((const struct ptxi_memmap_head *)g->memmap)->generation;
    w->shared = c->shared;
    w->shared_at = g->code->in_clusters ? (uint64_t)c->rank * PTXI_SHARED_STEP : 0;
    w->shared_origin = (uintptr_t)c->shared - (uintptr_t)w->shared_at;
    w->shared_size = (uint64_t)g->code->shared_base + g->code->shared_bytes + g->dynamic_shared;
    w->one_worker = g->one_worker;
    w->only_worker = g->only_worker;
    w->noted = ptxi_tracker_ranges(g->tracker, c->worker->index, g->only_worker);
    w->index = index;
    w->next = &c->warps[index + 1 < c->warp_count ? index + 1 : 0];
    w->first_thread = index * PTXI_LANES;
    w->exits_at_once = g->cluster_size == 1 && !g->instruction_budget;
    w->local_stride = local_stride;
    w->stack_moved = true;
    w->local = c->local ? c->local + (size_t)w->first_thread * local_stride : NULL;
    memset(f, 0, sizeof *f);
    f->code = g->code;
    ptxi_frame_fill_constants(f, g->code);
    if (g->code->setup_count) {
        w->frame = f;
        w->regs = f->regs;
        w->active = PTXI_ALL_LANES;
        w->stop = PTXI_NO_STOP;
        level->run(w, g->code->setup);
    }
}

static ptxi_lanes lanes_of(uint32_t threads)
{
    return threads >= PTXI_LANES ? PTXI_ALL_LANES : ((ptxi_lanes)1 << threads) - 1;
}

/* Starts a warp once, to keep what that writes. */
static void keep_start(struct ptxi_cta *c, uint32_t index)
{
    struct ptxi_warp *w = &c->warps[index];
    struct warp_start *start = &warp_starts(c)[index];

    ptxi_warp_start(w, (struct ptxi_frame *)(c->frames + index * c->frame_stride),
                    lanes_of(ptxi_thread_count(c->grid) - w->first_thread));
    memcpy(start->bytes, (const unsigned char *)w + START_FIRST, sizeof start->bytes);
    start->is_same = !c->grid->code->unwritten_count;
    ptxi_warp_abandon(w);
}

/* Does what ptxi_warp_start() does. */
static inline void start_warp(struct ptxi_warp *w, struct ptxi_frame *frame, const struct warp_start *start)
{
    if (w->stack_moved || !start->is_same) {
        ptxi_warp_start(w, frame, lanes_of(ptxi_thread_count(w->cta->grid) - w->first_thread));
        return;
    }
    assert(!frame->parent && !w->exited);
    frame->splits = 1;
    memcpy((unsigned char *)w + START_FIRST, start->bytes, sizeof start->bytes);
    w->regs = frame->regs;
    w->active = w->live;
    w->stop = PTXI_NO_STOP;
    w->quantum = PTXI_QUANTUM;
}

/* For assertions: whether start_warp() would change nothing. */
__attribute__((unused)) static bool is_started(const struct ptxi_warp *w, const struct ptxi_frame *frame,
                                               const struct warp_start *start)
{
    return start->is_same && !w->stack_moved && w->regs == frame->regs && frame->splits == 1 && w->active == w->live &&
           w->stop == PTXI_NO_STOP &&
           !memcmp((const unsigned char *)w + START_FIRST, start->bytes, sizeof start->bytes);
}

static bool is_prepared(const struct ptxi_cta *c, const struct ptxi_grid *g, uint32_t rank)
{
    return c->prepared_for == g && c->prepared_id == g->launch_id && c->rank == rank;
}

bool ptxi_cta_context_prepare(struct ptxi_cta *c, struct ptxi_grid *g, uint32_t rank, const struct ptxi_level *level)
{
    const struct ptxi_code *code = g->code;
    uint32_t warps = (ptxi_thread_count(g) + PTXI_LANES - 1) / PTXI_LANES;
    size_t stride = odd_lines(sizeof(struct ptxi_frame) + (size_t)code->frame_units * PTXI_UNIT);
    size_t local = code->local_bytes + (size_t)g->stack_bytes, local_stride = local ? odd_lines(local) : 0;

    if (is_prepared(c, g, rank))
        return true;
    c->grid = g;
    c->rank = rank;
    c->prepared_for = NULL;
    clear_all_local(c);
    if (!grow(&c->frames, &c->frame_bytes, stride * warps) || !grow_warps(c, warps) ||
        !grow(&c->shared, &c->shared_bytes,
              (size_t)code->shared_base + code->shared_bytes + g->dynamic_shared + WORDS_SLACK) ||
        (local && !grow_local(c, local_stride * warps * PTXI_LANES)))
        return false;
    c->frame_stride = stride;
    c->warp_count = warps;
    for (uint32_t k = 0; k < warps; k++)
        prepare_warp(c, k, local_stride, level);
    for (uint32_t k = 0; k < warps; k++)
        keep_start(c, k);
    ptxi_check_prepare_cta(c);
    c->prepared_for = g;
    c->prepared_id = g->launch_id;
    c->number = UINT64_MAX;
    c->starts_alike = g->cluster_size == 1 && !g->schedule && !g->check && !code->unwritten_count;
    return true;
}

/* Cooperative groups expect zeros in the memory that the system reserves. */
static void fill_shared(struct ptxi_cta *c)
{
    const struct ptxi_code *code = c->grid->code;

    memset(c->shared, 0, code->shared_base);
    ptxi_fill(c->shared + code->shared_base, code->shared_bytes + c->grid->dynamic_shared + WORDS_SLACK);
}

/* Most CTAs come after the one that the context had before. */
static inline bool is_next(const struct ptxi_cta *c, uint64_t n)
{
    return n && n - 1 == c->number;
}

static void set_ctaid(struct ptxi_cta *c, uint64_t n)
{
    const struct ptxi_grid *g = c->grid;

    if (is_next(c, n) && g->cluster_size == 1 && !g->schedule)
        ptxi_grid_next_cta(g, c->ctaid);
    else
        ptxi_grid_cta_at(g, n, c->rank, c->ctaid);
    c->number = n;
}

/* Clears what an earlier CTA has written to .local memory, or fills the variables there. */
static __attribute__((noinline)) void start_local(struct ptxi_warp *w, bool fills)
{
    if (w->local_written)
        clear_local(w);
    if (fills)
        ptxi_local_fill(w, PTXI_ALL_LANES, 0, w->cta->grid->code->local_bytes);
}

/* Starts the context's CTA of the n-th cluster. */
static void start_cta(struct ptxi_cta *c, uint64_t n)
{
    const struct ptxi_grid *g = c->grid;
    unsigned char *frame = c->frames;
    const struct warp_start *start = warp_starts(c);
    bool fills = ptxi_fill_byte;

    assert(c->busy && c->prepared_for == g && c->prepared_id == g->launch_id);
    assert(!c->job_count && !c->tracked_jobs);
    set_ctaid(c, n);
    c->live_warps = c->warp_count;
    if (c->barriers_in_use)
        memset(c->barriers, 0, sizeof c->barriers);
    c->barriers_in_use = 0;
    c->live_threads = (ptxi_thread_count(g) + 31) / 32 * 32;
    c->warpgroup_waits = c->warps_exited = false;
    if (c->tmem)
        ptxi_tmem_reset(c);
    if (g->code->uses_shared)
        fill_shared(c);
    for (struct ptxi_warp *w = c->warps, *end = w + c->warp_count; w < end; w++) {
        start_warp(w, (struct ptxi_frame *)frame, start++);
        frame += c->frame_stride;
        if (__builtin_expect(w->local_written || fills, 0))
            start_local(w, fills);
    }
}

static struct ptxi_frame *frame_of(const struct ptxi_warp *w)
{
    return (struct ptxi_frame *)(w->cta->frames + w->index * w->cta->frame_stride);
}

/* The start of most CTAs: what start_cta() does, without what earlier CTAs of this launch have not changed. */
static inline void start_next_cta(struct ptxi_cta *c, uint64_t n)
{
    ptxi_grid_next_cta(c->grid, c->ctaid);
    c->number = n;
    c->live_warps = c->warp_count;
    c->live_threads = (ptxi_thread_count(c->grid) + 31) / 32 * 32;
    c->warpgroup_waits = c->warps_exited = false;
    if (c->grid->code->uses_shared)
        fill_shared(c);
    for (struct ptxi_warp *w = c->warps, *end = w + c->warp_count; w < end; w++) {
        if (__builtin_expect(!w->as_started, 0))
            start_warp(w, frame_of(w), &warp_starts(c)[w->index]);
        ptxi_warp_start_again(w);
        assert(is_started(w, frame_of(w), &warp_starts(c)[w->index]));
        if (__builtin_expect(w->local_written, 0))
            start_local(w, false);
    }
}

static inline bool starts_as_next(const struct ptxi_cta *c, uint64_t n)
{
    return c->starts_alike && is_next(c, n) && !c->barriers_in_use && !c->tmem && !ptxi_fill_byte;
}

static __attribute__((noinline)) void start_cluster(struct ptxi_cta *lead, uint64_t n)
{
    const struct ptxi_grid *g = lead->grid;

    if (g->schedule)
        lead->rng_state = ptxi_grid_rng_state(g, n);
    for (uint32_t m = 0; m < lead->member_count; m++) {
        assert(lead->members[m]->rank == m);
        start_cta(lead->members[m], n);
    }
    if (g->check)
        ptxi_check_start_cluster(lead);
}

void ptxi_cta_context_start_cluster(struct ptxi_cta *lead, uint64_t n)
{
    assert(lead->lead == lead && lead->member_count == lead->grid->cluster_size);
    assert(lead->busy && lead->prepared_for == lead->grid && lead->prepared_id == lead->grid->launch_id);
    assert(!lead->job_count && !lead->tracked_jobs);
    lead->waits = lead->cluster_barrier_used = false;
    if (starts_as_next(lead, n))
        start_next_cta(lead, n);
    else
        start_cluster(lead, n);
}
