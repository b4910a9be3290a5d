#include "exec/check/vector_clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 1 << 16 };

struct ptxi_vclock {
    _Atomic uint32_t references;
    uint32_t count;
    bool everything;
    struct ptxi_vclock_entry entries[];
};

static struct ptxi_vclock everything = { .everything = true };

struct ptxi_vclock *ptxi_vclock_ref(struct ptxi_vclock *k)
{
    if (k && k != &everything)
        atomic_fetch_add_explicit(&k->references, 1, memory_order_relaxed);
    return k;
}

void ptxi_vclock_unref(struct ptxi_vclock *k)
{
    if (k && k != &everything && atomic_fetch_sub_explicit(&k->references, 1, memory_order_acq_rel) == 1)
        free(k);
}

void ptxi_vclock_set(struct ptxi_vclock **k, struct ptxi_vclock *other)
{
    struct ptxi_vclock *old = *k;

    *k = ptxi_vclock_ref(other);
    ptxi_vclock_unref(old);
}

static bool has_entry(const struct ptxi_vclock *k, uint64_t who, uint32_t clock)
{
    uint32_t lo = 0, hi = k->count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (k->entries[mid].who < who)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < k->count && k->entries[lo].who == who && clock < k->entries[lo].clock;
}

/* Whether an entry of the same warp or CTA says as much. */
static bool is_implied(const struct ptxi_vclock *k, const struct ptxi_vclock_entry *e)
{
    uint32_t last = e->clock - 1;

    return !e->clock || has_entry(k, e->who | 0xffff, last) || has_entry(k, e->who | 0xff, last);
}

/* Whether the set already includes the entries. */
static bool includes(const struct ptxi_vclock *k, const struct ptxi_vclock_entry *e, uint32_t count)
{
    uint32_t at = 0;

    if (k->everything)
        return true;
    for (uint32_t n = 0; n < count; n++) {
        while (at < k->count && k->entries[at].who < e[n].who)
            at++;
        if ((at == k->count || k->entries[at].who != e[n].who || k->entries[at].clock < e[n].clock) &&
            !is_implied(k, &e[n]))
            return false;
    }
    return true;
}

/* Removes entries that one of their warp or CTA implies. That of a CTA comes after those of its warps, and that of a
 * warp after those of its lanes. Returns the number of entries. */
static uint32_t drop_implied(struct ptxi_vclock_entry *e, uint32_t count)
{
    const struct ptxi_vclock_entry *cta = NULL, *warp = NULL;
    uint32_t kept = count;

    for (uint32_t k = count; k--;) {
        struct ptxi_vclock_entry now = e[k];

        if ((cta && cta->who == (now.who | 0xffff) && cta->clock >= now.clock) ||
            (warp && warp->who == (now.who | 0xff) && warp->clock >= now.clock))
            continue;
        e[--kept] = now;
        if ((now.who & 0xffff) == 0xffff)
            cta = &e[kept];
        else if ((now.who & 0xff) == 0xff)
            warp = &e[kept];
    }
    memmove(e, e + kept, (count - kept) * sizeof *e);
    return count - kept;
}

/* Merges two ascending lists into `to`. Returns the number of entries. */
static uint32_t merge(struct ptxi_vclock_entry *to, const struct ptxi_vclock_entry *a, uint32_t a_count,
                      const struct ptxi_vclock_entry *b, uint32_t b_count)
{
    const struct ptxi_vclock_entry *a_end = a + a_count, *b_end = b + b_count;
    struct ptxi_vclock_entry *at = to;

    while (a < a_end || b < b_end) {
        if (b == b_end || (a < a_end && a->who < b->who)) {
            *at++ = *a++;
        } else if (a == a_end || b->who < a->who) {
            *at++ = *b++;
        } else {
            *at = a->clock > b->clock ? *a : *b;
            at++;
            a++;
            b++;
        }
    }
    return (uint32_t)(at - to);
}

void ptxi_vclock_add(struct ptxi_vclock **k, const struct ptxi_vclock_entry *entries, uint32_t count)
{
    struct ptxi_vclock *old = *k, *new;
    uint32_t have = old ? old->count : 0;

    if (!count || (old && includes(old, entries, count)))
        return;
    new = have + count <= MAX_ENTRIES ? malloc(sizeof *new + (have + count) * sizeof *entries) : NULL;
    if (new) {
        atomic_init(&new->references, 1);
        new->everything = false;
        new->count = merge(new->entries, old ? old->entries : NULL, have, entries, count);
        new->count = drop_implied(new->entries, new->count);
    }
    *k = new ? new : &everything;
    ptxi_vclock_unref(old);
}

void ptxi_vclock_join(struct ptxi_vclock **k, const struct ptxi_vclock *other)
{
    if (!other || other == *k)
        return;
    if (!*k || other->everything)
        ptxi_vclock_set(k, (struct ptxi_vclock *)(uintptr_t)other);
    else
        ptxi_vclock_add(k, other->entries, other->count);
}

bool ptxi_vclock_has(const struct ptxi_vclock *k, uint32_t agent, unsigned warp, unsigned lane, uint32_t clock)
{
    if (!k)
        return false;
    return k->everything || has_entry(k, ptxi_who(agent, PTXI_WHO_ALL, PTXI_WHO_ALL), clock) ||
           has_entry(k, ptxi_who(agent, warp, PTXI_WHO_ALL), clock) || has_entry(k, ptxi_who(agent, warp, lane), clock);
}

bool ptxi_vclock_has_agent(const struct ptxi_vclock *k, uint32_t agent)
{
    for (uint32_t n = k ? k->count : 0; n--;)
        if (((uint32_t)(k->entries[n].who >> 16) & ~PTXI_WHO_ASYNC) == agent)
            return true;
    return k && k->everything;
}

bool ptxi_vclock_has_others(const struct ptxi_vclock *k, uint32_t least, uint32_t first_agent, uint32_t count)
{
    for (uint32_t n = k ? k->count : 0; n--;) {
        uint32_t agent = (uint32_t)(k->entries[n].who >> 16) & ~PTXI_WHO_ASYNC;

        if (agent >= least && agent - first_agent >= count)
            return true;
    }
    return k && k->everything;
}
