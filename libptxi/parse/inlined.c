/* PTX ISA, "Debugging Directives: .loc". The place in inlined_at may be inlined itself. Its own .loc says so: it is the
 * last one of this place in the function. */
#include "parse/inlined.h"

struct place_key {
    uint32_t file, line, column;
};

/* A call of a function with a name that is not resolved yet, because the names follow at the end of the text. */
struct ptxi_inlined_name {
    struct ptxi_inlined_call call; /* of the syntax tree */
    struct ptxi_inlined_label label;
    struct ptxi_inlined_name *next;
};

/* A place with code of an inlined function. */
struct ptxi_inlined_place {
    struct place_key key;
    const struct ptxi_func *function; /* places of another function are unknown */
    struct ptxi_inlined_name *last;   /* NULL: the code is the function's own */
    UT_hash_handle hh;
};

static struct place_key key_of(const struct ptxi_source_line *s)
{
    return (struct place_key){ s->file, s->line, s->column };
}

static struct ptxi_inlined_place *find_place(struct parser *p, const struct ptxi_source_line *s)
{
    struct place_key key = key_of(s);
    struct ptxi_inlined_place *found;

    HASH_FIND(hh, p->inlined_places, &key, sizeof key, found);
    if (found && found->function != p->fn) {
        found->function = p->fn;
        found->last = NULL;
    }
    return found;
}

static struct ptxi_inlined_place *add_place(struct parser *p, const struct ptxi_source_line *s)
{
    struct ptxi_arena *hash_arena = p->arena;
    struct ptxi_inlined_place *place = ARENA_NEW(p->arena, struct ptxi_inlined_place, 1);

    if (!place)
        return NULL;
    place->key = key_of(s);
    place->function = p->fn;
    HASH_ADD(hh, p->inlined_places, key, sizeof place->key, place);
    if (HASH_ADDED(hh, place))
        return place;
    p->arena->oom = true;
    return NULL;
}

static bool is_same(const struct ptxi_inlined_name *n, const struct ptxi_inlined_call *call,
                    const struct ptxi_inlined_label *label)
{
    return n->label.entry == label->entry && n->label.offset == label->offset && n->call.file == call->file &&
           n->call.line == call->line && n->call.column == call->column && n->call.caller == call->caller;
}

static struct ptxi_inlined_name *add_name(struct parser *p, const struct ptxi_inlined_call *call,
                                          const struct ptxi_inlined_label *label)
{
    struct ptxi_inlined_name *n = ARENA_NEW(p->arena, struct ptxi_inlined_name, 1);

    if (!n)
        return NULL;
    *n = (struct ptxi_inlined_name){ *call, *label, p->inlined_names };
    return p->inlined_names = n;
}

bool ptxi_inlined_note(struct parser *p, const struct ptxi_source_line *call, const struct ptxi_inlined_label *name)
{
    struct ptxi_source_line *here = &p->mark.source;
    struct ptxi_inlined_place *place = find_place(p, here), *outer;

    if (!call) {
        if (place)
            place->last = NULL;
        return true;
    }
    outer = find_place(p, call);
    struct ptxi_inlined_call made = { NULL, call->file, call->line, call->column,
                                      outer && outer->last ? &outer->last->call : NULL };

    if (!place && !(place = add_place(p, here)))
        return false;
    if ((!place->last || !is_same(place->last, &made, name)) && !(place->last = add_name(p, &made, name)))
        return false;
    here->inlined = &place->last->call;
    return true;
}

void ptxi_inlined_end_text(struct parser *p)
{
    size_t size = p->debug_str.count;
    char *strings = p->inlined_names && size ? ptxi_arena_alloc(p->arena, size + 1, 1) : NULL;

    if (strings)
        memcpy(strings, p->debug_str.data, size); /* the arena's memory is zeroed, so that the last one ends, too */
    for (struct ptxi_inlined_name *n = p->inlined_names; n && strings; n = n->next) {
        const struct ptxi_entry *e = n->label.entry;
        uint64_t at = e->string_offset + n->label.offset;

        if (e->section_text == p->text + 1u && e->in_debug_str && n->label.offset <= size && at < size)
            n->call.function = strings + at;
    }
    p->inlined_names = NULL;
    p->debug_str.count = 0;
}
