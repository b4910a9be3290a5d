/* Name scopes. One hash table holds every name of the module; each name knows its meanings, innermost first, and each
 * scope which meanings end with it. */
#include "parse/parser.h"

struct numbered { /* a name seen as a prefix and the number at its end */
    size_t prefix;
    uint32_t number;
};

/* %r17 and %r017 are both number 17 of %r<100>; the prefix itself does not end in a digit. */
static bool split(const char *s, size_t n, struct numbered *out)
{
    uint64_t v = 0;
    size_t at = n;

    while (at && s[at - 1] >= '0' && s[at - 1] <= '9')
        at--;
    if (at == n || !at || n - at > 18)
        return false;
    for (size_t i = at; i < n; i++)
        v = v * 10 + (uint64_t)(s[i] - '0');
    out->prefix = at;
    out->number = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
    return true;
}

static struct ptxi_entry *find_entry(const struct parser *p, const char *s, size_t n)
{
    struct ptxi_entry *e;

    HASH_FIND_BYHASHVALUE(hh, p->names.table, s, n, ptxi_hash_bytes(s, n), e);
    return e;
}

/* The same for the prefix of a register's name; entries are never taken away, so what is remembered stays true. */
static struct ptxi_entry *find_prefix(struct parser *p, const char *s, size_t n)
{
    unsigned at = ((unsigned char)s[n - 1] ^ (unsigned char)s[n / 2] << 3 ^ (unsigned)n << 5) % 64;
    struct ptxi_entry *e = p->names.recent[at];

    if (e && e->name->len == n) {
        const char *t = e->name->s;
        size_t i = 0;

        while (i < n && s[i] == t[i])
            i++;
        if (i == n)
            return e;
    }
    if ((e = find_entry(p, s, n)))
        p->names.recent[at] = e;
    return e;
}

struct ptxi_entry *ptxi_scope_entry(struct parser *p, const char *s, size_t n)
{
    struct ptxi_arena *hash_arena = p->arena;
    struct ptxi_entry *e = find_entry(p, s, n);

    if (e)
        return e;
    e = ARENA_NEW(p->arena, struct ptxi_entry, 1);
    if (!e || !(e->name = ptxi_intern(p->tree->names, s, n)))
        return NULL;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, p->names.table, e->name->s, n, ptxi_hash_bytes(s, n), e);
    if (HASH_ADDED(hh, e))
        return e;
    p->arena->oom = true;
    return NULL;
}

bool ptxi_scope_open(struct parser *p)
{
    if (p->names.depth + 1 == PTXI_MAX_SCOPES) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "braces are nested more than %d deep", PTXI_MAX_SCOPES - 2);
        return false;
    }
    struct ptxi_scope *s = &p->names.scopes[++p->names.depth];

    *s = (struct ptxi_scope){ .refs_end = &s->refs };
    return true;
}

static void add_ref(struct ptxi_scope *s, struct ptxi_label_ref *r)
{
    r->next = NULL;
    *s->refs_end = r;
    s->refs_end = &r->next;
}

static void drop_ref(struct parser *p, struct ptxi_label_ref *r)
{
    r->next = p->names.free_refs;
    p->names.free_refs = r;
}

static void close_refs(struct parser *p, struct ptxi_scope *s)
{
    unsigned depth = p->names.depth;

    for (struct ptxi_label_ref *r = s->refs, *next; r; r = next) {
        struct ptxi_sym *label = r->entry->meaning[PTXI_CHAIN_LABEL];

        next = r->next;
        if (label && label->depth == depth && label->kind == PTXI_SYM_LABEL) {
            *r->slot = label->target;
            drop_ref(p, r);
        } else if (depth > 1) {
            add_ref(&s[-1], r);
        } else {
            ptxi_parse_error(p, r->loc, "label '%s' is not defined in this function", r->entry->name->s);
            drop_ref(p, r);
        }
    }
}

void ptxi_scope_close(struct parser *p)
{
    struct ptxi_scope *s = &p->names.scopes[p->names.depth];

    close_refs(p, s);
    for (struct ptxi_sym *sym = s->syms, *next; sym; sym = next) {
        next = sym->sibling;
        sym->entry->meaning[sym->chain] = sym->outer;
        sym->sibling = p->names.free_syms;
        p->names.free_syms = sym;
    }
    p->names.depth--;
}

static bool has_linkage(const struct ptxi_sym *sym)
{
    return (sym->kind == PTXI_SYM_FUNC && sym->func->linkage != PTXI_LINK_STATIC) ||
           (sym->kind == PTXI_SYM_VAR && sym->var->linkage != PTXI_LINK_STATIC);
}

void ptxi_scope_end_part(struct parser *p)
{
    struct ptxi_scope *s = &p->names.scopes[0];

    for (struct ptxi_sym *sym = s->syms; sym; sym = sym->sibling) {
        sym->entry->meaning[sym->chain] = NULL;
        if (has_linkage(sym))
            sym->entry->linked = sym;
    }
    s->syms = NULL;
}

struct ptxi_sym *ptxi_scope_take_up(struct parser *p, struct ptxi_entry *e)
{
    struct ptxi_scope *s = &p->names.scopes[0];
    struct ptxi_sym *sym = e->linked;

    if (!sym)
        return NULL;
    e->meaning[sym->chain] = sym;
    sym->sibling = s->syms;
    s->syms = sym;
    return sym;
}

static void report_duplicate(struct parser *p, struct ptxi_loc loc, const char *s, size_t n, const struct ptxi_sym *first)
{
    ptxi_parse_error(p, loc, "'%.*s' is already defined in this scope", (int)n, s);
    ptxi_parse_note(p, first->loc, "first defined here");
}

/* A meaning of exactly this name in the innermost scope. */
static struct ptxi_sym *taken(const struct parser *p, const struct ptxi_entry *e)
{
    for (int chain = 0; chain < PTXI_CHAINS; chain++) {
        struct ptxi_sym *sym = e->meaning[chain];

        if (chain != PTXI_CHAIN_RANGE && sym && sym->depth == p->names.depth)
            return sym;
    }
    return NULL;
}

/* A range of this scope that holds the name. */
static struct ptxi_sym *taken_by_range(const struct parser *p, const char *s, size_t n)
{
    struct numbered parts;
    struct ptxi_entry *e = split(s, n, &parts) ? find_entry(p, s, parts.prefix) : NULL;
    struct ptxi_sym *sym = e ? e->meaning[PTXI_CHAIN_RANGE] : NULL;

    return sym && sym->depth == p->names.depth && parts.number < sym->count ? sym : NULL;
}

/* For a new range: a name of this scope that it would hold. */
static struct ptxi_sym *taken_in_range(const struct parser *p, const struct ptxi_entry *e, uint32_t range)
{
    size_t n = e->name->len;

    if (e->meaning[PTXI_CHAIN_RANGE] && e->meaning[PTXI_CHAIN_RANGE]->depth == p->names.depth)
        return e->meaning[PTXI_CHAIN_RANGE];
    if (!e->numbered_names)
        return NULL;
    for (struct ptxi_sym *sym = p->names.scopes[p->names.depth].syms; sym; sym = sym->sibling) {
        const struct ptxi_name *name = sym->entry->name;
        struct numbered parts;

        if (sym->chain == PTXI_CHAIN_EXACT && split(name->s, name->len, &parts) && parts.prefix == n && !memcmp(name->s, e->name->s, n) &&
            parts.number < range)
            return sym;
    }
    return NULL;
}

/* Tells the prefix of a name that the name stands for itself, so that lookups of prefix + number ask for it, too. */
static bool mark_prefix(struct parser *p, const char *s, size_t n)
{
    struct numbered parts;
    struct ptxi_entry *e;

    if (!split(s, n, &parts))
        return true;
    if (!(e = ptxi_scope_entry(p, s, parts.prefix)))
        return false;
    e->numbered_names = true;
    return true;
}

static struct ptxi_sym *new_sym(struct parser *p)
{
    struct ptxi_sym *sym = p->names.free_syms;

    if (!sym)
        return ARENA_NEW(p->arena, struct ptxi_sym, 1);
    p->names.free_syms = sym->sibling;
    memset(sym, 0, sizeof *sym);
    return sym;
}

struct ptxi_sym *ptxi_scope_add(struct parser *p, enum ptxi_sym_kind kind, enum ptxi_chain chain, const char *s, size_t n, struct ptxi_loc loc,
                                uint32_t range)
{
    struct ptxi_scope *scope = &p->names.scopes[p->names.depth];
    struct ptxi_entry *e = ptxi_scope_entry(p, s, n);
    struct ptxi_sym *sym, *old;

    if (!e)
        return NULL;
    old = chain == PTXI_CHAIN_RANGE ? taken_in_range(p, e, range) : taken(p, e);
    if (!old && chain != PTXI_CHAIN_RANGE)
        old = taken_by_range(p, s, n);
    if (old) {
        report_duplicate(p, loc, s, n, old);
        return NULL;
    }
    if ((chain == PTXI_CHAIN_EXACT && !mark_prefix(p, s, n)) || !(sym = new_sym(p)))
        return NULL;
    sym->kind = (uint8_t)kind;
    sym->chain = (uint8_t)chain;
    sym->depth = (uint16_t)p->names.depth;
    sym->text = p->text;
    sym->loc = loc;
    sym->entry = e;
    sym->count = range;
    sym->outer = e->meaning[chain];
    e->meaning[chain] = sym;
    sym->sibling = scope->syms;
    scope->syms = sym;
    return sym;
}

/* The innermost range of this prefix that reaches the number. */
static struct ptxi_sym *range_with(const struct ptxi_entry *e, uint32_t number)
{
    struct ptxi_sym *sym = e->meaning[PTXI_CHAIN_RANGE];

    while (sym && number >= sym->count)
        sym = sym->outer;
    return sym;
}

static bool found(struct ptxi_found *out, struct ptxi_sym *sym, uint32_t index)
{
    out->sym = sym;
    out->index = index;
    return sym != NULL;
}

bool ptxi_scope_find(struct parser *p, const char *s, size_t n, struct ptxi_found *out)
{
    struct numbered parts;
    struct ptxi_sym *range = NULL, *label;
    struct ptxi_entry *e;

    if (split(s, n, &parts) && (e = find_prefix(p, s, parts.prefix)) && (range = range_with(e, parts.number)) && !e->numbered_names)
        return found(out, range, parts.number); /* %r17 of %r<100>, as compilers write all registers */
    e = find_entry(p, s, n);
    found(out, e ? e->meaning[PTXI_CHAIN_EXACT] : NULL, 0);
    if (range && (!out->sym || range->depth > out->sym->depth))
        found(out, range, parts.number);
    label = e ? e->meaning[PTXI_CHAIN_LABEL] : NULL;
    if (label && label->kind != PTXI_SYM_LABEL && (!out->sym || label->depth > out->sym->depth))
        found(out, label, 0);
    return out->sym != NULL;
}

bool ptxi_scope_use_label(struct parser *p, const char *s, size_t n, struct ptxi_loc loc, uint32_t *slot)
{
    struct ptxi_scope *scope = &p->names.scopes[p->names.depth];
    struct ptxi_entry *e = ptxi_scope_entry(p, s, n);
    struct ptxi_label_ref *r = p->names.free_refs;
    struct ptxi_sym *label;

    if (!e)
        return false;
    label = e->meaning[PTXI_CHAIN_LABEL];
    if (label && label->depth == p->names.depth && label->kind == PTXI_SYM_LABEL) {
        *slot = label->target;
        return true;
    }
    /* one further on in this scope would hide one of an outer scope */
    if (r)
        p->names.free_refs = r->next;
    else if (!(r = ARENA_NEW(p->arena, struct ptxi_label_ref, 1)))
        return false;
    *r = (struct ptxi_label_ref){ NULL, e, loc, slot };
    add_ref(scope, r);
    return true;
}
