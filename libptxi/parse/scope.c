/* Name scopes: declaration and lookup of registers, variables, functions and labels. */
#include "parse/symbol.h"

#include "parse/parser.h"

/* A name as a prefix and the number at its end. */
struct numbered_parts {
    size_t prefix; /* length */
    uint32_t number;
};

/* %r17 and %r017 are both number 17 of %r<100>. The prefix itself does not end in a digit. False if there is no
 * number. */
static bool split_number(const char *s, size_t n, struct numbered_parts *out)
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

/* The same for the prefix of a register's name, through a cache. Entries are never removed, so the cache stays
 * valid. */
static struct ptxi_entry *find_prefix(struct parser *p, const char *s, size_t n)
{
    enum { SIZE = sizeof p->names.recent / sizeof *p->names.recent };
    unsigned at = ((unsigned char)s[n - 1] ^ (unsigned char)s[n / 2] << 3 ^ (unsigned)n << 5) % SIZE;
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
    if (!e || !(e->name = ptxi_intern(p->ast->names, s, n)))
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
        ptxi_parse_error(p, ptxi_parse_loc(p), "blocks are nested too deeply: at most %d levels are accepted",
                         PTXI_MAX_SCOPES - 2);
        return false;
    }
    struct ptxi_scope *s = &p->names.scopes[++p->names.depth];

    *s = (struct ptxi_scope){ .refs_end = &s->refs };
    return true;
}

static void append_ref(struct ptxi_scope *s, struct ptxi_label_ref *r)
{
    r->next = NULL;
    *s->refs_end = r;
    s->refs_end = &r->next;
}

static void free_ref(struct parser *p, struct ptxi_label_ref *r)
{
    r->next = p->names.free_refs;
    p->names.free_refs = r;
}

/* Resolves the label references of the innermost scope, or passes them to the outer one. */
static void resolve_refs(struct parser *p, struct ptxi_scope *s)
{
    unsigned depth = p->names.depth;

    for (struct ptxi_label_ref *r = s->refs, *next; r; r = next) {
        struct ptxi_sym *label = r->entry->meaning[PTXI_CHAIN_LABEL];

        next = r->next;
        if (label && label->depth == depth && label->kind == PTXI_SYM_LABEL) {
            *r->slot = label->target;
            free_ref(p, r);
        } else if (depth > 1) {
            append_ref(&s[-1], r);
        } else {
            ptxi_parse_error(p, r->loc, "label '%s' is not defined in this function", r->entry->name->s);
            free_ref(p, r);
        }
    }
}

void ptxi_scope_close(struct parser *p)
{
    struct ptxi_scope *s = &p->names.scopes[p->names.depth];

    assert(p->names.depth > 0);
    resolve_refs(p, s);
    for (struct ptxi_sym *sym = s->syms, *next; sym; sym = next) {
        next = sym->sibling;
        /* all meanings of deeper scopes have ended, so this one is the innermost */
        assert(sym->entry->meaning[sym->chain] == sym && sym->depth == p->names.depth);
        assert(!sym->outer || sym->outer->depth < sym->depth);
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

    assert(p->names.depth == 0);
    for (struct ptxi_sym *sym = s->syms; sym; sym = sym->sibling) {
        sym->entry->meaning[sym->chain] = NULL;
        if (has_linkage(sym))
            sym->entry->linked = sym;
    }
    s->syms = NULL;
}

struct ptxi_sym *ptxi_scope_adopt_linked(struct parser *p, struct ptxi_entry *e)
{
    struct ptxi_scope *s = &p->names.scopes[0];
    struct ptxi_sym *sym = e->linked;

    if (!sym)
        return NULL;
    assert(sym->entry == e && ptxi_parse_linked(p, sym->text));
    e->meaning[sym->chain] = sym;
    sym->sibling = s->syms;
    s->syms = sym;
    return sym;
}

static void report_duplicate(struct parser *p, struct ptxi_loc loc, const char *s, size_t n,
                             const struct ptxi_sym *first)
{
    ptxi_parse_error(p, loc, "redefinition of '%.*s' in the same scope", (int)n, s);
    ptxi_parse_note(p, first->loc, "previous definition is here");
}

/* The meaning of exactly this name in the innermost scope, or NULL. */
static struct ptxi_sym *find_in_scope(const struct parser *p, const struct ptxi_entry *e)
{
    for (int chain = 0; chain < PTXI_CHAINS; chain++) {
        struct ptxi_sym *sym = e->meaning[chain];

        if (chain != PTXI_CHAIN_RANGE && sym && sym->depth == p->names.depth)
            return sym;
    }
    return NULL;
}

/* The range of the innermost scope that contains the name, or NULL. */
static struct ptxi_sym *find_covering_range(const struct parser *p, const char *s, size_t n)
{
    struct numbered_parts parts;
    struct ptxi_entry *e = split_number(s, n, &parts) ? find_entry(p, s, parts.prefix) : NULL;
    struct ptxi_sym *sym = e ? e->meaning[PTXI_CHAIN_RANGE] : NULL;

    return sym && sym->depth == p->names.depth && parts.number < sym->count ? sym : NULL;
}

/* For a new range: a name of the innermost scope that the range would contain, or NULL. */
static struct ptxi_sym *find_covered_name(const struct parser *p, const struct ptxi_entry *e, uint32_t range)
{
    size_t n = e->name->len;

    if (e->meaning[PTXI_CHAIN_RANGE] && e->meaning[PTXI_CHAIN_RANGE]->depth == p->names.depth)
        return e->meaning[PTXI_CHAIN_RANGE];
    if (!e->numbered_names)
        return NULL;
    for (struct ptxi_sym *sym = p->names.scopes[p->names.depth].syms; sym; sym = sym->sibling) {
        const struct ptxi_name *name = sym->entry->name;
        struct numbered_parts parts;

        if (sym->chain == PTXI_CHAIN_EXACT && split_number(name->s, name->len, &parts) && parts.prefix == n &&
            !memcmp(name->s, e->name->s, n) && parts.number < range)
            return sym;
    }
    return NULL;
}

/* Records at the prefix of a name that the name is declared separately, so that lookups of prefix + number check for
 * it. */
static bool mark_prefix(struct parser *p, const char *s, size_t n)
{
    struct numbered_parts parts;
    struct ptxi_entry *e;

    if (!split_number(s, n, &parts))
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

struct ptxi_sym *ptxi_scope_add(struct parser *p, enum ptxi_sym_kind kind, enum ptxi_chain chain, const char *s,
                                size_t n, struct ptxi_loc loc, uint32_t range)
{
    struct ptxi_scope *scope = &p->names.scopes[p->names.depth];
    struct ptxi_entry *e = ptxi_scope_entry(p, s, n);
    struct ptxi_sym *sym, *old;

    if (!e)
        return NULL;
    old = chain == PTXI_CHAIN_RANGE ? find_covered_name(p, e, range) : find_in_scope(p, e);
    if (!old && chain != PTXI_CHAIN_RANGE)
        old = find_covering_range(p, s, n);
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
    assert(!sym->outer || sym->outer->depth <= sym->depth);
    e->meaning[chain] = sym;
    sym->sibling = scope->syms;
    scope->syms = sym;
    return sym;
}

/* The innermost range of this prefix that reaches the number. */
/* The innermost range of this prefix that contains the number, or NULL. */
static struct ptxi_sym *find_range_with(const struct ptxi_entry *e, uint32_t number)
{
    struct ptxi_sym *sym = e->meaning[PTXI_CHAIN_RANGE];

    while (sym && number >= sym->count)
        sym = sym->outer;
    return sym;
}

static bool set_found(struct ptxi_found *out, struct ptxi_sym *sym, uint32_t index)
{
    out->sym = sym;
    out->index = index;
    return sym != NULL;
}

bool ptxi_scope_find(struct parser *p, const char *s, size_t n, struct ptxi_found *out)
{
    struct numbered_parts parts;
    struct ptxi_sym *range = NULL, *label;
    struct ptxi_entry *e;

    if (split_number(s, n, &parts) && (e = find_prefix(p, s, parts.prefix)) &&
        (range = find_range_with(e, parts.number)) && !e->numbered_names)
        return set_found(out, range, parts.number); /* the usual case: %r17 of %r<100> */
    e = find_entry(p, s, n);
    set_found(out, e ? e->meaning[PTXI_CHAIN_EXACT] : NULL, 0);
    if (range && (!out->sym || range->depth > out->sym->depth))
        set_found(out, range, parts.number);
    label = e ? e->meaning[PTXI_CHAIN_LABEL] : NULL;
    if (label && label->kind != PTXI_SYM_LABEL && (!out->sym || label->depth > out->sym->depth))
        set_found(out, label, 0);
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
    /* a label of an outer scope does not count: one that follows in this scope would hide it */
    if (r)
        p->names.free_refs = r->next;
    else if (!(r = ARENA_NEW(p->arena, struct ptxi_label_ref, 1)))
        return false;
    *r = (struct ptxi_label_ref){ NULL, e, loc, slot };
    append_ref(scope, r);
    return true;
}
