#include "exec/texture/texel_init.h"

#include "exec/init/init.h"
#include "exec/init/init_registers.h"
#include "exec/init/init_shadow.h"
#include "exec/init/init_value.h"

#include <string.h>

enum { MOST_BYTES = 16 }; /* of a texel */

const struct ptxi_insn *ptxi_texel_init_find(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const struct ptxi_insn *first = w->frame->code->insns;

    if (i > first && i[-1].op == PTXI_OP_guard)
        i--;
    return i > first && (i[-1].op == PTXI_OP_init_surface || i[-1].op == PTXI_OP_init_tex) ? i - 1 : NULL;
}

void ptxi_texel_init_results(struct ptxi_warp *w, const struct ptxi_insn *init, unsigned wide,
                             const struct ptxi_texel_shadows *s)
{
    struct ptxi_init_view v = ptxi_init_view_at(w, init);
    const unsigned class = (unsigned)__builtin_ctz(wide);

    if (!s->any) {
        ptxi_init_define_results(w, &v);
        return;
    }
    for (unsigned k = 0; k < v.list->writes; k++) {
        for (ptxi_lanes left = w->active; left && v.to[k] != PTXI_NO_SLOT; left &= left - 1) {
            unsigned l = ptxi_first_lane(left);

            memcpy(ptxi_init_shadow_at(w, v.to[k], class, l), &s->of[k][l], wide);
        }
        ptxi_init_finish_result(w, &v, k, class);
    }
}

/* Bits of result k of a lane are undefined. */
static void set_shadow(struct ptxi_texel_shadows *s, unsigned k, unsigned lane, uint64_t bits)
{
    if (!s->any)
        memset(s->of, 0, sizeof s->of);
    s->any = true;
    s->of[k][lane] = bits;
}

void ptxi_texel_init_load(struct ptxi_texel_shadows *s, unsigned lane, const unsigned char *at, unsigned values,
                          unsigned bytes)
{
    unsigned char shadow[MOST_BYTES];

    if (ptxi_init_is_defined((uintptr_t)at, values * bytes))
        return;
    ptxi_init_get((uintptr_t)at, values * bytes, shadow);
    for (unsigned k = 0; k < values; k++) {
        uint64_t bits = 0;

        memcpy(&bits, shadow + k * bytes, bytes);
        set_shadow(s, k, lane, bits);
    }
}

/* The undefined bits of value k that a lane stores. */
static uint64_t value_shadow(const struct ptxi_warp *w, const struct ptxi_init_view *v, unsigned k, unsigned lane,
                             unsigned wide)
{
    uint64_t bits = 0;

    if (ptxi_init_source_mask(w, v, k) >> lane & 1)
        memcpy(&bits, (const unsigned char *)PTXI_SLOT(w, v->from[k]) + lane * wide, wide);
    return bits;
}

/* The shadow of a texel of sust.p. A channel that is not stored as it is is undefined as a whole. */
static void format(const struct ptxi_warp *w, const struct ptxi_init_view *v, const struct ptxi_surface *x,
                   unsigned lane, const struct ptxi_texture *t, unsigned char *shadow)
{
    const unsigned size = t->bytes / t->channels;

    for (unsigned c = 0; c < x->values; c++) {
        uint64_t bits = value_shadow(w, v, c, lane, x->wide);

        if (t->format == PTXI_TEXEL_PACKED && bits)
            memset(shadow, 0xff, t->bytes);
        else if (c < t->channels && size == sizeof(uint32_t))
            memcpy(shadow + c * size, &bits, size);
        else if (c < t->channels && bits)
            memset(shadow + c * size, 0xff, size);
    }
}

void ptxi_texel_init_store(struct ptxi_warp *w, const struct ptxi_insn *init, const struct ptxi_surface *x,
                           unsigned lane, const struct ptxi_texture *t, const unsigned char *at)
{
    struct ptxi_init_view v = ptxi_init_view_at(w, init);
    unsigned char shadow[MOST_BYTES] = { 0 };

    if (x->formatted)
        format(w, &v, x, lane, t, shadow);
    for (unsigned k = 0; !x->formatted && k < x->values; k++) {
        uint64_t bits = value_shadow(w, &v, k, lane, x->wide);

        memcpy(shadow + k * x->bytes, &bits, x->bytes);
    }
    ptxi_init_store_global(w, init, lane, (uintptr_t)at, x->formatted ? t->bytes : x->values * x->bytes, shadow,
                           v.list->mods);
}

/* The bits that are undefined after a reduction of a word by an operand. */
static uint64_t reduced(unsigned op, uint64_t memory, uint64_t undefined, uint64_t operand)
{
    switch (op) {
    case PTXI_OP_atom_and_b32:
        return undefined | (memory & operand);
    case PTXI_OP_atom_or_b32:
        return undefined | (memory & ~operand);
    default:
        return memory | undefined ? ~(uint64_t)0 : 0;
    }
}

void ptxi_texel_init_reduce(struct ptxi_warp *w, const struct ptxi_insn *init, const struct ptxi_surface *x,
                            unsigned lane, const unsigned char *at)
{
    struct ptxi_init_view v = ptxi_init_view_at(w, init);
    uint64_t memory = 0, operand = 0, undefined = value_shadow(w, &v, 0, lane, x->wide);

    ptxi_init_get((uintptr_t)at, x->bytes, (unsigned char *)&memory);
    if (!(memory | undefined))
        return;
    memcpy(&operand, (const unsigned char *)PTXI_SLOT(w, x->slots[0]) + lane * x->wide, x->bytes);
    memory = reduced(x->reduce[0], memory, undefined, operand);
    ptxi_init_store_global(w, init, lane, (uintptr_t)at, x->bytes, (const unsigned char *)&memory, true);
}

/* Whether a channel of a texel has an undefined bit. */
static bool is_undefined(const struct ptxi_texture *t, const unsigned char *at, unsigned channel)
{
    const bool whole = t->block || t->format == PTXI_TEXEL_PACKED;
    const unsigned size = whole ? t->bytes : t->bytes / t->channels;

    return at && channel < t->channels && !ptxi_init_is_defined((uintptr_t)at + (whole ? 0 : channel * size), size);
}

void ptxi_texel_init_fetch(struct ptxi_texel_shadows *s, unsigned lane, const struct ptxi_texture *t,
                           const struct ptxi_texels *r, unsigned component)
{
    static const uint8_t result_of_texel[] = { 3, 2, 0, 1 }; /* of tld4 */
    unsigned shares = 0;
    uint32_t bits;

    for (unsigned n = 0; n < r->count; n++)
        shares += r->at[n] != NULL;
    bits = shares > 1 && !component ? PTXI_INIT_UNDEFINED_RESULT : UINT32_MAX; /* one texel is a copy */
    for (unsigned n = 0; component && n < r->count; n++)
        if (is_undefined(t, r->at[n], component - 1))
            set_shadow(s, result_of_texel[n], lane, bits);
    for (unsigned n = 0; !component && n < r->count; n++)
        for (unsigned c = 0; c < 4; c++)
            if (is_undefined(t, r->at[n], c))
                set_shadow(s, c, lane, bits);
}

/* Whether the texels with a number are defined in all lanes. Lanes that read neighbours are checked together. */
static bool are_defined(const struct ptxi_warp_texels *r, unsigned n)
{
    uint64_t first = 0, end = 0;

    for (ptxi_lanes left = r->lanes[n]; left; left &= left - 1) {
        uint64_t at = r->at[n][ptxi_first_lane(left)];

        if (at < first || at > end) {
            if (!ptxi_init_is_defined(first, end - first))
                return false;
            first = end = at;
        }
        end = at + r->bytes > end ? at + r->bytes : end;
    }
    return ptxi_init_is_defined(first, end - first);
}

void ptxi_texel_init_together(struct ptxi_texel_shadows *s, ptxi_lanes lanes, const struct ptxi_texture *t,
                              const struct ptxi_warp_texels *r, unsigned component)
{
    bool defined = true;

    for (unsigned n = 0; n < PTXI_TEXELS_TOGETHER && defined; n++)
        defined = are_defined(r, n);
    for (; lanes && !defined; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes);
        struct ptxi_texels own = { .count = 0 };

        for (unsigned n = 0; n < PTXI_TEXELS_TOGETHER; n++) {
            own.at[n] = r->lanes[n] >> l & 1 ? (const unsigned char *)(uintptr_t)r->at[n][l] : NULL;
            own.count = own.at[n] ? n + 1 : own.count;
        }
        ptxi_texel_init_fetch(s, l, t, &own, component);
    }
}
