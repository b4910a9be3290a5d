#include "exec/async/bulk_check.h"

#include "exec/async/tma.h"
#include "exec/check/race.h"
#include "exec/finding/finding.h"
#include "exec/init/init.h"
#include "exec/init/init_shadow.h"
#include "exec/memory/access.h"

/* One side of an operation. */
struct side {
    struct ptxi_warp *w;
    const struct ptxi_insn *i;
    const struct ptxi_bulk_job *j;
    bool write;
};

static void note(const struct side *s, const struct ptxi_init_place *p, uint32_t size)
{
    const struct ptxi_bulk_job *j = s->j;
    struct ptxi_bulk_touch b = { .shared = p->shared, .address = p->address, .size = size, .write = s->write,
                                 .reduces = s->write && j->reduce, .owner = j->owner };

    if (b.owner)
        b.mbarrier = (uint32_t)(j->mbarrier - j->owner->shared);
    if (!b.owner || b.owner->check)
        ptxi_race_touch_bulk(s->w, s->i, j->lane, &b);
}

static struct ptxi_init_place place_of(const struct side *s, const unsigned char *at)
{
    struct ptxi_cta *owner = ptxi_shared_owner(s->w->cta, at);

    return (struct ptxi_init_place){ owner, owner ? (uint64_t)(at - owner->shared) : (uintptr_t)at };
}

static struct ptxi_init_place offset(const struct ptxi_init_place *p, uint32_t bytes)
{
    return (struct ptxi_init_place){ p->shared, p->address + bytes };
}

/* Bytes that the mask excludes are not written. */
static void note_destination(const struct side *s, const struct ptxi_init_place *to)
{
    const struct ptxi_bulk_job *j = s->j;
    uint32_t end;

    if (j->byte_mask == 0xffff) {
        note(s, to, j->size);
        return;
    }
    for (uint32_t at = 0; at < j->size; at = end) {
        bool written = j->byte_mask >> at % 16 & 1;

        for (end = at; end < j->size && (j->byte_mask >> end % 16 & 1) == written;)
            end++;
        if (written)
            note(s, &(struct ptxi_init_place){ to->shared, to->address + at }, end - at);
    }
}

/* Ignored bytes are not read. */
static void note_source(const struct side *s, const struct ptxi_init_place *from)
{
    struct ptxi_init_place inner = offset(from, s->j->left);

    if (ptxi_bulk_inner(s->j))
        note(s, &inner, ptxi_bulk_inner(s->j));
}

static bool note_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct side *s = ctx;
    struct ptxi_init_place p = { NULL, at };

    (void)row, (void)from;
    if (bytes)
        note(s, &p, bytes);
    return true;
}

/* --- uninitialised values --- */

static bool tracks_init(const struct ptxi_warp *w)
{
    return w->cta->grid->tools >> PTXI_TOOL_INIT & 1;
}

static void get_shadow(void *ctx, uint64_t at, uint32_t bytes, unsigned char *shadow)
{
    (void)ctx;
    ptxi_init_get(at, bytes, shadow);
}

static void set_shadow(void *ctx, uint64_t at, uint32_t bytes, unsigned char *shadow)
{
    ptxi_init_set_global(ctx, at, bytes, shadow);
}

static void define_shadow(void *ctx, uint64_t at, uint32_t bytes, unsigned char *shadow)
{
    (void)ctx, (void)shadow;
    ptxi_init_define(at, bytes);
}

/* The destination is as undefined as the source. The result of a reduction counts as defined. */
static void track_tensor(struct ptxi_warp *w, const struct ptxi_bulk_job *j, const struct ptxi_init_place *box,
                         uint32_t size)
{
    unsigned char *shadow = ptxi_init_bytes(box, size);

    if (shadow && j->to)
        ptxi_init_shared_spoilt(box->shared);
    if (shadow && j->to)
        ptxi_tma_load_shadow(&j->map, j->coords, shadow, j->box_offset, get_shadow, NULL);
    else if (shadow)
        ptxi_tma_store_shadow(&j->map, j->coords, shadow, j->box_offset, j->reduce ? define_shadow : set_shadow, w);
}

/* What arrives for ignored bytes is undefined. */
static void track_ends(const struct ptxi_warp *w, const struct ptxi_bulk_job *j, const struct ptxi_init_place *to,
                       const struct ptxi_init_place *from)
{
    uint32_t inner = ptxi_bulk_inner(j);
    struct ptxi_init_place first = offset(to, j->left), source = offset(from, j->left), last = offset(&first, inner);

    ptxi_init_note_undefined(to, j->left);
    ptxi_init_note_copy(w, &first, &source, inner);
    ptxi_init_note_undefined(&last, j->right);
}

static void check_tensor(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *j)
{
    struct side box = { w, i, j, j->to != NULL }, tensor = { w, i, j, j->to == NULL };
    struct ptxi_init_place p = place_of(&box, j->to ? j->to : j->from);
    uint32_t size = ptxi_tensor_map_box_room(&j->map);

    ptxi_tma_walk(&j->map, j->coords, note_row, &tensor);
    note(&box, &p, size);
    if (tracks_init(w))
        track_tensor(w, j, &p, size);
}

void ptxi_bulk_check(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *j)
{
    struct side from = { w, i, j, false }, to = { w, i, j, true };
    struct ptxi_init_place source, destination;

    if (!j->size)
        return;
    if (j->tensor) {
        check_tensor(w, i, j);
        return;
    }
    source = j->from ? place_of(&from, j->from) : (struct ptxi_init_place){ NULL, 0 };
    destination = place_of(&to, j->to);
    if (j->from)
        note_source(&from, &source);
    note_destination(&to, &destination);
    if (!tracks_init(w))
        return;
    if (ptxi_bulk_has_ends(j))
        track_ends(w, j, &destination, &source);
    else if (j->from && !j->reduce && j->byte_mask == 0xffff)
        ptxi_init_note_copy(w, &destination, &source, j->size);
    else
        ptxi_init_note_write(&destination, j->size);
}
