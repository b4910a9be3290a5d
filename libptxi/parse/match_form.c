/* From an instruction's name and qualifiers as written to the rows of the table that they can mean, once a spelling. */
#include "parse/parser.h"

#include "isa/op.gen.h"

enum { MAX_QUALIFIERS = 24, MAX_NOTES = 4, MAX_ALTERNATIVES = 40 };

struct parts { /* an opcode taken apart */
    const char *mnemonic;
    size_t length;
    struct { const char *s; size_t n; } quals[MAX_QUALIFIERS];
    uint16_t words[MAX_QUALIFIERS];
    unsigned count;
};

static size_t until_dot(const char *s, const char *end)
{
    const char *dot = memchr(s, '.', (size_t)(end - s));

    return (size_t)((dot ? dot : end) - s);
}

static bool take_apart(const struct ptxi_token *op, struct parts *out)
{
    const char *p = op->s, *end = op->s + op->n;

    out->mnemonic = p;
    out->length = until_dot(p, end);
    out->count = 0;
    for (p += out->length; p < end; p += out->quals[out->count++].n) {
        if (out->count == MAX_QUALIFIERS)
            return false;
        p++;
        out->quals[out->count].s = p;
        out->quals[out->count].n = until_dot(p, end);
        out->words[out->count] = ptxi_isa_word(p, out->quals[out->count].n);
    }
    return true;
}

/* ---- the text of messages ---- */

static void put_slot(struct ptxi_str *out, const struct ptxi_slot *slot)
{
    ptxi_str_puts(out, slot->optional ? "{." : ".");
    if (slot->word_count > 1)
        ptxi_str_putc(out, '(');
    for (unsigned i = 0; i < slot->word_count; i++) {
        if (i == MAX_ALTERNATIVES) {
            ptxi_str_puts(out, "|...");
            break;
        }
        ptxi_str_puts(out, i ? "|" : "");
        ptxi_str_puts(out, ptxi_words[slot->words[i]]);
    }
    ptxi_str_puts(out, slot->word_count > 1 ? ")" : "");
    ptxi_str_puts(out, slot->optional ? "}" : "");
}

static void put_row(struct ptxi_str *out, const struct ptxi_row *row)
{
    ptxi_str_puts(out, row->mnemonic);
    for (unsigned i = 0; i < row->slot_count; i++)
        put_slot(out, &row->slots[i]);
}

static void put_operands(struct ptxi_str *out, const struct ptxi_row *row)
{
    for (unsigned i = 0; i < row->spec_count; i++) {
        const struct ptxi_opspec *s = &row->specs[i];
        bool inside = s->flags & PTXI_OPF_COORDS, more = i + 1 < row->spec_count && (row->specs[i + 1].flags & PTXI_OPF_COORDS);

        ptxi_str_puts(out, i == 0 ? " " : (s->flags & PTXI_OPF_PAIR) ? "" : ", ");
        if (s->flags & PTXI_OPF_OPTIONAL)
            ptxi_str_puts(out, "{");
        if (s->flags & PTXI_OPF_PAIR)
            ptxi_str_puts(out, "|");
        ptxi_str_printf(out, s->kind == PTXI_OPK_ADDRESS ? "[%s" : "%s", s->name);
        if ((s->kind == PTXI_OPK_ADDRESS || inside) && !more)
            ptxi_str_puts(out, "]");
        if (s->flags & PTXI_OPF_OPTIONAL)
            ptxi_str_puts(out, "}");
    }
}

void ptxi_spell_note_accepted(struct parser *p, const struct ptxi_row *row)
{
    struct ptxi_str s;

    ptxi_str_init(&s, p->arena->alloc);
    put_row(&s, row);
    put_operands(&s, row);
    ptxi_parse_note(p, PTXI_LOC_NONE, "accepted: %s (PTX ISA, \"%s\")", ptxi_str_text(&s), row->section);
    ptxi_str_free(&s);
}

/* The qualifiers that a row would take, without its operands. */
static void note_forms(struct parser *p, const struct ptxi_row *const *rows, unsigned count)
{
    struct ptxi_str s, seen;

    ptxi_str_init(&s, p->arena->alloc);
    ptxi_str_init(&seen, p->arena->alloc);
    for (unsigned i = 0, shown = 0; i < count && shown < MAX_NOTES; i++) {
        ptxi_str_clear(&s);
        ptxi_str_putc(&s, '\n');
        put_row(&s, rows[i]);
        ptxi_str_putc(&s, '\n');
        if (s.oom || strstr(ptxi_str_text(&seen), ptxi_str_text(&s)))
            continue;
        ptxi_str_puts(&seen, ptxi_str_text(&s));
        ptxi_parse_note(p, PTXI_LOC_NONE, "accepted: %.*s (PTX ISA, \"%s\")", (int)s.len - 2, ptxi_str_text(&s) + 1, rows[i]->section);
        shown++;
    }
    ptxi_str_free(&s);
    ptxi_str_free(&seen);
}

/* ---- what is wrong with a spelling that no row takes ---- */

static unsigned distance(const char *a, size_t n, const char *b)
{
    unsigned row[33], m = (unsigned)strlen(b);

    if (n > 32 || m > 32)
        return 99;
    for (unsigned j = 0; j <= m; j++)
        row[j] = j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned diagonal = row[0]++;

        for (unsigned j = 1; j <= m; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

static void report_unknown(struct parser *p, struct ptxi_loc loc, const struct parts *q)
{
    const char *best = NULL;
    unsigned least = q->length > 3 ? 3 : 2;

    loc.len = (uint32_t)q->length;
    for (unsigned i = 0; i < ptxi_family_count; i++) {
        unsigned d = distance(q->mnemonic, q->length, ptxi_families[i].mnemonic);

        if (d < least) {
            least = d;
            best = ptxi_families[i].mnemonic;
        }
    }
    ptxi_parse_error(p, loc, "unknown instruction '%.*s'", (int)q->length, q->mnemonic);
    if (best)
        ptxi_parse_note(p, PTXI_LOC_NONE, "did you mean '%s'?", best);
}

/* All qualifiers but one. */
static unsigned without(const struct parts *q, unsigned skip, uint16_t *words)
{
    unsigned n = 0;

    for (unsigned i = 0; i < q->count; i++)
        if (i != skip)
            words[n++] = q->words[i];
    return n;
}

/* Rows in which all the qualifiers have a place, and of these the ones that miss the fewest others. */
static unsigned placed(const struct ptxi_family *f, const uint16_t *words, unsigned count, const struct ptxi_row **rows, unsigned max, bool *full)
{
    unsigned n = 0, bad, least = UINT32_MAX;
    struct ptxi_match m;

    for (unsigned i = 0; i < f->count; i++) {
        const struct ptxi_row *row = &ptxi_rows[f->first + i];
        unsigned missing = 0;

        if (!ptxi_isa_match(row, words, count, &m, &bad) && bad != count)
            continue;
        for (unsigned s = 0; s < row->slot_count; s++)
            missing += !row->slots[s].optional && m.words[s] == PTXI_NO_WORD;
        if (missing < least) {
            least = missing;
            n = 0;
        }
        if (missing == least && n < max)
            rows[n++] = row;
    }
    *full = least == 0;
    return n;
}

/* The first slot of a row that the qualifiers leave empty and must not. */
static const struct ptxi_slot *missing_slot(const struct ptxi_row *row, const struct parts *q)
{
    struct ptxi_match m;
    unsigned bad;

    ptxi_isa_match(row, q->words, q->count, &m, &bad);
    for (unsigned i = 0; i < row->slot_count; i++)
        if (!row->slots[i].optional && m.words[i] == PTXI_NO_WORD)
            return &row->slots[i];
    return NULL;
}

/* What one or the other row misses: "'mul.u32' needs .lo or .hi". */
static void report_missing(struct parser *p, struct ptxi_loc loc, const struct ptxi_token *op, const struct parts *q,
                           const struct ptxi_row *const *rows, unsigned count)
{
    struct ptxi_str s, one;
    unsigned shown = 0;

    ptxi_str_init(&s, p->arena->alloc);
    ptxi_str_init(&one, p->arena->alloc);
    for (unsigned i = 0; i < count && shown < MAX_NOTES; i++) {
        const struct ptxi_slot *slot = missing_slot(rows[i], q);

        ptxi_str_clear(&one);
        if (slot)
            put_slot(&one, slot);
        if (!slot || strstr(ptxi_str_text(&s), ptxi_str_text(&one)))
            continue;
        ptxi_str_printf(&s, "%s%s", shown++ ? " or " : "", ptxi_str_text(&one));
    }
    ptxi_parse_error(p, loc, "'%.*s' needs %s", (int)op->n, op->s, ptxi_str_text(&s));
    ptxi_str_free(&s);
    ptxi_str_free(&one);
}

static void report_modifier(struct parser *p, struct ptxi_loc loc, const struct ptxi_token *op, const struct parts *q, unsigned which)
{
    const char *w = q->quals[which].s;
    size_t n = q->quals[which].n;
    const char *end = w + n;

    if (op->s + op->n > w && op->s <= w && loc.len == op->n) { /* not put together from pieces */
        loc.col += (uint32_t)(w - 1 - op->s);
        loc.len = (uint32_t)n + 1;
    }
    ptxi_parse_error(p, loc, "'%.*s%.*s' has no modifier '.%.*s'", (int)(w - 1 - op->s), op->s, (int)(op->s + op->n - end), end, (int)n, w);
}

/* True if all that is wrong is a qualifier of the head that stands too late. */
static bool report_late(struct parser *p, struct ptxi_loc loc, const struct ptxi_token *op, const struct parts *q, const struct ptxi_family *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        const struct ptxi_row *row = &ptxi_rows[f->first + i];
        int late = ptxi_isa_late(row, q->words, q->count);

        if (late < 0)
            continue;
        ptxi_parse_error(p, loc, "'.%.*s' of '%.*s' stands too late", (int)q->quals[late].n, q->quals[late].s, (int)op->n, op->s);
        note_forms(p, &row, 1);
        return true;
    }
    return false;
}

static void report_no_row(struct parser *p, struct ptxi_loc loc, const struct ptxi_token *op, const struct parts *q, const struct ptxi_family *f)
{
    const struct ptxi_row *rows[64];
    uint16_t words[MAX_QUALIFIERS];
    unsigned n, best = UINT32_MAX;
    bool full;

    if (report_late(p, loc, op, q, f))
        return;
    n = placed(f, q->words, q->count, rows, 64, &full);
    if (n) {
        report_missing(p, loc, op, q, rows, n);
        note_forms(p, rows, n);
        return;
    }
    for (unsigned i = 0; i < q->count; i++) {
        n = placed(f, words, without(q, i, words), rows, 64, &full);
        if (n && (best == UINT32_MAX || full)) {
            best = i;
            if (full)
                break;
        }
    }
    if (best != UINT32_MAX) {
        n = placed(f, words, without(q, best, words), rows, 64, &full);
        report_modifier(p, loc, op, q, best);
        note_forms(p, rows, n);
        return;
    }
    for (n = 0; n < f->count && n < 64; n++)
        rows[n] = &ptxi_rows[f->first + n];
    ptxi_parse_error(p, loc, "'%.*s' is not a form of '%s'", (int)op->n, op->s, f->mnemonic);
    note_forms(p, rows, n);
}

/* ---- what a spelling needs ---- */

static void put_targets(struct ptxi_str *s, const struct ptxi_target *t, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        ptxi_str_printf(s, "%ssm_%u", i == 0 ? "" : i + 1 < count ? ", " : " or ", t[i].sm);
        if (t[i].suffix)
            ptxi_str_putc(s, t[i].suffix);
    }
    if (count == 1 && !t->suffix)
        ptxi_str_puts(s, " or higher");
}

static bool target_fits(const struct ptxi_target *t, unsigned count, struct ptxi_target have)
{
    struct ptxi_row row = { .targets = t, .target_count = (uint8_t)count };

    return ptxi_isa_target_ok(&row, have);
}

static void report_need(struct parser *p, struct ptxi_loc loc, const char *s, size_t n, const struct ptxi_need *need, const struct ptxi_row *row)
{
    struct ptxi_str out;

    ptxi_str_init(&out, p->arena->alloc);
    if (need->word != PTXI_NO_WORD)
        ptxi_str_printf(&out, "'.%s' of ", ptxi_words[need->word]);
    ptxi_str_printf(&out, "'%.*s' ", (int)n, s);
    if (p->version < need->ptx)
        ptxi_str_printf(&out, "requires PTX %u.%u or later", need->ptx / 10, need->ptx % 10);
    else if (target_fits(need->targets, need->target_count, p->target))
        ptxi_str_printf(&out, "was removed in PTX %u.%u for .target sm_70 and higher", row->ptx_end / 10, row->ptx_end % 10);
    else
        ptxi_str_puts(&out, "requires .target ");
    if (p->version >= need->ptx && !target_fits(need->targets, need->target_count, p->target))
        put_targets(&out, need->targets, need->target_count);
    ptxi_parse_error(p, loc, "%s", ptxi_str_text(&out));
    ptxi_str_free(&out);
}

/* sm_101 became sm_110 in PTX 9.0: what either may do, both may. */
static const struct ptxi_need *lacks(const struct parser *p, const struct ptxi_match *m, struct ptxi_need *need)
{
    struct ptxi_target t = p->target;

    if (t.sm == 101 || t.sm == 110) {
        t.sm = t.sm == 101 ? 110 : 101;
        if (!ptxi_isa_lacks(m, p->version, t, need))
            return NULL;
    }
    return ptxi_isa_lacks(m, p->version, p->target, need);
}

void ptxi_spell_require(struct parser *p, const struct ptxi_match *m, struct ptxi_loc loc, const char *s, size_t n)
{
    struct ptxi_need room;
    const struct ptxi_need *need = lacks(p, m, &room);

    if (need)
        report_need(p, loc, s, n, need, m->row);
}

/* ---- the cache ---- */

static void find_spaces(struct ptxi_candidate *c)
{
    for (unsigned i = 0; i < c->match->row->slot_count && c->space_count < 2; i++) {
        uint16_t w = c->match->words[i];

        if (w >= PTXI_TYPE_COUNT && w < PTXI_TYPE_COUNT + PTXI_SPACE_WORDS)
            c->spaces[c->space_count++] = (uint8_t)ptxi_parse_space(ptxi_words[w], strlen(ptxi_words[w]));
    }
}

/* Instructions that only some targets do not have as they are; there ptxas puts others in their place, and looks at each register. */
static enum ptxi_expansion expansion(const struct parser *p, const struct ptxi_match *m)
{
    static const struct { uint16_t family; const char *word; uint16_t first, end; const char *also; } emulated[] = {
        { PTXI_M_mma, "e4m3", 90, 120, NULL }, { PTXI_M_mma, "e5m2", 90, 120, NULL }, { PTXI_M_mma, "f64", 100, UINT16_MAX, NULL },
        { PTXI_M_mma, "m8n8k16", 100, UINT16_MAX, NULL }, { PTXI_M_prefetch, NULL, 100, UINT16_MAX, NULL }, { PTXI_M_prefetchu, NULL, 100, UINT16_MAX, NULL },
        { PTXI_M_applypriority, NULL, 100, UINT16_MAX, NULL }, { PTXI_M_cp, "shared::cluster", 120, UINT16_MAX, "global" },
    };

    for (unsigned i = 0; i < sizeof emulated / sizeof *emulated; i++)
        if (m->row->family == emulated[i].family && (!emulated[i].word || ptxi_isa_has(m, emulated[i].word)) &&
            (!emulated[i].also || ptxi_isa_has(m, emulated[i].also)))
            return p->target.sm >= emulated[i].first && p->target.sm < emulated[i].end ? PTXI_EXPANDED : PTXI_NOT_EXPANDED;
    return PTXI_ALWAYS_SO;
}

static struct ptxi_candidate *new_candidate(struct parser *p, const struct ptxi_match *m)
{
    struct ptxi_candidate *c = ARENA_NEW(p->arena, struct ptxi_candidate, 1);
    struct ptxi_match *copy = ARENA_NEW(p->arena, struct ptxi_match, 1);
    struct ptxi_need need;

    if (!c || !copy)
        return NULL;
    *copy = *m;
    c->match = copy;
    c->spec_count = m->row->spec_count;
    c->plain = true;
    for (unsigned i = 0; i < c->spec_count; i++) {
        const struct ptxi_opspec *s = &m->row->specs[i];

        c->types[i] = (uint8_t)ptxi_isa_operand_type(copy, s);
        c->vectors[i] = (uint8_t)ptxi_isa_operand_vector(copy, s);
        c->address_count += s->kind == PTXI_OPK_ADDRESS;
        if (s->flags & (PTXI_OPF_OPTIONAL | PTXI_OPF_PAIR | PTXI_OPF_COORDS))
            c->plain = false;
    }
    find_spaces(c);
    c->expansion = (uint8_t)expansion(p, copy);
    c->available = !lacks(p, copy, &need);
    return c;
}

/* Those that this module may use, then those that it may not. */
struct candidates {
    struct ptxi_candidate *now, **now_end, *later, **later_end;
};

/* False: memory is short. */
static bool try_row(struct parser *p, const struct ptxi_row *row, const struct parts *q, struct candidates *list)
{
    struct ptxi_candidate *c, ***end;
    struct ptxi_match m;
    unsigned bad;

    if (!ptxi_isa_match(row, q->words, q->count, &m, &bad))
        return true;
    if (!(c = new_candidate(p, &m)))
        return false;
    end = c->available ? &list->now_end : &list->later_end;
    **end = c;
    *end = &c->next;
    return true;
}

static struct ptxi_candidate *find_candidates(struct parser *p, const struct ptxi_family *f, const struct parts *q)
{
    const struct ptxi_row *rows = &ptxi_rows[f->first], *dialect = &ptxi_rows[ptxi_row_count];
    struct candidates list = { .now_end = &list.now, .later_end = &list.later };

    for (unsigned i = 0; (p->options->dialect & PTXI_PARSE_OCELOT) && i < ptxi_dialect_row_count; i++)
        if (dialect[i].family == rows->family && !try_row(p, &dialect[i], q, &list))
            return NULL;
    for (unsigned i = 0; i < f->count; i++)
        if (!try_row(p, &rows[i], q, &list))
            return NULL;
    *list.now_end = list.later;
    return list.now;
}

static const struct ptxi_spelling *remember(struct parser *p, const struct ptxi_token *op, struct ptxi_candidate *c)
{
    struct ptxi_arena *hash_arena = p->arena;
    struct ptxi_spelling *sp = ARENA_NEW(p->arena, struct ptxi_spelling, 1);

    if (!sp || !(sp->s = ptxi_arena_strndup(p->arena, op->s, op->n)))
        return NULL;
    sp->n = op->n;
    sp->candidates = c;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, p->spellings, sp->s, sp->n, ptxi_hash_bytes(sp->s, sp->n), sp);
    if (HASH_ADDED(hh, sp))
        return sp;
    p->arena->oom = true;
    return NULL;
}

const struct ptxi_spelling *ptxi_spell_find(struct parser *p, const struct ptxi_token *op, struct ptxi_loc loc)
{
    const struct ptxi_family *f;
    struct ptxi_spelling *sp;
    struct ptxi_candidate *c;
    struct parts q;

    HASH_FIND_BYHASHVALUE(hh, p->spellings, op->s, op->n, ptxi_hash_bytes(op->s, op->n), sp);
    if (sp)
        return sp;
    if (!take_apart(op, &q)) {
        ptxi_parse_error(p, loc, "too many modifiers");
        return NULL;
    }
    f = ptxi_isa_family(q.mnemonic, q.length);
    if (!f) {
        report_unknown(p, loc, &q);
        return NULL;
    }
    c = find_candidates(p, f, &q);
    if (c)
        return remember(p, op, c);
    if (!p->arena->oom)
        report_no_row(p, loc, op, &q, f);
    return NULL;
}
