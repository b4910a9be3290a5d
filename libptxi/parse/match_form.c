/* Matches an opcode with the rows of the instruction table, once per opcode, and explains why none matches. */
#include "parse/match_form.h"

#include "isa/op.gen.h"
#include "parse/ignored.h"

enum {
    MAX_ROWS = 64,        /* rows that one message considers */
    MAX_NOTES = 4,        /* forms that one message shows */
    MAX_ALTERNATIVES = 40 /* qualifiers that it shows for one slot */
};

/* An opcode split into mnemonic and qualifiers. */
struct parts {
    const char *mnemonic;
    size_t length;
    struct { const char *s; size_t n; } quals[PTXI_MAX_QUALIFIERS];
    uint16_t words[PTXI_MAX_QUALIFIERS]; /* ids of the qualifiers */
    unsigned count;
};

static size_t length_to_dot(const char *s, const char *end)
{
    const char *dot = memchr(s, '.', (size_t)(end - s));

    return (size_t)((dot ? dot : end) - s);
}

/* False if there are too many qualifiers. */
static bool split_opcode(const struct ptxi_token *op, struct parts *out)
{
    const char *p = op->s, *end = op->s + op->n;

    out->mnemonic = p;
    out->length = length_to_dot(p, end);
    out->count = 0;
    for (p += out->length; p < end; p += out->quals[out->count++].n) {
        if (out->count == PTXI_MAX_QUALIFIERS)
            return false;
        p++;
        out->quals[out->count].s = p;
        out->quals[out->count].n = length_to_dot(p, end);
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
        bool inside = s->flags & PTXI_OPF_COORDS;
        bool more = i + 1 < row->spec_count && (row->specs[i + 1].flags & PTXI_OPF_COORDS);

        if (i == 0)
            ptxi_str_puts(out, " ");
        else if (!(s->flags & PTXI_OPF_PAIR))
            ptxi_str_puts(out, ", ");
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

void ptxi_form_note_accepted(struct parser *p, const struct ptxi_row *row)
{
    struct ptxi_str s;

    ptxi_str_init(&s, p->arena->alloc);
    put_row(&s, row);
    put_operands(&s, row);
    ptxi_parse_note(p, PTXI_LOC_NONE, "accepted: %s (PTX ISA, \"%s\")", ptxi_str_text(&s), row->section);
    ptxi_str_free(&s);
}

/* Adds notes that show the qualifiers of these rows, without operands. */
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
        ptxi_parse_note(p, PTXI_LOC_NONE, "accepted: %.*s (PTX ISA, \"%s\")", (int)s.len - 2, ptxi_str_text(&s) + 1,
                        rows[i]->section);
        shown++;
    }
    ptxi_str_free(&s);
    ptxi_str_free(&seen);
}

/* ---- why no row matches an opcode ---- */

/* The edit distance of two words. Words that are too long have a large one. */
static unsigned edit_distance(const char *a, size_t n, const char *b)
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
    unsigned min = q->length > 3 ? 3 : 2;

    loc.len = (uint32_t)q->length;
    for (unsigned i = 0; i < ptxi_family_count; i++) {
        unsigned d = edit_distance(q->mnemonic, q->length, ptxi_families[i].mnemonic);

        if (d < min) {
            min = d;
            best = ptxi_families[i].mnemonic;
        }
    }
    ptxi_parse_error(p, loc, "unknown instruction '%.*s'", (int)q->length, q->mnemonic);
    if (best)
        ptxi_parse_note(p, PTXI_LOC_NONE, "did you mean '%s'?", best);
}

/* Copies all qualifiers but one. */
static unsigned copy_without(const struct parts *q, unsigned skip, uint16_t *words)
{
    unsigned n = 0;

    for (unsigned i = 0; i < q->count; i++)
        if (i != skip)
            words[n++] = q->words[i];
    return n;
}

/* Finds the rows that have a slot for each qualifier, and of these the rows with the fewest empty mandatory slots.
 * *full: no slot is empty. Returns the number of rows. */
static unsigned find_rows(const struct ptxi_family *f, const uint16_t *words, unsigned count,
                          const struct ptxi_row **rows, bool *full)
{
    unsigned n = 0, bad, fewest = UINT32_MAX;
    struct ptxi_match m;

    for (unsigned i = 0; i < f->count; i++) {
        const struct ptxi_row *row = &ptxi_rows[f->first + i];
        unsigned missing = 0;

        if (!ptxi_isa_match(row, words, count, &m, &bad) && bad != count)
            continue;
        for (unsigned s = 0; s < row->slot_count; s++)
            missing += !row->slots[s].optional && m.words[s] == PTXI_NO_WORD;
        if (missing < fewest) {
            fewest = missing;
            n = 0;
        }
        if (missing == fewest && n < MAX_ROWS)
            rows[n++] = row;
    }
    *full = fewest == 0;
    return n;
}

/* The first mandatory slot of a row that the qualifiers leave empty. */
static const struct ptxi_slot *find_empty_slot(const struct ptxi_row *row, const struct parts *q)
{
    struct ptxi_match m;
    unsigned bad;

    ptxi_isa_match(row, q->words, q->count, &m, &bad);
    for (unsigned i = 0; i < row->slot_count; i++)
        if (!row->slots[i].optional && m.words[i] == PTXI_NO_WORD)
            return &row->slots[i];
    return NULL;
}

/* Reports the empty slots of these rows, as in "'mul.u32' requires .lo or .hi". */
static void report_missing(struct parser *p, struct ptxi_loc loc, const struct ptxi_token *op, const struct parts *q,
                           const struct ptxi_row *const *rows, unsigned count)
{
    struct ptxi_str s, one;
    unsigned shown = 0;

    ptxi_str_init(&s, p->arena->alloc);
    ptxi_str_init(&one, p->arena->alloc);
    for (unsigned i = 0; i < count && shown < MAX_NOTES; i++) {
        const struct ptxi_slot *slot = find_empty_slot(rows[i], q);

        ptxi_str_clear(&one);
        if (slot)
            put_slot(&one, slot);
        if (!slot || strstr(ptxi_str_text(&s), ptxi_str_text(&one)))
            continue;
        ptxi_str_printf(&s, "%s%s", shown++ ? " or " : "", ptxi_str_text(&one));
    }
    ptxi_parse_error(p, loc, "'%.*s' requires %s", (int)op->n, op->s, ptxi_str_text(&s));
    ptxi_str_free(&s);
    ptxi_str_free(&one);
}

/* Reports qualifier number `which`, which the instruction does not have. */
static void report_extra_qualifier(struct parser *p, struct ptxi_loc loc, const struct ptxi_token *op,
                                   const struct parts *q, unsigned which)
{
    const char *w = q->quals[which].s;
    size_t n = q->quals[which].n;
    const char *end = w + n;

    if (op->s + op->n > w && op->s <= w && loc.len == op->n) { /* the opcode has no blanks, so the column is known */
        loc.col += (uint32_t)(w - 1 - op->s);
        loc.len = (uint32_t)n + 1;
    }
    ptxi_parse_error(p, loc, "'%.*s%.*s' has no modifier '.%.*s'", (int)(w - 1 - op->s), op->s,
                     (int)(op->s + op->n - end), end, (int)n, w);
}

/* Reports a qualifier of the instruction's head (head.def) that is after another qualifier. False if there is
 * none. */
static bool report_misplaced_qualifier(struct parser *p, struct ptxi_loc loc, const struct ptxi_token *op,
                                       const struct parts *q, const struct ptxi_family *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        const struct ptxi_row *row = &ptxi_rows[f->first + i];
        int late = ptxi_isa_misplaced_word(row, q->words, q->count);

        if (late < 0)
            continue;
        ptxi_parse_error(p, loc, "misplaced modifier '.%.*s' in '%.*s': it must precede the others",
                         (int)q->quals[late].n, q->quals[late].s, (int)op->n, op->s);
        note_forms(p, &row, 1);
        return true;
    }
    return false;
}

static void report_no_row(struct parser *p, struct ptxi_loc loc, const struct ptxi_token *op, const struct parts *q,
                          const struct ptxi_family *f)
{
    const struct ptxi_row *rows[MAX_ROWS];
    uint16_t words[PTXI_MAX_QUALIFIERS];
    unsigned n, best = UINT32_MAX;
    bool full;

    if (report_misplaced_qualifier(p, loc, op, q, f))
        return;
    n = find_rows(f, q->words, q->count, rows, &full);
    if (n) {
        report_missing(p, loc, op, q, rows, n);
        note_forms(p, rows, n);
        return;
    }
    for (unsigned i = 0; i < q->count; i++) {
        n = find_rows(f, words, copy_without(q, i, words), rows, &full);
        if (n && (best == UINT32_MAX || full)) {
            best = i;
            if (full)
                break;
        }
    }
    if (best != UINT32_MAX) {
        n = find_rows(f, words, copy_without(q, best, words), rows, &full);
        report_extra_qualifier(p, loc, op, q, best);
        note_forms(p, rows, n);
        return;
    }
    for (n = 0; n < f->count && n < MAX_ROWS; n++)
        rows[n] = &ptxi_rows[f->first + n];
    ptxi_parse_error(p, loc, "invalid form '%.*s' of '%s'", (int)op->n, op->s, f->mnemonic);
    note_forms(p, rows, n);
}

/* ---- which PTX version and target a form requires ---- */

static void put_targets(struct ptxi_str *s, const struct ptxi_target *t, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            ptxi_str_puts(s, i + 1 < count ? ", " : " or ");
        ptxi_str_printf(s, "sm_%u", t[i].sm);
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

static void report_need(struct parser *p, struct ptxi_loc loc, const char *s, size_t n, const struct ptxi_need *need,
                        const struct ptxi_row *row)
{
    struct ptxi_str out;

    ptxi_str_init(&out, p->arena->alloc);
    if (need->word != PTXI_NO_WORD)
        ptxi_str_printf(&out, "modifier '.%s' of ", ptxi_words[need->word]);
    ptxi_str_printf(&out, "'%.*s' ", (int)n, s);
    if (p->version < need->ptx)
        ptxi_str_printf(&out, "requires PTX %u.%u or later", need->ptx / 10, need->ptx % 10);
    else if (target_fits(need->targets, need->target_count, p->target))
        ptxi_str_printf(&out, "was removed in PTX %u.%u for .target sm_%u and higher", row->ptx_end / 10,
                        row->ptx_end % 10, row->ptx_end_sm);
    else
        ptxi_str_puts(&out, "requires .target ");
    if (p->version >= need->ptx && !target_fits(need->targets, need->target_count, p->target))
        put_targets(&out, need->targets, need->target_count);
    ptxi_parse_error(p, loc, "%s", ptxi_str_text(&out));
    ptxi_str_free(&out);
}

/* The requirement of a form that the module does not meet, or NULL. sm_101 became sm_110 in PTX 9.0, so both have
 * the features of either. */
static const struct ptxi_need *find_unmet_need(const struct parser *p, const struct ptxi_match *m,
                                               struct ptxi_need *need)
{
    struct ptxi_target t = p->target;

    if (t.sm == 101 || t.sm == 110) {
        t.sm = t.sm == 101 ? 110 : 101;
        if (!ptxi_isa_unmet_need(m, p->version, t, need))
            return NULL;
    }
    return ptxi_isa_unmet_need(m, p->version, p->target, need);
}

void ptxi_form_report_requirement(struct parser *p, const struct ptxi_match *m, struct ptxi_loc loc, const char *s,
                                  size_t n)
{
    struct ptxi_need room;
    const struct ptxi_need *need = find_unmet_need(p, m, &room);

    if (need)
        report_need(p, loc, s, n, need, m->row);
}

/* ---- candidates ---- */

static void find_spaces(struct ptxi_candidate *c)
{
    for (unsigned i = 0; i < c->match->row->slot_count && c->space_count < 2; i++) {
        uint16_t w = c->match->words[i];

        if (w >= PTXI_TYPE_COUNT && w < PTXI_TYPE_COUNT + PTXI_SPACE_WORDS)
            c->spaces[c->space_count++] = (uint8_t)ptxi_parse_space(ptxi_words[w], strlen(ptxi_words[w]));
    }
}

/* A form that targets from `first` up to but not including `end` do not have in hardware. */
struct emulated_form {
    uint16_t family;
    uint16_t first, end;
    const char *words[2]; /* qualifiers that it has, or NULL */
};

/* All targets that have the forms of later PTX versions have them in hardware. */
enum { FIRST_VERSION_IN_HARDWARE = 92 };

static bool is_emulated_form(const struct ptxi_match *m, const struct emulated_form *e)
{
    if (m->row->family != e->family || m->row->ptx >= FIRST_VERSION_IN_HARDWARE)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (e->words[i] && !ptxi_isa_has(m, e->words[i]))
            return false;
    return true;
}

/* Whether ptxas replaces this form on the module's target, or on others. */
static enum ptxi_expansion find_expansion(const struct parser *p, const struct ptxi_match *m)
{
    static const struct emulated_form emulated[] = {
        { PTXI_M_mma, 90, 120, { "e4m3" } },
        { PTXI_M_mma, 90, 120, { "e5m2" } },
        { PTXI_M_mma, 100, UINT16_MAX, { "f64" } },
        { PTXI_M_mma, 100, UINT16_MAX, { "m8n8k16" } },
        { PTXI_M_prefetch, 100, UINT16_MAX, { NULL } },
        { PTXI_M_prefetchu, 100, UINT16_MAX, { NULL } },
        { PTXI_M_applypriority, 100, UINT16_MAX, { NULL } },
        { PTXI_M_cp, 120, UINT16_MAX, { "shared::cluster", "global" } },
    };

    for (unsigned i = 0; i < sizeof emulated / sizeof *emulated; i++)
        if (is_emulated_form(m, &emulated[i])) {
            bool here = p->target.sm >= emulated[i].first && p->target.sm < emulated[i].end;

            return here ? PTXI_EXPANDED : PTXI_NOT_EXPANDED;
        }
    return PTXI_SAME_ON_ALL_TARGETS;
}

static struct ptxi_candidate *new_candidate(struct parser *p, const struct ptxi_match *m)
{
    struct ptxi_candidate *c = ARENA_NEW(p->arena, struct ptxi_candidate, 1);
    struct ptxi_match *copy = ARENA_NEW(p->arena, struct ptxi_match, 1);
    struct ptxi_need need;

    if (!c || !copy)
        return NULL;
    assert(m->row->spec_count <= PTXI_MAX_OPERANDS);
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
    c->expansion = (uint8_t)find_expansion(p, copy);
    c->available = !find_unmet_need(p, copy, &need);
    return c;
}

/* Two lists of candidates: those that the module's version and target have, and the others. */
struct candidates {
    struct ptxi_candidate *available, **available_end;
    struct ptxi_candidate *others, **others_end;
};

/* Adds a candidate. False when memory is short. */
static bool add_candidate(struct parser *p, const struct ptxi_match *m, struct candidates *list)
{
    struct ptxi_candidate *c = new_candidate(p, m), ***end;

    if (!c)
        return false;
    end = c->available ? &list->available_end : &list->others_end;
    **end = c;
    *end = &c->next;
    return true;
}

/* Adds a candidate if the row accepts the qualifiers. False when memory is short. */
static bool try_row(struct parser *p, const struct ptxi_row *row, const struct parts *q, struct candidates *list)
{
    struct ptxi_match m;
    unsigned bad;

    return !ptxi_isa_match(row, q->words, q->count, &m, &bad) || add_candidate(p, &m, list);
}

static bool has_word(const struct parts *q, uint16_t word)
{
    for (unsigned i = 0; i < q->count; i++)
        if (q->words[i] == word)
            return true;
    return false;
}

static bool has_64_bit_type(const struct parts *q)
{
    for (unsigned i = 0; i < q->count; i++)
        if (q->words[i] < PTXI_TYPE_COUNT && ptxi_types[q->words[i]].bits == 64)
            return true;
    return false;
}

/* Whether .ftz is implied: f32 operations of sm_1x flush subnormals, on all GPUs. Conversions from and to 64 bits do
 * so since PTX 1.5. (PTX ISA, "Floating Point Instructions", "cvt".) */
static bool implies_ftz(const struct parser *p, const struct ptxi_family *f, const struct parts *q)
{
    bool of_sm_1x = p->target.sm / 10 == 1 && has_word(q, PTXI_T_f32) && !has_word(q, PTXI_Q_ftz);

    if (ptxi_rows[f->first].family == PTXI_M_cvt && p->version < 15 && has_64_bit_type(q))
        return false;
    return of_sm_1x && q->count < PTXI_MAX_QUALIFIERS;
}

static struct ptxi_candidate *find_written_candidates(struct parser *p, const struct ptxi_family *f,
                                                      const struct parts *q)
{
    const struct ptxi_row *rows = &ptxi_rows[f->first], *dialect = &ptxi_rows[ptxi_row_count];
    struct candidates list = { .available_end = &list.available, .others_end = &list.others };

    for (unsigned i = 0; (p->options->dialect & PTXI_PARSE_OCELOT) && i < ptxi_dialect_row_count; i++)
        if (dialect[i].family == rows->family && !try_row(p, &dialect[i], q, &list))
            return NULL;
    for (unsigned i = 0; i < f->count; i++)
        if (!try_row(p, &rows[i], q, &list))
            return NULL;
    *list.available_end = list.others;
    return list.available;
}

/* The rows that accept the qualifiers without those that ptxas ignores. */
static struct ptxi_candidate *find_candidates_ignoring(struct parser *p, const struct ptxi_family *f,
                                                       const struct parts *q)
{
    struct candidates list = { .available_end = &list.available, .others_end = &list.others };
    struct ptxi_match m;

    for (unsigned i = 0; i < f->count; i++)
        if (ptxi_form_match_ignoring(f, &ptxi_rows[f->first + i], q->words, q->count, &m) &&
            !add_candidate(p, &m, &list))
            return NULL;
    *list.available_end = list.others;
    return list.available;
}

static struct ptxi_candidate *find_candidates(struct parser *p, const struct ptxi_family *f, const struct parts *q)
{
    struct ptxi_candidate *c;
    struct parts flushing = *q;

    if (implies_ftz(p, f, q)) {
        flushing.words[flushing.count++] = PTXI_Q_ftz;
        c = find_written_candidates(p, f, &flushing);
        if (p->arena->oom || (c && c->available))
            return c;
    }
    c = find_written_candidates(p, f, q);
    return c || p->arena->oom ? c : find_candidates_ignoring(p, f, q);
}

/* Adds an opcode to the cache. */
static const struct ptxi_opcode *cache_opcode(struct parser *p, const struct ptxi_token *op, struct ptxi_candidate *c)
{
    struct ptxi_arena *hash_arena = p->arena;
    struct ptxi_opcode *opcode = ARENA_NEW(p->arena, struct ptxi_opcode, 1);

    if (!opcode || !(opcode->s = ptxi_arena_strndup(p->arena, op->s, op->n)))
        return NULL;
    opcode->n = op->n;
    opcode->candidates = c;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, p->opcodes, opcode->s, opcode->n, ptxi_hash_bytes(opcode->s, opcode->n), opcode);
    if (HASH_ADDED(hh, opcode))
        return opcode;
    p->arena->oom = true;
    return NULL;
}

const struct ptxi_opcode *ptxi_form_find(struct parser *p, const struct ptxi_token *op, struct ptxi_loc loc)
{
    const struct ptxi_family *f;
    struct ptxi_opcode *opcode;
    struct ptxi_candidate *c;
    struct parts q;

    HASH_FIND_BYHASHVALUE(hh, p->opcodes, op->s, op->n, ptxi_hash_bytes(op->s, op->n), opcode);
    if (opcode)
        return opcode;
    if (!split_opcode(op, &q)) {
        ptxi_parse_error(p, loc, "too many modifiers: at most %d are accepted", PTXI_MAX_QUALIFIERS);
        return NULL;
    }
    f = ptxi_isa_family(q.mnemonic, q.length);
    if (!f) {
        report_unknown(p, loc, &q);
        return NULL;
    }
    c = find_candidates(p, f, &q);
    if (c)
        return cache_opcode(p, op, c);
    if (!p->arena->oom)
        report_no_row(p, loc, op, &q, f);
    return NULL;
}
