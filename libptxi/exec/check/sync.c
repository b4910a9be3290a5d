#include "exec/check/sync.h"

#include <inttypes.h>
#include <stdio.h>

#include "exec/check/state.h"
#include "exec/engine/cta.h"
#include "exec/engine/grid.h"
#include "exec/finding/finding.h"

static struct ptxi_finding_site site_of(const struct ptxi_warp *w, const struct ptxi_split *s, ptxi_lanes lanes)
{
    struct ptxi_fault_report where = { .access = PTXI_AK_NONE };

    ptxi_fault_locate(&where, w, s->frame->code, s->pc, lanes);
    return ptxi_finding_site_at(&where);
}

void ptxi_sync_report(const struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i,
                      ptxi_lanes lanes, enum ptxi_finding_kind kind, enum ptxi_finding_severity severity,
                      const char *detail)
{
    const struct ptxi_grid *g = w->cta->grid;
    struct ptxi_fault_report where = { .access = PTXI_AK_NONE };
    struct ptxi_finding f = { .kind = kind, .severity = severity, .site_count = 1, .detail = detail };

    if (!g->findings || !(g->tools & 1u << PTXI_TOOL_SYNC))
        return;
    ptxi_fault_locate(&where, w, code, i, lanes);
    f.sites[0] = ptxi_finding_site_at(&where);
    ptxi_findings_add(g->findings, &f, g->code->name, g->gridid);
}

void ptxi_sync_report_masks(const struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i,
                            ptxi_lanes lanes)
{
    ptxi_sync_report(w, code, i, lanes, PTXI_FINDING_MASK, PTXI_FINDING_ERROR,
                     "lanes in the mask execute it with another mask");
}

void ptxi_sync_check_masks(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint32_t *masks)
{
    ptxi_lanes outside = 0, different = 0;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left), base = l / 32 * 32;
        ptxi_lanes named = (ptxi_lanes)masks[l] << base;

        outside |= (ptxi_lanes)!(masks[l] >> (l - base) & 1) << l;
        for (ptxi_lanes others = named & w->active & ~((ptxi_lanes)1 << l); others;
             others &= others - 1)
            different |= (ptxi_lanes)(masks[ptxi_first_lane(others)] != masks[l]) << l;
    }
    if (outside)
        ptxi_sync_report(w, w->frame->code, i, outside, PTXI_FINDING_MASK, PTXI_FINDING_ERROR,
                         "a lane executes it that is not in its mask");
    if (different)
        ptxi_sync_report_masks(w, w->frame->code, i, different);
}

void ptxi_sync_check_arrival(const struct ptxi_warp *w, ptxi_lanes lanes)
{
    const struct ptxi_grid *g = w->cta->grid;
    const struct ptxi_split *first = NULL;

    if (!g->findings || !(g->tools & 1u << PTXI_TOOL_SYNC))
        return;
    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];

        if (s->state != PTXI_SPLIT_BARRIER || !(s->lanes & lanes))
            continue;
        if (!first) {
            first = s;
        } else if (first->pc != s->pc && (first->pc->mods | s->pc->mods) & PTXI_BAR_ALIGNED) {
            struct ptxi_finding f = { .kind = PTXI_FINDING_DIVERGED, .severity = PTXI_FINDING_ERROR, .site_count = 2,
                                      .sites = { site_of(w, s, s->lanes & lanes),
                                                 site_of(w, first, first->lanes & lanes) } };

            ptxi_findings_add(g->findings, &f, g->code->name, g->gridid);
        }
    }
}

void ptxi_sync_note_passed(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        struct ptxi_check_warp *k = &w->cta->check->warps[w->index * PTXI_WARP32S + half];
        uint32_t lanes = (uint32_t)(w->active >> (32 * half));

        k->behind[i->imm] |= lanes;
        if (i->mods & PTXI_PASSED_BARRIER)
            k->behind_barrier |= lanes;
    }
}

/* The number of the check_passed behind a check_lanes, or 0. In a function, that behind the kernel's call. */
static unsigned point_of(const struct ptxi_frame *frame, const struct ptxi_insn *check)
{
    if (!frame->parent)
        return (unsigned)check->imm;
    while (frame->parent->parent)
        frame = frame->parent;
    return frame->return_to->mods;
}

static ptxi_lanes lanes_behind(const struct ptxi_warp *w, unsigned point)
{
    ptxi_lanes all = 0;

    for (unsigned half = 0; half < PTXI_WARP32S && point; half++)
        all |= (ptxi_lanes)w->cta->check->warps[w->index * PTXI_WARP32S + half].behind[point] << (32 * half);
    return all;
}

/* Appends the index of a thread of the grid to a text of that size. */
static void put_thread(char *text, size_t size, const struct ptxi_grid *g, uint32_t thread, const char *rest)
{
    uint32_t tid[3];

    ptxi_grid_thread_index(g, thread, tid);
    snprintf(text, size, "thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") %s", tid[0], tid[1], tid[2], rest);
}

void ptxi_sync_check_missing(const struct ptxi_warp *w, const struct ptxi_frame *frame, const struct ptxi_insn *check,
                             ptxi_lanes lanes, ptxi_lanes exited)
{
    ptxi_lanes missing = check ? lanes_behind(w, point_of(frame, check)) & exited : 0;
    char detail[120];

    if (!missing)
        return;
    put_thread(detail, sizeof detail, w->cta->grid, w->index * PTXI_LANES + ptxi_first_lane(missing),
               "has executed later code instead, and exits");
    ptxi_sync_report(w, frame->code, check, lanes, PTXI_FINDING_MISSING_LANES, PTXI_FINDING_ERROR, detail);
}

/* The report of a thread that has exited. */
struct exit_report {
    enum ptxi_finding_severity severity;
    const char *detail;
};

/* Reports an exit at the barrier where lanes of the warp wait. False: none does. */
static bool report_exit_at(const struct ptxi_warp *w, unsigned number, const struct exit_report *r)
{
    if (w->barrier_state == PTXI_WARP_BARRIER_AT + number) {
        ptxi_sync_report(w, w->frame->code, w->barrier_pc, w->live, PTXI_FINDING_EXIT, r->severity, r->detail);
        return true;
    }
    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];

        if (s->state != PTXI_SPLIT_BARRIER || s->barrier != number)
            continue;
        ptxi_sync_report(w, s->frame->code, s->pc, s->lanes, PTXI_FINDING_EXIT, r->severity, r->detail);
        return true;
    }
    return false;
}

void ptxi_sync_report_exit(const struct ptxi_cta *c, unsigned number, uint32_t thread, bool took_part)
{
    char detail[120];
    struct exit_report r = { took_part ? PTXI_FINDING_WARNING : PTXI_FINDING_ERROR, detail };

    put_thread(detail, sizeof detail, c->grid, thread,
               took_part ? "has passed an earlier barrier, and exits without this one"
                         : "has executed later code without this barrier, and exits");
    for (uint32_t k = 0; k < c->warp_count; k++)
        if (report_exit_at(&c->warps[k], number, &r))
            return;
}
