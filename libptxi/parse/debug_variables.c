/* nvcc puts all variables of a function that are in memory into one .local variable. With -G, the debug data says where
 * they are: at the name of the .local variable and an offset. */
#include "parse/debug_variables.h"

#include "base/hash.h"
#include "parse/dwarf.h"

#include <stdlib.h>
#include <string.h>

/* A name in .debug_info. */
struct place {
    size_t at;
    const struct ptxi_name *name;
};

static struct ptxi_vec *content_of(struct parser *p, enum ptxi_debug_section section)
{
    switch (section) {
    case PTXI_SECTION_STR:
        return &p->debug_str;
    case PTXI_SECTION_INFO:
        return &p->debug_info;
    case PTXI_SECTION_ABBREV:
        return &p->debug_abbrev;
    default:
        return NULL;
    }
}

bool ptxi_debug_add_number(struct parser *p, enum ptxi_debug_section section, uint64_t number, unsigned bits)
{
    struct ptxi_vec *v = content_of(p, section);

    for (unsigned k = 0; v && k < bits; k += 8) {
        char *slot = ptxi_vec_push(p, v, 1);

        if (!slot)
            return false;
        *slot = (char)(number >> k);
    }
    return true;
}

bool ptxi_debug_expects_place(const struct parser *p, enum ptxi_debug_section section, unsigned bits)
{
    enum { OP_ADDR = 3 }; /* the operation of DWARF that such a value belongs to */

    return section == PTXI_SECTION_INFO && bits == 64 && p->debug && p->debug_info.count &&
           p->debug_info.data[p->debug_info.count - 1] == OP_ADDR;
}

bool ptxi_debug_add_place(struct parser *p, const struct ptxi_name *name)
{
    struct place *place = ptxi_vec_push(p, &p->debug_places, sizeof *place);

    if (place)
        *place = (struct place){ p->debug_info.count, name };
    return place;
}

/* --- the variables of a text --- */

/* A .local variable of a function. */
struct local {
    const struct ptxi_name *name;
    struct ptxi_var *var;
    UT_hash_handle hh;
};

/* A part of a .local variable. */
struct found {
    struct ptxi_var *var;
    struct ptxi_var_part part;
};

struct search {
    struct parser *p;
    struct local *locals;
    struct ptxi_vec found;
};

static void add_locals(struct search *s, const struct ptxi_func *f)
{
    struct ptxi_arena *hash_arena = s->p->arena;

    for (uint32_t k = 0; k < f->var_count; k++) {
        struct local *l;

        if (f->vars[k]->space != PTXI_SPACE_LOCAL || f->vars[k]->unsized)
            continue;
        HASH_FIND_PTR(s->locals, &f->vars[k]->name, l);
        if (l) {
            l->var = NULL; /* of two functions */
            continue;
        }
        if (!(l = ARENA_NEW(s->p->arena, struct local, 1)))
            return;
        l->name = f->vars[k]->name;
        l->var = f->vars[k];
        HASH_ADD_PTR(s->locals, name, l);
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static void add_variable(void *ctx, const struct ptxi_dwarf_variable *v)
{
    struct search *s = ctx;
    const struct place key = { .at = v->at }, *place;
    struct local *l = NULL;
    struct found *f;

    place = bsearch(&key, s->p->debug_places.data, s->p->debug_places.count, sizeof key, compare_places);
    if (place)
        HASH_FIND_PTR(s->locals, &place->name, l);
    if (!l || !l->var || !v->size || v->size > l->var->size || v->offset > l->var->size - v->size ||
        l->var->size > UINT32_MAX || !(f = ptxi_vec_push(s->p, &s->found, sizeof *f)))
        return;
    f->var = l->var;
    f->part = (struct ptxi_var_part){ (uint32_t)v->offset, (uint32_t)v->size, v->name };
}

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->var != y->var)
        return (uintptr_t)x->var < (uintptr_t)y->var ? -1 : 1;
    if (x->part.offset != y->part.offset)
        return x->part.offset < y->part.offset ? -1 : 1;
    return (x->part.size > y->part.size) - (x->part.size < y->part.size);
}

static bool is_same(const struct ptxi_var_part *a, const struct ptxi_var_part *b)
{
    return a->offset == b->offset && a->size == b->size && a->name && b->name && !strcmp(a->name, b->name);
}

/* Adds a part after others with lower offsets. Those that overlap become one without a name. Returns their number. */
static uint32_t add_part(struct ptxi_var_part *parts, uint32_t count, struct ptxi_var_part new)
{
    struct ptxi_var_part *last = count ? &parts[count - 1] : NULL;

    if (!last || new.offset - last->offset >= last->size) {
        parts[count] = new;
        return count + 1;
    }
    if (is_same(last, &new))
        return count;
    last->name = NULL;
    if (new.offset - last->offset + new.size > last->size)
        last->size = new.offset - last->offset + new.size;
    return count;
}

/* A name for reports, or NULL. Malformed data may have any bytes. */
static const char *keep_name(struct parser *p, const char *name)
{
    size_t n = 0;

    while (name && name[n] > ' ' && name[n] <= '~')
        n++;
    return n && !name[n] ? ptxi_arena_strndup(p->arena, name, n) : NULL;
}

/* A variable gets the parts from `first` on. Returns their number. */
static size_t set_parts(struct parser *p, const struct found *first, size_t count)
{
    size_t end = 0;
    uint32_t n = 0;
    struct ptxi_var_part *parts;

    while (end < count && first[end].var == first->var)
        end++;
    if (!(parts = ARENA_NEW(p->arena, struct ptxi_var_part, end)))
        return end;
    for (size_t k = 0; k < end; k++)
        n = add_part(parts, n, first[k].part);
    for (uint32_t k = 0; k < n; k++)
        parts[k].name = keep_name(p, parts[k].name);
    first->var->parts = parts;
    first->var->part_count = n;
    return end;
}

static void find_parts(struct parser *p)
{
    const struct ptxi_dwarf d = { (const uint8_t *)p->debug_info.data, (const uint8_t *)p->debug_abbrev.data,
                                  p->debug_info.count, p->debug_abbrev.count };
    struct search s = { .p = p };
    const struct found *found;

    for (size_t k = 0; k < p->funcs.count; k++)
        if (((struct ptxi_body *)p->bodies.data)[k].text == p->text)
            add_locals(&s, ((struct ptxi_func **)p->funcs.data)[k]);
    ptxi_dwarf_find_variables(&d, &s, add_variable);
    found = (const struct found *)s.found.data;
    if (s.found.count)
        qsort(s.found.data, s.found.count, sizeof *found, compare_found);
    for (size_t k = 0; k < s.found.count && !p->arena->oom;)
        k += set_parts(p, found + k, s.found.count - k);
    ptxi_alloc_put(p->arena->alloc, s.found.data);
}

void ptxi_debug_end_text(struct parser *p)
{
    if (p->debug_places.count && !p->arena->oom)
        find_parts(p);
    p->debug_places.count = p->debug_info.count = p->debug_abbrev.count = 0;
}
