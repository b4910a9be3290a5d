#include "exec/check/race.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

#include "exec/check/async_proxy.h"
#include "exec/check/checker.h"
#include "exec/check/cluster.h"
#include "exec/check/concurrent.h"
#include "exec/check/fence.h"
#include "exec/check/object.h"
#include "exec/check/order.h"
#include "exec/engine/address_space.h"
#include "exec/finding/finding.h"
#include "exec/memory/access.h"
#include "isa/isa.h"

/* The access of one lane. */
struct access {
    struct ptxi_check_thread t;
    struct ptxi_warp *w;
    const struct ptxi_insn *i;   /* the check_access, or another instruction of ptxi_race_touch() */
    struct ptxi_record record;   /* what it leaves */
    unsigned strength, scope;
    bool write;
    uint32_t size;
    uint64_t address;            /* global, or in shared memory of `owner` */
    const void *value;           /* what stmatrix stores; NULL otherwise */
    struct ptxi_cta *owner;      /* NULL: global */
};

static void set_lane(struct access *a, unsigned l)
{
    a->t.warp = a->w->index * PTXI_WARP32S + l / 32;
    a->t.lane = l % 32;
    a->record.lanes = UINT32_C(1) << l % 32;
    a->record.meta = (a->record.meta & ~(31u << PTXI_META_WARP)) | a->t.warp << PTXI_META_WARP;
}

/* --- lanes --- */

static inline bool is_own_warp(const struct access *a, const struct ptxi_record *r)
{
    return r->agent == a->t.cta->check->agent && ptxi_record_warp(r) == a->t.warp && !ptxi_record_is_bulk(r);
}

/* The lanes of a record that are not the thread itself. An asynchronous copy counts as another thread. */
static inline uint32_t other_lanes(const struct access *a, const struct ptxi_record *r)
{
    if (ptxi_record_is_bulk(r))
        return 1;
    return is_own_warp(a, r) && !ptxi_record_is_async(r) ? r->lanes & ~(UINT32_C(1) << a->t.lane) : r->lanes;
}

/* --- values --- */

/* The bytes that a lane's store writes. Returns their number, 0 if they are not known. */
static uint32_t stored_bytes(const struct ptxi_warp *w, const struct ptxi_insn *check, unsigned lane,
                             unsigned char to[16])
{
    const struct ptxi_insn *i = ptxi_race_checked(check);
    uint32_t size = check->mods & PTXI_CHECK_BYTES, flags = ptxi_op_flags[i->op], n = 0, element, width;
    uint32_t count = ptxi_op_elements(flags);
    uint16_t slots[4] = { i->b, i->c, i->d, i->mods };

    if (check->op != PTXI_OP_check_access || !(flags & PTXI_OP_FLAG_STORE))
        return 0;
    element = size / count;
    width = element == 1 ? 2 : element; /* bytes come from registers of 16 bits */
    for (uint32_t k = 0; k < count; k++, n += element) {
        if (slots[k] == PTXI_NO_SLOT)
            return 0;
        memcpy(to + n, (const unsigned char *)PTXI_SLOT(w, slots[k]) + (size_t)lane * width, element);
    }
    return n;
}

static RACY uint32_t bytes_in_memory(const struct access *a, unsigned char to[16])
{
    uint64_t at = a->address;

    if (a->owner) {
        if (at + a->size > a->owner->shared_bytes)
            return 0;
        memcpy(to, a->owner->shared + at, a->size);
        return a->size;
    }
    return (uint32_t)ptxi_access_read(a->w, a->t.lane, at, to, a->size);
}

/* The value that the earlier access has written, which is in memory. A CTA on another worker has checked its store, and
 * may be about to execute it: then the value `now` gets some time to appear. False: it is not known. */
static bool wait_for_value(const struct access *a, const struct ptxi_record *r, const unsigned char now[16],
                           unsigned char before[16])
{
    enum { SPINS = 1000, YIELDS = 20 }; /* on a busy host a yield takes milliseconds */
    const unsigned most = a->w->only_worker || r->agent == a->record.agent ? 0 : SPINS + YIELDS;

    for (unsigned n = 0;; n++) {
        if (bytes_in_memory(a, before) != a->size)
            return false;
        if (n == most || !memcmp(before, now, a->size))
            return true;
        if (n < SPINS)
            ptxi_pause_cpu();
        else
            sched_yield();
    }
}

/* Both values of a write after a write. False: they are not known. */
static bool find_values(const struct access *a, const struct ptxi_record *r, unsigned char before[16],
                        unsigned char now[16])
{
    unsigned own = a->w->index, half = a->t.warp % PTXI_WARP32S;
    bool together = r->agent == a->record.agent && r->clock == a->record.clock && r->meta == a->record.meta;

    assert(a->t.warp / PTXI_WARP32S == own);
    (void)own;
    if (a->value) {
        memcpy(now, a->value, a->size);
        return !together && wait_for_value(a, r, now, before); /* together: rows of the instruction differ */
    }
    if (stored_bytes(a->w, a->i, half * 32 + a->t.lane, now) != a->size)
        return false;
    /* lanes of one instruction: the memory has none of their values yet */
    if (together)
        return stored_bytes(a->w, a->i, half * 32 + (unsigned)__builtin_ctz(r->lanes & ~a->record.lanes), before) ==
               a->size;
    return wait_for_value(a, r, now, before);
}

/* --- reports --- */

/* What the finding says about an access that left the record. */
static struct ptxi_finding_site find_site(const struct ptxi_check *check, const struct ptxi_record *r, unsigned lane,
                                          bool write)
{
    uint32_t agent = ptxi_record_cta(r), n = agent - check->first_agent;
    uint32_t thread = ptxi_record_is_bulk(r) ? ptxi_record_thread(r) : ptxi_record_warp(r) * 32 + lane;
    struct ptxi_finding_site s = { .threads = 1 };
    struct ptxi_past_launch other;

    if (n < check->agent_count) {
        ptxi_index_of(check->grid->grid, n, s.ctaid);
        ptxi_grid_thread_index(check->grid, thread, s.tid);
    } else if (ptxi_concurrent_find(check->checker, agent, &other)) {
        s = ptxi_concurrent_site(&other, agent, thread);
    }
    s.access = ptxi_record_access(r, write);
    s.code = ptxi_place_find(ptxi_record_place(r), &s.at);
    return s;
}

static uint64_t key_of(const struct access *a, const struct ptxi_record *r, enum ptxi_finding_kind kind,
                       enum ptxi_finding_severity severity)
{
    return (uint64_t)ptxi_record_place(r) << 36 | (uint64_t)ptxi_record_place(&a->record) << 8 |
           (uint64_t)(kind << 2 | severity) << 1 | 1;
}

/* Where the CTA context notes that it has reported a race. */
static uint64_t *seen_at(struct ptxi_check_cta *k, uint64_t key)
{
    return &k->seen[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
}

/* Whether the CTA context has reported the race already. If not, it is about to do so. */
static bool is_known(struct ptxi_check_cta *k, uint64_t key)
{
    uint64_t *seen = seen_at(k, key);
    const bool known = *seen == key;

    *seen = key;
    return known;
}

static void set_value(struct ptxi_finding_site *s, const unsigned char *bytes)
{
    s->has_value = true;
    memcpy(&s->value, bytes, sizeof s->value);
}

/* The kind of a race with an earlier write or read. */
static enum ptxi_finding_kind kind_of(const struct access *a, bool r_writes)
{
    if (!r_writes)
        return PTXI_FINDING_RACE_WAR;
    return a->write ? PTXI_FINDING_RACE_WAW : PTXI_FINDING_RACE_RAW;
}

static void report(const struct access *a, const struct ptxi_record *r, bool r_writes,
                   enum ptxi_finding_severity severity)
{
    struct ptxi_check_cta *k = a->t.cta->check;
    unsigned char before[16] = { 0 }, now[16] = { 0 };
    bool has_values = false;
    uint32_t others = other_lanes(a, r);
    struct ptxi_finding f = { .kind = kind_of(a, r_writes), .severity = severity, .site_count = 2,
                              .space = a->owner ? PTXI_FINDING_SHARED : PTXI_FINDING_GLOBAL, .address = a->address,
                              .size = a->size };

    if (ptxi_record_is_async(r) && !ptxi_order_is_other(k, r->agent))
        f.detail = r_writes ? "the earlier write is asynchronous, and nothing has waited for it"
                            : "the earlier read is asynchronous, and nothing has waited for it";
    else if (severity != PTXI_FINDING_ERROR)
        f.detail = "only .volatile makes these accesses strong";
    else if (ptxi_order_is_other(k, r->agent))
        f.detail = "nothing orders the launches";
    if (f.kind == PTXI_FINDING_RACE_WAW && !ptxi_record_is_async(r)) {
        const uint64_t key = key_of(a, r, f.kind, severity);

        if (*seen_at(k, key) == key) /* with other values, so these do not matter */
            return;
        has_values = find_values(a, r, before, now);
        if (has_values && !memcmp(before, now, a->size))
            f.severity = PTXI_FINDING_BENIGN;
    }
    if (is_known(k, key_of(a, r, f.kind, f.severity)))
        return;
    f.sites[0] = find_site(k->check, &a->record, a->t.lane, a->write);
    f.sites[1] = find_site(k->check, r, others ? (unsigned)__builtin_ctz(others) : 0, r_writes);
    if (has_values) {
        set_value(&f.sites[0], now);
        set_value(&f.sites[1], before);
    }
    ptxi_findings_add(k->check->grid->findings, &f, k->check->grid->code->name, k->check->launch);
}

/* --- copies of other streams --- */

static void report_copy(const struct access *a, const struct ptxi_copied_rows *c)
{
    struct ptxi_check *check = a->t.cta->check->check;
    struct ptxi_finding f = { .kind = kind_of(a, c->write), .severity = PTXI_FINDING_ERROR, .site_count = 2,
                              .space = PTXI_FINDING_GLOBAL, .address = a->address, .size = a->size,
                              .detail = ptxi_copied_rows_detail(c) };

    f.sites[0] = find_site(check, &a->record, a->t.lane, a->write);
    f.sites[1] = (struct ptxi_finding_site){ .what = c->operation, .threads = 1,
                                             .access = c->write ? PTXI_AK_STORE : PTXI_AK_LOAD };
    ptxi_findings_add(check->grid->findings, &f, check->grid->code->name, check->launch);
}

static void check_copies_of(const struct access *a)
{
    const struct ptxi_check_cta *k = a->t.cta->check;

    for (unsigned n = 0; n < k->copy_count; n++) {
        const struct ptxi_copied_rows *c = &k->copies[n].rows;

        if ((a->write || c->write) && ptxi_copied_rows_overlap(c, a->address, a->size))
            report_copy(a, c);
    }
}

static void check_copies(struct access *a, const uint64_t *addresses, ptxi_lanes lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes);

        a->address = addresses[l];
        set_lane(a, l);
        check_copies_of(a);
    }
}

/* Whether there are copies that nothing orders with the launch. Called after the access is in its lines: a copy is
 * added to the list first, and then looks at the lines. If it did not find the access there, it is in the list now. */
static inline bool has_other_copies(struct ptxi_check_cta *k)
{
    const struct ptxi_checker *x = k->check->checker;

    if (__builtin_expect(atomic_load_explicit(&x->copies_changed, memory_order_relaxed) != k->copies_seen, 0))
        k->copy_count = ptxi_concurrent_copies(k->check, k->copies, &k->copies_seen);
    return __builtin_expect(k->copy_count, 0);
}

static __attribute__((noinline)) void check_copies_of_row(struct access *a, uint64_t address, bool same,
                                                          ptxi_lanes lanes)
{
    uint64_t addresses[PTXI_LANES];
    unsigned n = 0;

    for (ptxi_lanes left = lanes; left; left &= left - 1)
        addresses[ptxi_first_lane(left)] = address + (same ? 0 : n++ * (uint64_t)a->size);
    check_copies(a, addresses, lanes);
}

/* --- cells --- */

/* Whether shared memory still has the record of an earlier CTA. */
static inline bool is_stale(const struct access *a, const struct ptxi_record *r)
{
    return a->owner && r->agent != a->record.agent && !ptxi_order_in_cluster(a->t.cta, r->agent);
}

/* Two strong accesses of sufficient scope are no data race. If one of them is only volatile, the program may mean
 * nothing but that it is not optimised away. Then it is worth a warning, unless the other one says that it
 * synchronises: by .relaxed and stronger, or by a loop that only waits (ptxi_ir_mark_polling_loads). Lanes of a warp
 * that rely on volatile alone have always been common. Returns false if there is nothing to report. */
static bool judge_strong(const struct access *a, const struct ptxi_record *r, enum ptxi_finding_severity *severity)
{
    unsigned strength = ptxi_record_strength(r);
    bool is_volatile = strength == PTXI_CHECK_VOLATILE || a->strength == PTXI_CHECK_VOLATILE;

    *severity = is_own_warp(a, r) ? PTXI_FINDING_BENIGN : PTXI_FINDING_WARNING;
    return is_volatile && strength != PTXI_CHECK_STRONG && a->strength != PTXI_CHECK_STRONG;
}

/* Whether the record is of a reduction that an mbarrier completes: red.async, cp.reduce.async.bulk. */
static bool is_bulk_reduction(const struct ptxi_record *r)
{
    const struct ptxi_code *code;
    uint32_t at;

    if (!ptxi_record_is_bulk(r) || !(code = ptxi_place_find(ptxi_record_place(r), &at)))
        return false;
    return (code->insns[at].op == PTXI_OP_bulk_copy || code->insns[at].op == PTXI_OP_async_store) &&
           code->insns[at].mods >> PTXI_BULK_REDUCE;
}

/* Compares the access with an earlier one, of which at least one is a write. */
static inline void compare(const struct access *a, const struct ptxi_record *r, bool r_writes)
{
    uint32_t others = other_lanes(a, r);
    unsigned strength = ptxi_record_strength(r);
    enum ptxi_finding_severity severity = PTXI_FINDING_ERROR;

    if (!r->agent || (is_own_warp(a, r) && !others))
        return;
    if (strength && a->strength && ptxi_order_scopes_match(&a->t, a->scope, r) && !judge_strong(a, r, &severity))
        return;
    if (a->strength == PTXI_CHECK_ATOMIC && is_bulk_reduction(r)) /* atomic, though the record has no room for it */
        return;
    if (!is_stale(a, r) && !ptxi_order_is_before(&a->t, r, others, a->strength != PTXI_CHECK_WEAK) &&
        (r_writes || !ptxi_order_read_has_ended(&a->t, r)))
        report(a, r, r_writes, severity);
}

/* Whether the record happens before the access, or is the thread's own. */
static bool is_past(const struct access *a, const struct ptxi_record *r)
{
    uint32_t others = other_lanes(a, r);

    return !r->agent || (is_own_warp(a, r) && !others) || is_stale(a, r) ||
           ptxi_order_is_before(&a->t, r, others, false);
}

/* Whether the record may race with strong accesses that the access does not race with. */
static bool is_weaker(const struct access *a, const struct ptxi_record *r)
{
    return r->agent && !is_stale(a, r) && a->strength &&
           (!ptxi_record_strength(r) || ptxi_record_scope(r) < a->scope);
}

/* Whether the record may be forgotten when the access is recorded. */
static bool is_covered(const struct access *a, const struct ptxi_record *r)
{
    return !is_weaker(a, r) && is_past(a, r);
}

/* Whether both are as strong, or in the same way asynchronous. */
static bool is_as_strong(const struct ptxi_record *a, const struct ptxi_record *b)
{
    return a->meta >> PTXI_META_STRENGTH == b->meta >> PTXI_META_STRENGTH;
}

/* Whether one record can be of both accesses, which are of lanes of a warp. */
static bool can_join(const struct access *a, const struct ptxi_record *r)
{
    return is_own_warp(a, r) && !ptxi_record_is_bulk(&a->record) && is_as_strong(&a->record, r);
}

/* The record becomes one of both accesses. Its clock stays that of the earlier one. */
static void join(struct ptxi_record *r, const struct ptxi_record *n)
{
    r->lanes |= n->lanes;
    r->meta = n->meta;
}

/* What becomes of a record when an access is added to its list. The lowest one of the list is chosen. */
enum fate {
    JOINED,         /* it is one of the same instruction and warp */
    COVERED,
    PAST,           /* it happens before, and another one of the CTA, which is as weak, is later */
    JOINED_OTHER,   /* it is one of the same warp */
    LIKE_IT,        /* it is one of the CTA, and as strong */
    OF_CTA,
    OF_OTHER_CTA
};

/* Whether other CTAs that race with the record also race with the other one. */
static bool is_represented(const struct ptxi_record *r, const struct ptxi_record *other)
{
    bool as_weak = !ptxi_record_strength(other) || ptxi_record_strength(r);

    return other->agent == r->agent && other->clock >= r->clock && as_weak &&
           ptxi_record_scope(other) <= ptxi_record_scope(r);
}

static enum fate find_fate(const struct access *a, const struct ptxi_record *r, const struct ptxi_record *other)
{
    bool joins = can_join(a, r), past = is_past(a, r);

    if (joins && !past && r->meta == a->record.meta)
        return JOINED;
    if (past && !is_weaker(a, r))
        return COVERED;
    if (past && is_represented(r, other))
        return PAST;
    if (joins)
        return JOINED_OTHER;
    if (r->agent != a->record.agent)
        return OF_OTHER_CTA;
    return is_as_strong(&a->record, r) ? LIKE_IT : OF_CTA;
}

/* Adds a record to those of unordered accesses. */
static void insert(const struct access *a, struct ptxi_record list[PTXI_CELL_RECORDS])
{
    enum fate first = find_fate(a, &list[0], &list[1]), second = find_fate(a, &list[1], &list[0]);
    struct ptxi_record *r = &list[first < second || (first == second && first < OF_OTHER_CTA) ? 0 : 1];
    enum fate fate = first < second ? first : second;

    if (first == COVERED)
        list[0].agent = 0;
    if (second == COVERED)
        list[1].agent = 0;
    if (fate == JOINED || fate == JOINED_OTHER)
        join(r, &a->record);
    else
        *r = a->record;
}

/* An atomic operation observes the strong writes before it, so they happen before all that happens after it (PTX ISA,
 * "Causality Order"): its own record is enough. Thus the last block to increment a counter may reset it. */
static void forget_observed(const struct access *a, struct ptxi_record *writes)
{
    for (unsigned k = 0; k < PTXI_CELL_RECORDS; k++)
        if (ptxi_record_strength(&writes[k]) && !ptxi_record_is_async(&writes[k]) &&
            ptxi_order_scopes_match(&a->t, a->scope, &writes[k]))
            writes[k].agent = 0;
}

static inline void record_in_cell(const struct access *a, struct ptxi_cell *c)
{
    if (!a->write) {
        insert(a, c->reads);
        return;
    }
    if (a->strength == PTXI_CHECK_ATOMIC)
        forget_observed(a, c->writes);
    if (a->strength != PTXI_CHECK_WEAK) {
        insert(a, c->writes);
        for (unsigned k = 0; k < PTXI_CELL_RECORDS; k++)
            if (is_covered(a, &c->reads[k]))
                c->reads[k].agent = 0;
        return;
    }
    *c = (struct ptxi_cell){ .writes = { a->record } };
}

static inline void check_cell(const struct access *a, struct ptxi_cell *c)
{
    for (unsigned k = 0; k < PTXI_CELL_RECORDS; k++)
        compare(a, &c->writes[k], true);
    for (unsigned k = 0; a->write && k < PTXI_CELL_RECORDS; k++)
        compare(a, &c->reads[k], false);
    record_in_cell(a, c);
}

/* --- rows --- */

/* Neighbouring lanes of an instruction that access a row of elements in one line, as struct ptxi_access_row. */

static inline bool overlaps(const struct ptxi_access_row *a, const struct ptxi_access_row *b)
{
    return a->first < b->end && b->first < a->end;
}

static inline bool includes(const struct ptxi_access_row *a, const struct ptxi_access_row *b)
{
    return a->first <= b->first && a->end >= b->end;
}

static inline bool is_same_warp(const struct ptxi_access_row *a, const struct ptxi_access_row *b)
{
    return a->record.agent == b->record.agent && ptxi_record_warp(&a->record) == ptxi_record_warp(&b->record) &&
           ptxi_record_is_async(&a->record) == ptxi_record_is_async(&b->record) &&
           !ptxi_record_is_bulk(&a->record) && !ptxi_record_is_bulk(&b->record);
}

/* Whether each word that both have is of the same single thread. */
static inline bool has_same_threads(const struct ptxi_access_row *a, const struct ptxi_access_row *b)
{
    if (!is_same_warp(a, b) || ptxi_record_is_async(&a->record) || ptxi_record_is_async(&b->record))
        return false;
    if (a->shape == PTXI_ROW_SAME && b->shape == PTXI_ROW_SAME)
        return a->record.lanes == b->record.lanes && !(a->record.lanes & (a->record.lanes - 1));
    return a->shape == b->shape && a->shape < PTXI_ROW_SAME && !((a->first ^ b->first) & ((1 << a->shape) - 1)) &&
           a->lane - (a->first >> a->shape) == b->lane - (b->first >> b->shape);
}

/* Whether the earlier row needs no comparison with the bytes of the later one. */
static inline bool is_harmless(const struct access *a, const struct ptxi_access_row *n, const struct ptxi_access_row *r)
{
    return !overlaps(n, r) || ptxi_order_is_before_warp(a->t.cta, a->t.warp, &r->record) || has_same_threads(n, r);
}

static bool add_write(const struct access *a, struct ptxi_line_more *l, const struct ptxi_access_row *n)
{
    struct ptxi_access_row *at = NULL;

    for (unsigned k = 0; k < PTXI_READ_ROWS; k++)
        if (!is_harmless(a, n, &l->reads[k]))
            return false;
    for (unsigned k = 0; k < PTXI_WRITE_ROWS; k++) {
        if (!is_harmless(a, n, &l->writes[k]))
            return false;
        if (!l->writes[k].end || includes(n, &l->writes[k]))
            at = at ? at : &l->writes[k];
        else if (overlaps(n, &l->writes[k]))
            return false; /* a part of the row would be replaced */
    }
    if (!at)
        return false;
    for (unsigned k = 0; k < PTXI_WRITE_ROWS; k++)
        if (includes(n, &l->writes[k]))
            l->writes[k].end = 0;
    for (unsigned k = 0; k < PTXI_READ_ROWS; k++)
        if (includes(n, &l->reads[k]))
            l->reads[k].end = 0;
    *at = *n;
    return true;
}

/* Extends a row of reads by words that the same lanes have read at the same time. */
static bool extend(struct ptxi_access_row *r, const struct ptxi_access_row *n)
{
    if (!is_same_warp(r, n) || r->record.clock != n->record.clock || n->first > r->end || n->end < r->first)
        return false;
    if (r->shape != PTXI_ROW_SAME || n->shape != PTXI_ROW_SAME || r->record.lanes != n->record.lanes) {
        if (!has_same_threads(r, n) || n->first < r->first)
            return false;
        r->record.lanes |= n->record.lanes;
    }
    r->first = n->first < r->first ? n->first : r->first;
    r->end = n->end > r->end ? n->end : r->end;
    return true;
}

static void add_readers(uint32_t *readers, const struct ptxi_access_row *n)
{
    for (unsigned byte = n->first; byte < n->end; byte++)
        readers[byte] |= ptxi_access_row_lanes(n, byte);
}

static bool has_readers(const struct ptxi_line_more *l)
{
    for (unsigned k = 0; k < PTXI_READ_ROWS; k++)
        if (l->reads[k].end && l->reads[k].shape == PTXI_ROW_ANY && l->reads[k].lane)
            return true;
    return false;
}

/* Adds the reads of a row to another one of the warp, so that lanes and bytes are no row any more. The clock stays that
 * of the earlier one. A line has room for the readers of one such row. */
static void blur(const struct access *a, struct ptxi_line_more *l, struct ptxi_access_row *r,
                 const struct ptxi_access_row *n)
{
    if (r->shape != PTXI_ROW_ANY) {
        uint32_t *readers = has_readers(l) ? NULL : ptxi_line_readers(a->t.cta->check->check->checker, l);

        if (readers)
            add_readers(readers, r);
        r->shape = PTXI_ROW_ANY;
        r->lane = readers != NULL;
    }
    if (r->lane)
        add_readers(l->readers, n);
    r->record.lanes |= n->record.lanes;
    r->first = n->first < r->first ? n->first : r->first;
    r->end = n->end > r->end ? n->end : r->end;
}

/* Whether blur() may merge the rows. */
static bool can_blur(const struct access *a, const struct ptxi_access_row *r, const struct ptxi_access_row *n)
{
    return is_same_warp(r, n) && !ptxi_order_is_before_warp(a->t.cta, a->t.warp, &r->record) && n->first <= r->end &&
           n->end >= r->first;
}

/* Adds words that lanes of the warp have read at the same time as those of the row. */
static bool add_to_row(const struct access *a, struct ptxi_line_more *l, struct ptxi_access_row *r,
                       const struct ptxi_access_row *n)
{
    if (r->shape != PTXI_ROW_ANY)
        return extend(r, n);
    if (r->record.clock != n->record.clock || !can_blur(a, r, n))
        return false;
    blur(a, l, r, n);
    return true;
}

/* Whether the earlier row needs not be kept beside a later one. */
static bool is_replaced(const struct access *a, const struct ptxi_access_row *n, const struct ptxi_access_row *r)
{
    return !r->end ||
           (includes(n, r) && (ptxi_order_is_before_warp(a->t.cta, a->t.warp, &r->record) || has_same_threads(n, r)));
}

/* Whether a row happens before the access, by its first lane. If there was no event since, it does not. */
static bool is_past_row(const struct access *a, const struct ptxi_access_row *r)
{
    const uint32_t first = r->record.lanes & -r->record.lanes;

    return r->record.clock != a->record.clock &&
           (ptxi_order_is_before_warp(a->t.cta, a->t.warp, &r->record) ||
            ptxi_order_is_before(&a->t, &r->record, first, false));
}

/* Whether rows of two warps already include the bytes. Two witnesses are enough. */
static bool is_witnessed(const struct access *a, const struct ptxi_access_row *r, const struct ptxi_access_row *n)
{
    const struct ptxi_access_row *first = NULL;

    for (unsigned k = 0; k < PTXI_READ_ROWS; k++) {
        if (!includes(&r[k], n) || is_past_row(a, &r[k]))
            continue;
        if (first && !is_same_warp(first, &r[k]))
            return true;
        first = first ? first : &r[k];
    }
    return false;
}

/* Replaces a row whose words another row and the new one include, both of other warps, or merges it with one of its
 * warp. */
static bool replace_row(const struct access *a, struct ptxi_line_more *l, const struct ptxi_access_row *n)
{
    struct ptxi_access_row *r = l->reads;

    for (unsigned k = 0; k < PTXI_READ_ROWS; k++)
        for (unsigned other = 0; other < PTXI_READ_ROWS; other++) {
            if (other == k || !includes(&r[other], &r[k]))
                continue;
            if (is_same_warp(&r[other], &r[k])) {
                if (has_same_threads(&r[other], &r[k]))
                    r[other].record.lanes |= r[k].record.lanes;
                else
                    blur(a, l, &r[other], &r[k]);
            } else if (!includes(n, &r[k]) || is_same_warp(&r[other], n)) {
                continue;
            }
            r[k] = *n;
            return true;
        }
    return false;
}

static bool add_read(const struct access *a, struct ptxi_line_more *l, const struct ptxi_access_row *n)
{
    struct ptxi_access_row *r = l->reads;

    for (unsigned k = 0; k < PTXI_WRITE_ROWS; k++)
        if (!is_harmless(a, n, &l->writes[k]))
            return false;
    if (is_witnessed(a, r, n))
        return true;
    for (unsigned k = 0; k < PTXI_READ_ROWS; k++)
        if (r[k].end && add_to_row(a, l, &r[k], n))
            return true;
    for (unsigned k = 0; k < PTXI_READ_ROWS; k++)
        if (is_replaced(a, n, &r[k])) {
            r[k] = *n;
            return true;
        }
    for (unsigned k = 0; k < PTXI_READ_ROWS; k++)
        if (can_blur(a, &r[k], n)) {
            blur(a, l, &r[k], n);
            return true;
        }
    return replace_row(a, l, n);
}

/* A row for a line without one, or one that replaces or extends the line's row. */
static bool add_only_row(const struct access *a, struct ptxi_line *l, const struct ptxi_access_row *n)
{
    switch (l->form) {
    case PTXI_LINE_EMPTY:
        break;
    case PTXI_LINE_READ:
        if (!a->write && extend(&l->row, n))
            return true;
        if (!is_replaced(a, n, &l->row))
            return false;
        break;
    case PTXI_LINE_WRITTEN:
        if (!a->write || !is_replaced(a, n, &l->row))
            return false;
        break;
    default:
        return false;
    }
    l->row = *n;
    l->form = a->write ? PTXI_LINE_WRITTEN : PTXI_LINE_READ;
    return true;
}

static bool add_row(const struct access *a, struct ptxi_line *l, const struct ptxi_access_row *n)
{
    struct ptxi_line_more *more;

    if (l->form == PTXI_LINE_CELLS)
        return false;
    if (add_only_row(a, l, n))
        return true;
    more = ptxi_line_rows(a->t.cta->check->check->checker, l);
    return more && (a->write ? add_write(a, more, n) : add_read(a, more, n));
}

/* --- lines --- */

/* Where the page may be. Loops often go through memory in steps of a power of two, so the number is hashed. */
static inline struct ptxi_cached_page *cached_page(struct ptxi_check_cta *k, uint64_t number)
{
    return &k->pages[(number * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PTXI_PAGE_CACHE_BITS)];
}

static inline struct ptxi_line *line_of_page(struct ptxi_shadow_page *p, uint64_t address)
{
    return &p->lines[address >> PTXI_LINE_SHIFT & (PTXI_PAGE_LINES - 1)];
}

static struct ptxi_line *find_global(struct ptxi_check_cta *k, uint64_t address)
{
    const uint64_t number = address >> PTXI_PAGE_SHIFT;
    struct ptxi_cached_page *cached = cached_page(k, number);

    if (!cached->page || cached->number != number) {
        struct ptxi_shadow_page *p = ptxi_shadow_page(k->check->checker, number);

        if (!p)
            return NULL;
        *cached = (struct ptxi_cached_page){ number, p };
    }
    return line_of_page(cached->page, address);
}

/* Prefetches the line of what the instruction after the check loads some rounds later (ptxi_prefetch_rounds()). */
static inline void prefetch_line(const struct ptxi_warp *w, const struct ptxi_insn *check, uint64_t address)
{
    enum { AHEAD = 8 };
    const uint64_t later = address + AHEAD * ptxi_access_hit(w, check + 1)->step, number = later >> PTXI_PAGE_SHIFT;
    const struct ptxi_cached_page *cached = cached_page(w->cta->check, number);

    if (cached->page && cached->number == number)
        __builtin_prefetch(line_of_page(cached->page, later));
}

static struct ptxi_line *find_line(const struct access *a, uint64_t address)
{
    uint64_t n = address >> PTXI_LINE_SHIFT;

    if (!a->owner)
        return find_global(a->t.cta->check, address);
    return n < a->owner->check->shared_lines ? &a->owner->check->shared[n].line : NULL;
}

/* The operand of an instruction that has 32 or 64 bits. */
static uint64_t operand(const struct access *a, unsigned slot)
{
    unsigned l = a->t.warp % PTXI_WARP32S * 32 + a->t.lane;

    return a->size == 8 ? ((const uint64_t *)PTXI_SLOT(a->w, slot))[l] : ((const uint32_t *)PTXI_SLOT(a->w, slot))[l];
}

static uint64_t lock_address(const struct access *a, uint64_t address)
{
    return a->owner ? address | PTXI_SHARED_WINDOW : address;
}

/* Whether the write opens the lock that the thread has taken. */
static bool is_unlock(const struct access *a, uint64_t address)
{
    const struct ptxi_check_warp *w = &a->t.cta->check->warps[a->t.warp];
    const struct ptxi_insn *i = ptxi_race_checked(a->i);

    if (!w->lanes || w->lanes[a->t.lane].lock.address != lock_address(a, address) || (a->size != 4 && a->size != 8) ||
        i->b == PTXI_NO_SLOT)
        return false;
    return operand(a, i->b) == w->lanes[a->t.lane].lock.open;
}

static void note_touched(const struct access *a, uint32_t lanes)
{
    if (a->t.cta->check->any_lanes)
        ptxi_order_touch(&a->t.cta->check->warps[a->t.warp], lanes);
}

/* Notes a compare-and-swap, and accesses after one. */
static void note_locks(const struct access *a)
{
    struct ptxi_check_warp *w = &a->t.cta->check->warps[a->t.warp];
    const struct ptxi_insn *i = ptxi_race_checked(a->i);

    if (ptxi_race_may_lock(a->i)) {
        ptxi_order_take_lock(&a->t, lock_address(a, a->address), operand(a, i->b));
        return;
    }
    if (w->lanes && w->lanes[a->t.lane].lock.address == lock_address(a, a->address))
        return;
    note_touched(a, a->record.lanes);
}

/* Whether a record is of an asynchronous copy that may not have ended. */
static bool is_running(void *user, const struct ptxi_record *r, bool write, unsigned offset, unsigned size)
{
    const struct ptxi_check_thread *t = user;

    (void)write, (void)offset, (void)size;
    return ptxi_record_is_async(r) && !ptxi_order_async_has_ended(t->cta->check, t->warp, r);
}

/* Forgets what cannot race any more: accesses of other launches. */
static inline void refresh_global(const struct access *a, struct ptxi_line *l)
{
    const struct ptxi_check_cta *k = a->t.cta->check;
    const uint32_t agent = l->row.record.agent;

    if (k->check->follows_all && agent < k->check->ordered_below)
        ptxi_line_forget(l);
    else if (__builtin_expect(ptxi_order_is_other(k, agent), 0))
        ptxi_concurrent_filter(k->check, &a->t.cta->check->other, l);
    if (l->form == PTXI_LINE_EMPTY || l->form >= PTXI_LINE_ROWS)
        l->row.record.agent = a->record.agent;
}

/* The same for shared memory: accesses before a barrier of all its threads, or of an earlier CTA. */
static inline void refresh_shared(const struct access *a, struct ptxi_shared_line *s)
{
    const struct ptxi_check_cta *k = a->t.cta->check, *owner = a->owner->check;
    struct ptxi_line *l = &s->line;

    if (s->agent != owner->agent) {
        ptxi_line_clear(k->check->checker, l);
        ptxi_line_forget(l);
        s->has_async = false;
    } else if (s->clock < (a->t.cta->lead->member_count > 1 ? k->cluster_clock : k->cta_clock)) {
        if (s->has_async) /* after a barrier, only copies that have not ended can race */
            ptxi_line_filter(l, is_running, &(struct ptxi_check_thread){ a->t.cta, a->t.warp, a->t.lane });
        else
            ptxi_line_forget(l);
        s->has_async &= l->form != PTXI_LINE_EMPTY;
    }
    s->has_async |= ptxi_record_is_async(&a->record);
    s->agent = owner->agent;
    s->clock = a->record.clock;
}

static inline void refresh(const struct access *a, struct ptxi_line *l)
{
    if (a->owner)
        refresh_shared(a, ptxi_line_of_shared(l));
    else
        refresh_global(a, l);
}

/* All CTAs of a cluster are on one worker, so shared memory needs no locks. */
static inline void lock_line(const struct access *a, struct ptxi_line *l)
{
    if (!a->owner)
        ptxi_line_lock(l);
}

static inline void unlock_line(const struct access *a, struct ptxi_line *l)
{
    if (!a->owner)
        ptxi_line_unlock(l);
}

/* Checks `size` bytes of the access, which are in one line. False: memory is short. */
static bool check_in_line(const struct access *a, uint64_t address, uint32_t size)
{
    struct ptxi_line *l = find_line(a, address);
    uint32_t offset = address & (PTXI_LINE_BYTES - 1);
    struct ptxi_cell *cells;

    if (!l)
        return false;
    lock_line(a, l);
    refresh(a, l);
    cells = ptxi_line_cells(a->t.cta->check->check->checker, l, offset, size);
    for (uint32_t c = offset >> l->cell_shift, end = (offset + size - 1) >> l->cell_shift; cells && c <= end; c++)
        check_cell(a, &cells[c]);
    if (a->strength && a->write)
        ptxi_order_release(&a->t, l, lock_address(a, address), a->scope, a->strength == PTXI_CHECK_ATOMIC,
                           is_unlock(a, address));
    unlock_line(a, l);
    return cells;
}

/* A row of an instruction, which may be in several lines. */
struct segment {
    unsigned lane, end;  /* lanes of a warp of 32 */
    bool same;           /* they all access the same words */
    uint64_t address;    /* of the first lane */
};

/* The part of a row that is in one line. */
struct part {
    uint32_t lanes;
    unsigned first, end, lane, shape; /* of struct ptxi_access_row */
};

/* The first access of the launch to a line of global memory, which is locked, if all launches before it happen before
 * it: nothing has to be compared. It writes fields one by one from registers. A copy of a structure with bytes would be
 * loaded in words, which has to wait until all earlier stores, those of the kernel among them, are in the cache. */
static inline bool start_line(const struct access *a, struct ptxi_line *l, struct part p)
{
    const struct ptxi_check_cta *k = a->t.cta->check;

    if (l->form != PTXI_LINE_EMPTY && !(k->check->follows_all && l->row.record.agent < k->check->ordered_below))
        return false;
    l->row.record.agent = k->agent;
    l->row.record.clock = *ptxi_order_clock(a->t.cta);
    l->row.record.lanes = p.lanes;
    l->row.record.meta = a->record.meta;
    l->row.first = (uint8_t)p.first;
    l->row.end = (uint8_t)p.end;
    l->row.lane = (uint8_t)p.lane;
    l->row.shape = (uint8_t)p.shape;
    l->form = a->write ? PTXI_LINE_WRITTEN : PTXI_LINE_READ;
    return true;
}

/* Checks a part of a weak access and adds it to the line, which is locked. False: it needs cells. */
static __attribute__((noinline)) bool add_part(const struct access *a, struct ptxi_line *l, struct part p)
{
    struct ptxi_access_row n = { .record = a->record, .first = (uint8_t)p.first, .end = (uint8_t)p.end,
                                 .lane = (uint8_t)p.lane, .shape = (uint8_t)p.shape };

    n.record.lanes = p.lanes;
    refresh(a, l);
    return add_row(a, l, &n);
}

/* Fetches the line of what the next warps access, if they follow this one in memory. */
static inline void prefetch_neighbour(const struct ptxi_line *l)
{
    enum { AHEAD = 32 };

    __builtin_prefetch((const void *)((uintptr_t)l + AHEAD * sizeof *l), 1);
}

/* The same for ordinary accesses, of which most are the first ones to their lines. */
static inline bool check_part(const struct access *a, struct ptxi_line *l, struct part p)
{
    bool done;

    if (!a->owner)
        prefetch_neighbour(l);
    lock_line(a, l);
    done = (!a->owner && start_line(a, l, p)) || add_part(a, l, p);
    unlock_line(a, l);
    return done;
}

static uint32_t lanes_between(unsigned first, unsigned end)
{
    return (uint32_t)(((UINT64_C(1) << (end - first)) - 1) << first);
}

static bool check_lane(const struct access *a);

static bool check_lanes_one_by_one(struct access *a, const struct segment *s, unsigned lane, unsigned end)
{
    unsigned warp = a->t.warp;
    bool all = true;

    for (; lane < end; lane++) {
        a->address = s->same ? s->address : s->address + (lane - s->lane) * a->size;
        set_lane(a, warp % PTXI_WARP32S * 32 + lane);
        all &= check_lane(a);
    }
    return all;
}

/* False: memory is short. */
static bool check_segment(struct access *a, const struct segment *s)
{
    unsigned shift = (unsigned)__builtin_ctz(a->size), lane = s->lane;
    bool all = true;

    while (lane < s->end) {
        uint64_t address = s->same ? s->address : s->address + ((uint64_t)(lane - s->lane) << shift);
        unsigned offset = address & (PTXI_LINE_BYTES - 1), fit = (PTXI_LINE_BYTES - offset) >> shift;
        unsigned end = s->same || s->end - lane <= fit ? s->end : lane + fit;
        struct part p = { .lanes = lanes_between(lane, end), .first = offset, .lane = lane,
                          .shape = s->same ? PTXI_ROW_SAME : shift };
        struct ptxi_line *l = find_line(a, address);

        p.end = p.first + ((s->same ? 1 : end - lane) << shift);
        if (!l)
            all = false;
        else if ((a->write && s->same && end - lane > 1) || !check_part(a, l, p))
            all &= check_lanes_one_by_one(a, s, lane, end);
        lane = end;
    }
    return all;
}

static bool check_lane(const struct access *a)
{
    uint32_t first = PTXI_LINE_BYTES - (uint32_t)(a->address & (PTXI_LINE_BYTES - 1));

    if (a->size <= first)
        return check_in_line(a, a->address, a->size);
    if (!check_in_line(a, a->address, first))
        return false;
    return check_in_line(a, a->address + first, a->size - first);
}

/* Sets the memory of a shared address. False: there is no such memory. */
static bool find_shared(struct access *a, uint64_t address)
{
    a->owner = ptxi_cta_of_shared(a->t.cta, &address);
    a->address = address;
    return a->owner;
}

static inline __attribute__((always_inline)) struct access begin(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct access a = { .t = { .cta = w->cta }, .w = w, .i = i, .size = i->mods & PTXI_CHECK_BYTES,
                        .strength = i->mods >> PTXI_CHECK_STRENGTH_SHIFT & 3,
                        .scope = i->mods >> PTXI_CHECK_SCOPE_SHIFT & 3, .write = i->mods & PTXI_CHECK_WRITE };

    a.record.agent = w->cta->check->agent;
    a.record.clock = *ptxi_order_clock(w->cta);
    a.record.meta = ptxi_race_meta(i);
    return a;
}

/* The row that begins at a lane: the following lanes, as long as their addresses are neighbours or the same. */
static struct segment find_segment(const struct access *a, const uint64_t *addresses, ptxi_lanes lanes, unsigned l)
{
    unsigned last = l | 31, end = l + 1;
    struct segment s = { .lane = l % 32, .address = a->address };
    uint64_t step;

    if (end <= last && lanes >> end & 1 && addresses[end] == addresses[l])
        s.same = true;
    step = s.same ? 0 : a->size;
    while (end <= last && lanes >> end & 1 && addresses[end] == addresses[end - 1] + step)
        end++;
    s.end = (end - 1) % 32 + 1;
    return s;
}

/* Whether the elements of the access may be rows. */
static bool has_rows(const struct access *a, uint64_t address)
{
    return !a->strength && !(a->size & (a->size - 1)) && !(address & (a->size - 1));
}

/* Notes strong accesses to memory that the host may access, too. */
static void note_host(const struct access *a)
{
    struct ptxi_check *check = a->t.cta->check->check;

    if (!ptxi_object_is_of_host(a->w, a->address))
        return;
    if (a->strength == PTXI_CHECK_ATOMIC || !a->write)
        ptxi_concurrent_acquire_from_host(check);
    if (a->write)
        ptxi_concurrent_release_to_host(check);
}

/* A volatile write that opens the lock of the thread is meant as such. */
static bool check_volatile_unlock(struct access *a)
{
    const struct access was = *a;
    bool all;

    a->strength = PTXI_CHECK_STRONG;
    a->record.meta += (PTXI_CHECK_STRONG - PTXI_CHECK_VOLATILE) << PTXI_META_STRENGTH;
    all = check_lane(a);
    *a = was;
    return all;
}

static bool check_strong(struct access *a, uint64_t address)
{
    unsigned lane = a->t.lane;
    bool unlocks = a->strength == PTXI_CHECK_VOLATILE && a->write && is_unlock(a, a->address);
    bool all = unlocks ? check_volatile_unlock(a) : check_lane(a);

    if (a->strength == PTXI_CHECK_ATOMIC || !a->write)
        a->t.cta->check->warps[a->t.warp].acquiring[lane] = a->owner ? address | PTXI_SHARED_WINDOW : address;
    if (a->strength && a->scope == PTXI_SCOPE_SYS && !a->owner)
        note_host(a);
    if (a->strength)
        note_locks(a);
    else
        note_touched(a, a->record.lanes);
    return all;
}

/* --- the log of accesses to shared memory (shared_words.h) --- */

static void replay_lane(const struct access *a)
{
    struct ptxi_line *l = find_line(a, a->address);
    uint32_t offset = a->address & (PTXI_LINE_BYTES - 1);
    struct ptxi_cell *cells;

    if (!l)
        return;
    refresh(a, l);
    cells = ptxi_line_cells(a->t.cta->check->check->checker, l, offset, a->size);
    for (uint32_t c = offset >> l->cell_shift, end = (offset + a->size - 1) >> l->cell_shift; cells && c <= end; c++)
        record_in_cell(a, &cells[c]);
}

static void replay(struct ptxi_cta *cta, const struct ptxi_word_access *e)
{
    struct access a = { .t = { .cta = cta }, .owner = cta, .size = e->size, .write = e->write,
                        .record = { cta->check->agent, e->clock, 0, e->meta } };
    unsigned n = 0;

    a.strength = ptxi_record_strength(&a.record);
    a.scope = ptxi_record_scope(&a.record);
    a.t.warp = ptxi_record_warp(&a.record);
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        a.t.lane = (unsigned)__builtin_ctz(left);
        a.record.lanes = UINT32_C(1) << a.t.lane;
        a.address = e->row ? e->addresses[0] + a.t.lane * e->size : e->addresses[n++];
        replay_lane(&a);
    }
}

/* From now on to the next barrier, lines have all accesses. */
static void be_exact(struct ptxi_cta *cta)
{
    struct ptxi_check_cta *k = cta->check;
    const struct ptxi_word_access *e;
    uint32_t at = 0;

    while (k->words.epoch == k->cta_clock && (e = ptxi_shared_words_next(&k->words, &at)))
        replay(cta, e);
    k->words.log_size = 0;
    k->words.exact = k->cta_clock;
}

void ptxi_race_check(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *addresses, ptxi_lanes shared,
                     ptxi_lanes lanes)
{
    struct access a = begin(w, i);
    ptxi_lanes global = lanes & ~shared;
    bool all = true;

    if (shared & lanes)
        be_exact(w->cta);
    while (lanes) {
        unsigned l = ptxi_first_lane(lanes);
        struct segment s;

        set_lane(&a, l);
        a.owner = NULL;
        a.address = addresses[l];
        if (shared >> l & 1 && !find_shared(&a, addresses[l])) {
            lanes &= lanes - 1;
            continue;
        }
        if (a.owner && a.owner != w->cta)
            ptxi_cluster_note(&a.t, a.owner, &a.record, a.write);
        if (!has_rows(&a, a.address)) {
            all &= check_strong(&a, addresses[l]);
            lanes &= lanes - 1;
            continue;
        }
        s = find_segment(&a, addresses, lanes, l);
        note_touched(&a, lanes_between(s.lane, s.end));
        all &= check_segment(&a, &s);
        lanes &= ~((ptxi_lanes)lanes_between(s.lane, s.end) << (l & ~31u));
    }
    if (has_other_copies(w->cta->check))
        check_copies(&a, addresses, global);
    w->cta->check->accesses++;
    w->cta->check->unchecked += !all;
}

bool ptxi_race_check_row(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t address, bool same, ptxi_lanes lanes)
{
    struct access a = begin(w, i);
    uint64_t first = address;
    bool all = true;

    if (!has_rows(&a, address))
        return false;
    prefetch_line(w, i, address);
    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        uint32_t these = (uint32_t)(lanes >> (32 * half));
        unsigned lane = these ? (unsigned)__builtin_ctz(these) : 0;
        struct segment s = { lane, lane + (unsigned)__builtin_popcount(these), same, address };

        if (!these)
            continue;
        set_lane(&a, half * 32 + lane);
        a.address = address;
        note_touched(&a, these);
        all &= check_segment(&a, &s);
        address += same ? 0 : (s.end - s.lane) * a.size;
    }
    if (has_other_copies(w->cta->check))
        check_copies_of_row(&a, first, same, lanes);
    w->cta->check->accesses++;
    w->cta->check->unchecked += !all;
    return true;
}

void ptxi_race_acquire(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes)
{
    struct access a = begin(w, i);

    for (; lanes; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes);
        uint64_t address = w->cta->check->warps[w->index * PTXI_WARP32S + l / 32].acquiring[l % 32];
        struct ptxi_line *line;

        set_lane(&a, l);
        a.owner = NULL;
        a.address = address;
        if (address & PTXI_SHARED_WINDOW && !find_shared(&a, address & ~PTXI_SHARED_WINDOW))
            continue;
        line = find_line(&a, a.address);
        if (!line)
            continue;
        lock_line(&a, line);
        ptxi_order_acquire(&a.t, line, lock_address(&a, a.address), a.scope);
        unlock_line(&a, line);
    }
}

/* --- other instructions --- */

/* Adds the part of an access of a thread that is in one line as a row. */
static bool touch_row(const struct access *a, struct ptxi_line *l, unsigned offset, uint32_t size)
{
    bool done;

    lock_line(a, l);
    done = add_part(a, l, (struct part){ .lanes = a->record.lanes, .first = offset, .end = offset + size,
                                         .lane = a->t.lane, .shape = PTXI_ROW_SAME });
    unlock_line(a, l);
    return done;
}

static bool touch_line(const struct access *a, uint64_t address, uint32_t size)
{
    unsigned offset = address & (PTXI_LINE_BYTES - 1);
    struct ptxi_line *l = find_line(a, address);

    if (!l)
        return false;
    return (!a->strength && touch_row(a, l, offset, size)) || check_in_line(a, address, size);
}

/* Checks all bytes of an access that may be in several lines. */
static void touch(const struct access *a)
{
    bool all = true;

    for (uint64_t at = a->address, end = at + a->size; at < end;) {
        uint64_t next = (at | (PTXI_LINE_BYTES - 1)) + 1;

        all &= touch_line(a, at, (uint32_t)((next < end ? next : end) - at));
        at = next;
    }
    if (!a->owner && has_other_copies(a->t.cta->check))
        check_copies_of(a);
    a->t.cta->check->unchecked += !all;
}

uint32_t ptxi_race_place(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const struct ptxi_code *code = w->frame->code;
    uint32_t place = code->first_place ? code->first_place + (uint32_t)(i - code->insns) : PTXI_PLACE_UNKNOWN;

    return place < PTXI_PLACE_UNKNOWN ? place : PTXI_PLACE_UNKNOWN;
}

void ptxi_race_touch(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address, uint32_t size,
                     unsigned how, const void *value)
{
    struct ptxi_check_cta *k = w->cta->check;
    struct access a = { .t = { .cta = w->cta }, .w = w, .i = i, .size = size, .write = how & PTXI_TOUCH_WRITE,
                        .address = address, .value = value };

    if (!(w->cta->grid->tools >> PTXI_TOOL_RACE & 1) || (how & PTXI_TOUCH_SHARED && !find_shared(&a, address)))
        return;
    if (a.owner)
        be_exact(a.owner);
    k->has_async |= how & PTXI_TOUCH_ASYNC;
    a.record.agent = k->agent;
    a.record.clock = *ptxi_order_clock(w->cta);
    a.record.meta = ptxi_race_place(w, i) | (how & PTXI_TOUCH_ASYNC ? PTXI_META_ASYNC : 0);
    if (how & PTXI_TOUCH_ATOMIC) {
        a.strength = PTXI_CHECK_ATOMIC, a.scope = PTXI_SCOPE_GPU;
        a.record.meta |= PTXI_CHECK_ATOMIC << PTXI_META_STRENGTH | (uint32_t)PTXI_SCOPE_GPU << PTXI_META_SCOPE;
    }
    set_lane(&a, lane);
    touch(&a);
    if (a.owner && a.write)
        ptxi_proxy_note_write(&a.t, a.owner, (uint32_t)a.address, size, a.record.meta);
}

/* --- bulk operations --- */

/* The record of an operation that is only complete when an mbarrier or a wait says so. */
static struct ptxi_record bulk_record(const struct access *a, const struct ptxi_bulk_touch *b)
{
    const struct ptxi_check_cta *k = a->t.cta->check;
    struct ptxi_record r = { .agent = b->owner ? b->owner->check->agent : k->agent,
                             .clock = *ptxi_order_clock(a->t.cta) };
    unsigned number = b->owner ? ptxi_check_mbarrier_tracks_bulk(b->owner, b->mbarrier) :
                                 ptxi_order_bulk_of_warp(a->t.warp, b->write);

    r.lanes = (a->t.warp * 32 + a->t.lane) | (k->agent - r.agent) << PTXI_BULK_CTA_SHIFT;
    r.meta = ptxi_race_place(a->w, a->i) | number << PTXI_META_WARP | PTXI_META_BULK;
    return r;
}

void ptxi_race_touch_operand(const struct ptxi_operand_touch *r, uint32_t offset, uint32_t size)
{
    struct ptxi_warp *w = r->w;
    struct ptxi_check_cta *k = w->cta->check;
    struct access a = { .t = { w->cta, w->index * PTXI_WARP32S + r->lane / 32, r->lane % 32 }, .w = w, .i = r->i,
                        .size = size, .address = offset, .owner = r->shared };
    unsigned number = r->shared ? ptxi_order_bulk_of_warp(a.t.warp, false) : ptxi_order_bulk_of_warpgroup(a.t.warp);

    if (!(w->cta->grid->tools >> PTXI_TOOL_RACE & 1) || (!r->shared && !find_shared(&a, offset + w->shared_at)))
        return;
    be_exact(a.owner);
    a.owner->check->has_async = k->has_async = true;
    ptxi_proxy_check(&a.t, a.owner, (uint32_t)a.address, size, PTXI_AK_LOAD, ptxi_race_place(w, r->i), false);
    a.record = (struct ptxi_record){ k->agent, *ptxi_order_clock(w->cta), a.t.warp * 32 + a.t.lane,
                                     ptxi_race_place(w, r->i) | PTXI_META_BULK | number << PTXI_META_WARP };
    touch(&a);
}

void ptxi_race_touch_bulk(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                          const struct ptxi_bulk_touch *b)
{
    struct ptxi_check_cta *k = w->cta->check;
    struct access a = { .t = { w->cta, w->index * PTXI_WARP32S + lane / 32, lane % 32 }, .w = w, .i = i,
                        .write = b->write, .size = b->size, .address = b->address, .owner = b->shared };

    if (!(w->cta->grid->tools >> PTXI_TOOL_RACE & 1) || !b->size)
        return;
    if (a.owner) {
        be_exact(a.owner);
        a.owner->check->has_async = true;
        ptxi_proxy_check(&a.t, a.owner, (uint32_t)b->address, b->size, b->write ? PTXI_AK_STORE : PTXI_AK_LOAD,
                         ptxi_race_place(w, i), true);
    }
    k->has_async |= a.owner != NULL;
    ++*ptxi_order_clock(w->cta); /* later than what has ended before */
    a.record = bulk_record(&a, b);
    if (b->reduces)
        a.strength = PTXI_CHECK_ATOMIC, a.scope = PTXI_SCOPE_GPU;
    if (b->reduces && !b->owner) { /* as an atomic operation of the thread */
        a.record = (struct ptxi_record){ k->agent, a.record.clock, 0,
                                         ptxi_race_place(w, i) | PTXI_CHECK_ATOMIC << PTXI_META_STRENGTH |
                                         (uint32_t)PTXI_SCOPE_GPU << PTXI_META_SCOPE };
        set_lane(&a, lane);
    }
    touch(&a);
}
