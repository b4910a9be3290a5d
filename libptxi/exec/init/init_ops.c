/* Handlers of the operations that track uninitialised values. A mask is a predicate: the lanes in which a value is not
 * fully defined. A shadow has the class of its value; it is valid for the lanes of its mask. */
#include "exec/check/order.h"
#include "exec/engine/address_space.h"
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/engine/op_shapes.h"
#include "exec/init/init.h"
#include "exec/init/init_registers.h"
#include "exec/init/init_shadow.h"
#include "exec/init/init_value.h"
#include "exec/memory/address_register.h"
#include "exec/memory/coalesce.h"

static inline ptxi_lanes masks_of_sources(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (ptxi_init_mask_in(w, i->a) | ptxi_init_mask_in(w, i->b) | ptxi_init_mask_in(w, i->c)) & w->active;
}

OP( init_spread )
{
    ptxi_lanes lanes = i->imm & PTXI_INIT_UNDEFINED ? PTXI_ALL_LANES : masks_of_sources(w, i);

    ptxi_set_pred(w, i->d, lanes);
    if (__builtin_expect(lanes != 0, 0))
        ptxi_init_fill_shadow(w, i->mods, i->imm & 7, lanes & w->active, 0xff);
    NEXT;
}

OP( init_move )
{
    ptxi_lanes lanes = ptxi_init_mask_in(w, i->a) & w->active;
    unsigned class = i->mods;

    ptxi_set_pred(w, i->d, lanes);
    for (ptxi_lanes left = lanes; left && class; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        memmove(ptxi_init_shadow_at(w, i->b, class, l), ptxi_init_shadow_at(w, i->c, class, l),
                ptxi_init_class_bytes(class));
    }
    NEXT;
}

/* Makes the shadow of a source valid for all active lanes. */
static void complete_shadow(const struct ptxi_warp *w, uint16_t mask, unsigned slot, unsigned class)
{
    if (mask != PTXI_NO_SLOT)
        ptxi_init_fill_shadow(w, slot, class, w->active & ~ptxi_pred(w, mask), 0);
}

OP( init_bits )
{
    const struct ptxi_insn *bits = i + 1;
    ptxi_lanes lanes = 0;

    if (__builtin_expect(!(masks_of_sources(w, i) | (ptxi_init_mask_in(w, (uint16_t)i->imm) & w->active)), 1)) {
        ptxi_set_pred(w, i->d, 0);
        return i + 2;
    }
    complete_shadow(w, i->a, bits->a, i->mods >> 3 & 7);
    complete_shadow(w, i->b, bits->b, i->mods >> 6 & 7);
    complete_shadow(w, i->c, bits->c, i->mods >> 9 & 7);
    complete_shadow(w, (uint16_t)i->imm, (uint16_t)bits->imm, i->mods >> 12 & 7);
    w->table[bits->op](bits, w);
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left), class = i->mods & 7;
        const unsigned char *shadow = ptxi_init_shadow_at(w, bits->d, class, l);

        lanes |= (ptxi_lanes)ptxi_init_any_undefined(shadow, ptxi_init_class_bytes(class)) << l;
    }
    ptxi_set_pred(w, i->d, lanes);
    return i + 2;
}

/* The operand in a slot, of a lane. A predicate is one bit. */
static uint64_t lane_bits(const struct ptxi_warp *w, unsigned slot, unsigned class, unsigned l)
{
    uint64_t bits = 0;

    if (!class)
        return ptxi_pred(w, slot) >> l & 1;
    memcpy(&bits, ptxi_init_shadow_at(w, slot, class, l), ptxi_init_class_bytes(class));
    return bits;
}

static struct ptxi_init_value operand(const struct ptxi_warp *w, const struct ptxi_init_exact *x, unsigned k,
                                      ptxi_lanes undefined, unsigned l)
{
    unsigned class = k == 2 ? x->third_class : x->operand_class;
    struct ptxi_init_value o = { 0, 0 };

    if (x->values[k] == PTXI_NO_SLOT)
        return o;
    o.bits = lane_bits(w, x->values[k], class, l);
    if (undefined >> l & 1)
        o.undefined = class ? lane_bits(w, x->shadows[k], class, l) : 1;
    return o;
}

OP( init_exact )
{
    const struct ptxi_init_exact *x = (const struct ptxi_init_exact *)(w->frame->code->pool + i->imm);
    const ptxi_lanes masks[] = { ptxi_init_mask_in(w, i->a), ptxi_init_mask_in(w, i->b), ptxi_init_mask_in(w, i->c) };
    unsigned width = 8 * ptxi_init_class_bytes(x->operand_class), result = 8 * ptxi_init_class_bytes(x->class);
    ptxi_lanes lanes = 0;

    for (ptxi_lanes left = masks_of_sources(w, i); left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_init_value o[3];

        for (unsigned k = 0; k < 3; k++)
            o[k] = operand(w, x, k, masks[k], l);
        o[2].bits ^= x->not_c;
        uint64_t undefined = ptxi_init_undefined_bits((enum ptxi_init_rule)i->mods, width, o, x->table);

        if (!x->class)
            undefined &= 1;
        else if (result < 64)
            undefined &= ((uint64_t)1 << result) - 1;
        lanes |= (ptxi_lanes)(undefined != 0) << l;
        if (x->class)
            memcpy(ptxi_init_shadow_at(w, x->shadow, x->class, l), &undefined, ptxi_init_class_bytes(x->class));
    }
    ptxi_set_pred(w, i->d, lanes);
    NEXT;
}

OP( init_use )
{
    ptxi_lanes lanes = masks_of_sources(w, i);

    if (__builtin_expect(lanes != 0, 0))
        ptxi_init_report(w, i, (unsigned)i->imm, lanes, 0, 0);
    NEXT;
}

/* --- memory --- */

enum { MAX_RANGE = 1024 }; /* bytes between the lowest and the highest address that are worth a look at once */

/* How the active lanes access memory. */
struct access {
    const struct ptxi_warp *w;
    const void *addresses; /* a row, or of each lane */
    int32_t offset;
    unsigned mods;         /* PTXI_CHECK_..., PTXI_INIT_... */
};

/* The bytes between the lowest and the highest address of the active lanes. */
struct range {
    uint64_t first, size; /* size 0: not one range of memory, or a large one */
    bool shared;
};

static struct range find_range(const struct access *x)
{
    const struct ptxi_warp *w = x->w;
    struct ptxi_address_range r;
    struct range range = { .shared = x->mods & PTXI_CHECK_SHARED };

    if (x->mods & PTXI_INIT_LOCAL)
        return range;
    if (range.shared) {
        r = ptxi_address_range_32(x->addresses, w->active);
        range.first = (uint32_t)(r.lo + (uint32_t)x->offset);
    } else if (x->mods & PTXI_INIT_ROW) {
        if (!ptxi_row_has(x->addresses, w->active))
            return range;
        r = ptxi_address_range_of_row(w, x->addresses);
        range.first = r.lo + (uint64_t)(int64_t)x->offset;
    } else {
        r = ptxi_address_range_64(x->addresses, w->active);
        range.first = r.lo + (uint64_t)(int64_t)x->offset;
        if (r.hi >= PTXI_SHARED_WINDOW || range.first >= PTXI_SHARED_WINDOW)
            return range;
    }
    if (r.hi - r.lo < MAX_RANGE)
        range.size = r.hi - r.lo + (x->mods & PTXI_CHECK_BYTES);
    return range;
}

/* Whether all of the range is known to be defined. */
static bool is_defined(const struct ptxi_warp *w, const struct range *r)
{
    const unsigned char *shadow;

    if (!r->size)
        return false;
    if (!r->shared)
        return ptxi_init_is_defined(r->first, r->size);
    if (ptxi_init_shared_is_known(w, r->first, r->size))
        return true;
    shadow = ptxi_init_shared(w, r->first, (uint32_t)r->size);
    if (!shadow || !ptxi_init_is_zero(shadow, r->size))
        return false;
    ptxi_init_shared_seen(w, r->first, r->size);
    return true;
}

/* Whether the access is to shared memory that is known to be defined as a whole. */
static inline bool is_all_defined(const struct ptxi_warp *w, unsigned mods)
{
    const struct ptxi_check_cta *k = w->cta->check;

    return mods & PTXI_CHECK_SHARED && k && ptxi_defined_lines_all(&k->defined) && !w->cta->grid->code->in_clusters;
}

/* Makes all of the range defined, if it is tracked. */
static void define(const struct ptxi_warp *w, const struct range *r)
{
    unsigned char *shadow = r->shared ? ptxi_init_shared(w, r->first, (uint32_t)r->size) : NULL;

    if (shadow)
        memset(shadow, 0, r->size);
    else if (!r->shared)
        ptxi_init_define(r->first, r->size);
}

/* Whether the lanes access all bytes of the range if no two of them access the same. */
static bool is_dense(const struct access *x, const struct range *r)
{
    uint32_t size = x->mods & PTXI_CHECK_BYTES;

    if (r->size != (uint64_t)__builtin_popcountll(x->w->active) * size)
        return false;
    if (x->mods & PTXI_INIT_ROW)
        return ((const struct ptxi_lane_row *)x->addresses)->stride == size;
    if (x->w->active != PTXI_ALL_LANES)
        return false;
    return r->shared ? ptxi_is_contiguous_32(x->addresses, size) : ptxi_is_contiguous_64(x->addresses, size);
}

/* The address of a lane, and in *own where the shadow of shared or .local memory is. False: other memory, which is not
 * tracked. */
static bool find_bytes(const struct access *x, unsigned l, uint64_t *address, unsigned char **own)
{
    uint32_t size = x->mods & PTXI_CHECK_BYTES;

    *own = NULL;
    if (x->mods & PTXI_CHECK_SHARED) {
        *address = (uint32_t)(((const uint32_t *)x->addresses)[l] + (uint32_t)x->offset);
        return (*own = ptxi_init_shared(x->w, *address, size)) != NULL;
    }
    *address = ((const uint64_t *)x->addresses)[l] + (uint64_t)(int64_t)x->offset;
    if (x->mods & PTXI_INIT_LOCAL)
        return (*own = ptxi_init_local(x->w, l, *address, size)) != NULL;
    if (!(x->mods & PTXI_CHECK_GENERIC) || *address < PTXI_SHARED_WINDOW)
        return true;
    if (*address - PTXI_LOCAL_WINDOW < PTXI_WINDOW_SIZE)
        return (*own = ptxi_init_local(x->w, l, *address - PTXI_LOCAL_WINDOW, size)) != NULL;
    *address -= PTXI_SHARED_WINDOW;
    if (*address >= PTXI_WINDOW_SIZE)
        return false;
    return (*own = ptxi_init_shared(x->w, *address, size)) != NULL;
}

static struct access access_of(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (struct access){ w, PTXI_SLOT(w, i->a), i->imm, i->mods };
}

/* Expands a row: `addresses` becomes those of each lane. */
static void find_lanes(struct access *x, uint64_t row[PTXI_LANES])
{
    if (x->mods & PTXI_INIT_ROW)
        x->addresses = ptxi_address_lanes(x->addresses, row);
}

/* Gets the shadow of a lane. Returns whether it has an undefined bit. */
static bool load_lane(const struct access *x, unsigned slot, unsigned l)
{
    uint32_t size = x->mods & PTXI_CHECK_BYTES;
    unsigned class = x->mods >> PTXI_INIT_CLASS_SHIFT & 7;
    unsigned char *to = ptxi_init_shadow_at(x->w, slot, class, l), *own;
    uint64_t address;

    if (!find_bytes(x, l, &address, &own) ||
        (own ? ptxi_init_is_zero(own, size) : ptxi_init_is_defined(address, size)))
        return false;
    memset(to, 0, ptxi_init_class_bytes(class));
    if (own)
        memcpy(to, own, size);
    else
        ptxi_init_get(address, size, to);
    if (x->mods & PTXI_INIT_SIGNED_LOAD && to[size - 1] & 0x80)
        memset(to + size, 0xff, ptxi_init_class_bytes(class) - size);
    return true;
}

/* Neighbouring lanes that access neighbouring or the same bytes of global memory. */
struct run {
    ptxi_lanes lanes;
    uint64_t first, size;
};

/* The run that begins with the first of some lanes, whose addresses have been expanded. */
static struct run find_run(const struct access *x, ptxi_lanes left)
{
    const uint64_t *addresses = x->addresses;
    uint32_t size = x->mods & PTXI_CHECK_BYTES;
    uint64_t first = addresses[ptxi_first_lane(left)], end = first + size;
    struct run r = { .lanes = 0 };

    for (; left; left &= left - 1) {
        uint64_t at = addresses[ptxi_first_lane(left)];

        if (at < first || at > end)
            break;
        end = at + size > end ? at + size : end;
        r.lanes |= left & -left;
    }
    r.first = first + (uint64_t)(int64_t)x->offset;
    r.size = end - first;
    return r;
}

static bool is_global(const struct access *x)
{
    return !(x->mods & (PTXI_CHECK_SHARED | PTXI_CHECK_GENERIC | PTXI_INIT_LOCAL));
}

/* Whether all lanes access defined words of the CTA's own shared memory. */
static bool is_defined_shared(const struct access *x)
{
    const struct ptxi_check_cta *k = x->w->cta->check;
    uint32_t size = x->mods & PTXI_CHECK_BYTES, any = 0;

    if (!(x->mods & PTXI_CHECK_SHARED) || !k || !k->undefined || x->w->cta->grid->code->in_clusters ||
        size % sizeof any)
        return false;
    for (ptxi_lanes left = x->w->active; left; left &= left - 1) {
        uint64_t at = (uint32_t)(((const uint32_t *)x->addresses)[ptxi_first_lane(left)] + (uint32_t)x->offset);

        if (at + size > k->undefined_bytes)
            return false;
        for (uint32_t n = 0; n < size; n += sizeof any) {
            uint32_t word;

            memcpy(&word, k->undefined + at + n, sizeof word);
            any |= word;
        }
    }
    return !any;
}

/* The lanes whose bytes may be undefined. */
static ptxi_lanes maybe_undefined(const struct access *x)
{
    ptxi_lanes undefined = 0;
    struct run r;

    if (is_defined_shared(x))
        return 0;
    if (!is_global(x))
        return x->w->active;
    for (ptxi_lanes left = x->w->active; left; left &= ~r.lanes) {
        r = find_run(x, left);
        if (!ptxi_init_is_defined(r.first, r.size))
            undefined |= r.lanes;
    }
    return undefined;
}

static ptxi_lanes load_lanes(struct access *x, unsigned slot)
{
    _Alignas(64) uint64_t row[PTXI_LANES];
    ptxi_lanes undefined = 0;

    find_lanes(x, row);
    for (ptxi_lanes left = maybe_undefined(x); left; left &= left - 1)
        undefined |= (ptxi_lanes)load_lane(x, slot, ptxi_first_lane(left)) << ptxi_first_lane(left);
    return undefined;
}

OP( init_load )
{
    struct access x = access_of(w, i);
    struct range r;

    if (is_all_defined(w, i->mods)) {
        ptxi_set_pred(w, i->d, 0);
        NEXT;
    }
    r = find_range(&x);
    ptxi_set_pred(w, i->d, is_defined(w, &r) ? 0 : load_lanes(&x, i->b));
    NEXT;
}

/* An undefined result of arithmetic in shared or .local memory is no error yet. It differs from a word that was never
 * written, so that a copy of it to global memory is known as a result. */
static void mark_results(unsigned char *shadow, uint32_t size)
{
    static const uint32_t marked = PTXI_INIT_UNDEFINED_RESULT;
    uint32_t word;

    for (uint32_t k = 0; k + sizeof word <= size; k += sizeof word) {
        memcpy(&word, shadow + k, sizeof word);
        if (word == UINT32_MAX)
            memcpy(shadow + k, &marked, sizeof marked);
    }
}

/* Memory gets the shadow `from`. An undefined result of arithmetic in global memory is reported. */
static void write_lane(struct ptxi_warp *w, const struct ptxi_insn *i, const struct access *x, unsigned l,
                       const unsigned char *from)
{
    static const unsigned char zeros[16];
    uint32_t size = x->mods & PTXI_CHECK_BYTES;
    unsigned char *own;
    uint64_t address;

    if (!find_bytes(x, l, &address, &own))
        return;
    if (!from)
        from = zeros;
    if (own) {
        memcpy(own, from, size);
        if (from != zeros)
            ptxi_init_shared_spoilt(w->cta);
        if (x->mods & PTXI_INIT_COMPUTED)
            mark_results(own, size);
        return;
    }
    ptxi_init_store_global(w, i, l, address, size, from, x->mods & PTXI_INIT_COMPUTED);
}

/* Lanes store defined values to global memory. */
static void define_runs(const struct access *x, ptxi_lanes lanes)
{
    struct run r;

    for (; lanes; lanes &= ~r.lanes) {
        r = find_run(x, lanes);
        if (!ptxi_init_is_defined(r.first, r.size))
            ptxi_init_define(r.first, r.size);
    }
}

OP( init_store )
{
    _Alignas(64) uint64_t row[PTXI_LANES];
    ptxi_lanes undefined = ptxi_init_mask_in(w, i->b) & w->active;
    struct access x = access_of(w, i);
    unsigned class = i->mods >> PTXI_INIT_CLASS_SHIFT & 7;
    struct range r;

    if (!undefined && is_all_defined(w, i->mods))
        NEXT;
    r = find_range(&x);
    if (!undefined && is_defined(w, &r))
        NEXT;
    if (!undefined && r.size && is_dense(&x, &r)) {
        define(w, &r);
        NEXT;
    }
    find_lanes(&x, row);
    if (!undefined && is_global(&x)) {
        define_runs(&x, w->active);
        NEXT;
    }
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        write_lane(w, i, &x, l, undefined >> l & 1 ? ptxi_init_shadow_at(w, i->c, class, l) : NULL);
    }
    NEXT;
}

/* --- atomic operations --- */

/* The undefined bits of the memory after the operation, if they were `memory`. */
static uint64_t updated(enum ptxi_init_update update, uint64_t memory, struct ptxi_init_value operand)
{
    uint64_t any = memory | operand.undefined;

    switch (update) {
    case PTXI_INIT_UPDATE_EXCHANGE: return operand.undefined;
    case PTXI_INIT_UPDATE_KEEP: return memory;
    case PTXI_INIT_UPDATE_BITS: return any;
    case PTXI_INIT_UPDATE_AND: return operand.undefined | (memory & operand.bits);
    case PTXI_INIT_UPDATE_OR: return operand.undefined | (memory & ~operand.bits);
    case PTXI_INIT_UPDATE_UPWARD: return any ? ~(uint64_t)0 << __builtin_ctzll(any) : 0;
    case PTXI_INIT_UPDATE_ALL: break;
    }
    return any ? ~(uint64_t)0 : 0;
}

/* Values of 128 bits are only exchanged, or kept. */
static void update_shadow(const struct ptxi_init_atomic *a, unsigned char *memory, const unsigned char *operand,
                          const unsigned char *value)
{
    uint32_t size = a->access & PTXI_CHECK_BYTES;
    uint64_t before = 0;
    struct ptxi_init_value o = { 0, 0 };

    if (size > sizeof before) {
        if (a->update != PTXI_INIT_UPDATE_KEEP)
            memcpy(memory, operand, size);
        return;
    }
    memcpy(&before, memory, size);
    memcpy(&o.undefined, operand, size);
    memcpy(&o.bits, value, size);
    before = updated((enum ptxi_init_update)a->update, before, o);
    memcpy(memory, &before, size);
}

static void get_lane(const struct access *x, unsigned l, unsigned char *shadow)
{
    uint32_t size = x->mods & PTXI_CHECK_BYTES;
    unsigned char *own;
    uint64_t address;

    memset(shadow, 0, 16);
    if (!find_bytes(x, l, &address, &own))
        return;
    if (own)
        memcpy(shadow, own, size);
    else
        ptxi_init_get(address, size, shadow);
}

/* The lanes take effect one after the other, in their order. Returns those whose results are undefined. */
static ptxi_lanes update_lanes(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_init_atomic *a,
                               struct access x)
{
    static const unsigned char zeros[16];
    ptxi_lanes operands = ptxi_init_mask_in(w, i->b), results = 0;
    uint32_t size = x.mods & PTXI_CHECK_BYTES;

    if (a->update != PTXI_INIT_UPDATE_EXCHANGE && a->update != PTXI_INIT_UPDATE_KEEP)
        x.mods |= PTXI_INIT_COMPUTED;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        unsigned char memory[16];

        get_lane(&x, l, memory);
        bool undefined = ptxi_init_any_undefined(memory, size);

        if (!undefined && !(operands >> l & 1))
            continue;
        results |= (ptxi_lanes)undefined << l;
        if (i->d != PTXI_NO_SLOT && undefined)
            memcpy(ptxi_init_shadow_at(w, a->result, a->class, l), memory, ptxi_init_class_bytes(a->class));
        update_shadow(a, memory,
                      operands >> l & 1 ? ptxi_init_shadow_at(w, a->operand, a->class, l) : zeros,
                      ptxi_init_shadow_at(w, a->value, a->class, l));
        write_lane(w, i, &x, l, memory);
    }
    return results;
}

OP( init_atomic )
{
    const struct ptxi_init_atomic *a = (const struct ptxi_init_atomic *)(w->frame->code->pool + i->imm);
    const struct access x = { w, PTXI_SLOT(w, i->a), (int32_t)(a->offset[0] | (uint32_t)a->offset[1] << 16),
                              a->access };
    ptxi_lanes operands = ptxi_init_mask_in(w, i->b) & w->active, results = 0;

    if (operands || !is_all_defined(w, x.mods)) {
        struct range r = find_range(&x);

        if (operands || !is_defined(w, &r))
            results = update_lanes(w, i, a, x);
    }
    if (i->d != PTXI_NO_SLOT)
        ptxi_set_pred(w, i->d, results);
    NEXT;
}
