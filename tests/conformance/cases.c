/* Selects the forms that have a case and the ways to write their operands. See cases.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/case_build.h"
#include "conformance/chains.h"
#include "conformance/fragments.h"
#include "conformance/warpgroups.h"
#include "conformance/wmma.h"

#include <stdlib.h>
#include <string.h>

enum { PTX_VERSION = 90, TARGET = 90 };

/* Rules for sections. A chapter's rule applies to sections without their own. Forms have cases unless `why` is set. */
static const struct section_rule {
    const char *section;
    unsigned rule;
    const char *why;
} section_rules[] = {
    { "Integer Arithmetic Instructions", RULE_COUNTS, NULL },
    { "Extended-Precision Arithmetic Instructions", RULE_CARRY, NULL },
    { "Floating Point Instructions", 0, NULL },
    { "Half Precision Floating Point Instructions", 0, NULL },
    { "Mixed Precision Floating Point Instructions", 0, NULL },
    { "Alternate Floating Point Instructions", 0, NULL },
    { "Comparison and Selection Instructions", 0, NULL },
    { "Half Precision Comparison Instructions", 0, NULL },
    { "Logic and Shift Instructions", RULE_COUNTS, NULL },
    { "Video Instructions", 0, NULL },
    { "Data Movement and Conversion Instructions: mov", RULE_MOVES, NULL },
    { "Data Movement and Conversion Instructions: prmt", 0, NULL },
    { "Data Movement and Conversion Instructions: cvt", 0, NULL },
    { "Data Movement and Conversion Instructions: cvt.pack", 0, NULL },
    { "Data Movement and Conversion Instructions: shfl.sync", RULE_WARP | RULE_COUNTS, NULL },
    { "Data Movement and Conversion Instructions", 0, "moves data or makes addresses" },
    { "Parallel Synchronization and Communication Instructions: atom", RULE_MEMORY, NULL },
    { "Parallel Synchronization and Communication Instructions: red", RULE_MEMORY, NULL },
    { "Parallel Synchronization and Communication Instructions: vote.sync", RULE_WARP, NULL },
    { "Parallel Synchronization and Communication Instructions: match.sync", RULE_WARP | RULE_GROUP, NULL },
    { "Parallel Synchronization and Communication Instructions: redux.sync", RULE_WARP, NULL },
    { "Parallel Synchronization and Communication Instructions: elect.sync", RULE_WARP, NULL },
    { "Parallel Synchronization and Communication Instructions", 0, "synchronises" },
    { "Control Flow Instructions", 0, "control flow" },
    { "Miscellaneous Instructions", 0, "computes nothing" },
    { "Stack Manipulation Instructions", 0, "makes addresses" },
    { "Texture Instructions", 0, "textures" },
    { "Surface Instructions", 0, "surfaces" },
    { "Warp Level Matrix Multiply-Accumulate Instructions", 0, "matrices" },
    { "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions", 0,
      "has cases of its own; matrix.rec has all forms" },
    { "TensorCore 5th Generation Instructions", 0, "matrices" },
};

/* Returns the reason why a form of the table has no case, or NULL if it has one. */
static const char *unrecorded(const struct ptxi_match *m)
{
    struct ptxi_need room;

    if (ptxi_isa_unmet_need(m, PTX_VERSION, (struct ptxi_target){ TARGET, 'a' }, &room))
        return "not on sm_90a";
    return NULL;
}

static const struct section_rule *rule_of(const struct ptxi_row *row)
{
    size_t chapter = strcspn(row->section, ":");
    const struct section_rule *found = NULL;

    for (size_t i = 0; i < sizeof section_rules / sizeof *section_rules; i++) {
        const char *s = section_rules[i].section;

        if (!strcmp(s, row->section))
            return &section_rules[i];
        if (strlen(s) == chapter && !strncmp(s, row->section, chapter))
            found = &section_rules[i];
    }
    if (!found) {
        fprintf(stderr, "cases: nothing says what to do with '%s'\n", row->section);
        exit(2);
    }
    return found;
}

/* ---- Ways to write the operands ---- */

enum { MAX_VARIANTS = 260 };

struct writing {
    const struct ptxi_match *m;
    uint64_t hash; /* hash of the spelling: selects one of many ways */
    struct variant v[MAX_VARIANTS];
    unsigned count;
};

static struct variant *another(struct writing *w)
{
    w->v[w->count] = w->v[0];
    return &w->v[w->count++];
}

static bool any_flag(const struct ptxi_row *row, unsigned flag)
{
    for (unsigned i = 0; i < row->spec_count; i++)
        if (row->specs[i].flags & flag)
            return true;
    return false;
}

static void add_destinations(struct writing *w, unsigned rule)
{
    const struct ptxi_row *row = w->m->row;
    unsigned destinations = 0, sinks[2] = { 0, 0 }, count = 0;
    bool one = false;

    for (unsigned i = 0; i < row->spec_count; i++) {
        const struct ptxi_opspec *s = &row->specs[i];

        if (!(s->flags & PTXI_OPF_WRITE))
            continue;
        destinations++;
        if (s->flags & PTXI_OPF_SINK && count < 2)
            sinks[count++] = destinations;
        one |= (s->flags & PTXI_OPF_PAIR) && (s->flags & PTXI_OPF_OPTIONAL);
    }
    if (one)
        another(w)->one = true;
    if (count && (destinations > 1 || rule & RULE_MEMORY)) /* otherwise there is no result to record */
        another(w)->sink = (uint8_t)sinks[w->hash >> 8 & (count - 1)];
}

/* Element counts of a brace of mov. */
static void add_parts(struct writing *w, unsigned bits)
{
    for (unsigned parts = 2; parts <= 8; parts *= 2)
        if (bits / parts >= 8 && bits / parts <= 64 && parts <= 4) {
            another(w)->parts_d = (uint8_t)parts;
            another(w)->parts_a = (uint8_t)parts;
        }
}

/* Tries a constant's legal values. Tries all of them if there is no other qualifier to try. */
static void add_constants(struct writing *w, bool all)
{
    static const uint8_t some[16] = { 0x00, 0x01, 0x0f, 0x1b, 0x33, 0x55, 0x69, 0x80,
                                      0x96, 0xaa, 0xc0, 0xca, 0xe8, 0xf0, 0xfe, 0xff };

    w->v[0].constant = some[0];
    for (unsigned i = 1; i < (all ? 256 : 16); i++)
        another(w)->constant = (uint16_t)(all ? i : some[i]);
}

static unsigned selected_lanes(const struct ptxi_row *row)
{
    for (unsigned i = 0; i < row->spec_count; i++)
        if (row->specs[i].selector)
            return row->specs[i].selector;
    return 0;
}

/* Tries a selector on all operands, and a different selector on one source. */
static void add_selectors(struct writing *w, unsigned lanes)
{
    const struct ptxi_row *row = w->m->row;

    for (unsigned k = 0; k < 2; k++) {
        struct variant *v = another(w);
        uint64_t r = column_mix(w->hash + k);

        for (unsigned i = 0; i < row->spec_count; i++) {
            bool destination = row->specs[i].flags & PTXI_OPF_WRITE;
            unsigned which = destination ? 0 : (unsigned)(row->specs[i].name[0] - 'a') + 1;

            if (row->specs[i].selector && (k == 0 || destination || which == 1 + (r >> 60 & 1)))
                case_selector(v->selector[which], lanes, destination, r >> 16 * which);
        }
    }
    if (lanes == 1 && row->specs[0].selector) { /* here the selector enables the merge */
        memmove(&w->v[0], &w->v[1], (w->count - 1) * sizeof *w->v);
        w->count--;
    }
}

static void add_minus(struct writing *w)
{
    for (unsigned i = 0; i < w->m->row->spec_count; i++)
        if (w->m->row->specs[i].flags & PTXI_OPF_NEGATE)
            another(w)->minus = (uint8_t)(i + 1);
}

/* For lanes that read each other: active half-warp segments from the end and from the start. Otherwise also scattered
 * lanes. */
static void add_halves(struct writing *w, bool reads)
{
    static const uint16_t segments[2] = { 0x101f, 0x1000 };
    static const uint32_t lanes[3] = { 0x5a3c9f06, 0x80000001, 0x00000800 };

    for (unsigned i = 0; i < 3 && !reads; i++)
        another(w)->lanes = lanes[i];

    for (unsigned i = 0; i < (reads ? 2 : 1); i++) {
        struct variant *v = another(w);

        v->half = true;
        v->constant = segments[i];
    }
}

/* Returns true if the exhaustive case would record a bug of ptxas 13.0. When it unrolls the loop, it assumes that the
 * upper half of the register is zero, but HSET2 leaves a second result there. */
static bool miscompiled(const struct ptxi_match *m)
{
    uint16_t d = ptxi_isa_slot(m, "D");

    return !strcmp(m->row->mnemonic, "set") && (d == PTXI_T_f16 || d == PTXI_T_bf16) && d == ptxi_isa_slot(m, "T") &&
           !ptxi_isa_has(m, "ftz");
}

/* Tries constant operands, identical operands, and instructions that only some lanes execute. */
static void add_folded(struct writing *w)
{
    const struct ptxi_row *row = w->m->row;
    uint8_t sources[PTXI_MAX_OPERANDS];
    unsigned count = 0;

    for (unsigned i = 0; i < row->spec_count; i++)
        if (row->specs[i].kind == PTXI_OPK_VALUE && !(row->specs[i].flags & PTXI_OPF_WRITE) &&
            ptxi_isa_operand_type(w->m, &row->specs[i]) != PTXI_T_pred &&
            !ptxi_isa_operand_vector(w->m, &row->specs[i]))
            sources[count++] = (uint8_t)(i + 1);
    if (count < 2 || miscompiled(w->m))
        return;
    switch (w->hash >> 16 & 7) {
    case 0: case 1: another(w)->known = sources[(w->hash >> 24) % count]; break;
    case 2: another(w)->same = true; break;
    case 3: another(w)->lanes = 0x5a3c9f06; break;
    }
}

/* Returns true if a generic address may point to shared memory. */
static bool may_be_shared(const struct ptxi_row *row)
{
    for (unsigned s = 0; s < row->slot_count; s++)
        for (unsigned k = 0; k < row->slots[s].word_count; k++)
            if (!strcmp(ptxi_words[row->slots[s].words[k]], "shared"))
                return true;
    return false;
}

/* The plain rule widens all results in one place. */
static bool widens(const struct ptxi_match *m)
{
    if (!m->row->lower)
        return false;
    for (unsigned i = 0; i < m->row->spec_count; i++) {
        enum ptxi_type t = ptxi_isa_operand_type(m, &m->row->specs[i]);

        if (t != PTXI_T_NONE && (m->row->specs[i].flags & PTXI_OPF_WIDER) && strchr("USB", ptxi_types[t].class) &&
            ptxi_types[t].bits < 64)
            return true;
    }
    return false;
}

/* The first way is the plainest. */
static void write_ways(struct writing *w, const struct ptxi_match *m, unsigned rule)
{
    const struct ptxi_row *row = m->row;
    bool ordered = false;

    memset(&w->v[0], 0, sizeof w->v[0]);
    w->m = m;
    w->count = 1;
    w->hash = column_hash(0, row->mnemonic, strlen(row->mnemonic));
    for (unsigned s = 0; s < row->slot_count; s++) {
        const char *word = m->words[s] == PTXI_NO_WORD ? "" : ptxi_words[m->words[s]];

        w->hash = column_hash(w->hash, word, strlen(word));
        ordered |= case_word_orders(&row->slots[s], m->words[s]);
    }
    w->v[0].negated = w->hash & 1;
    if (!ordered)
        add_destinations(w, rule);
    if (any_flag(row, PTXI_OPF_VECTOR_OK))
        add_parts(w, ptxi_types[ptxi_isa_operand_type(m, &row->specs[0])].bits);
    if (selected_lanes(row))
        add_selectors(w, selected_lanes(row));
    add_minus(w);
    if (widens(m))
        another(w)->wide = true;
    if ((rule & RULE_MEMORY) && ptxi_isa_slot(m, "ss") == PTXI_NO_WORD && may_be_shared(row))
        another(w)->shared = true;
    if (rule & RULE_WARP)
        add_halves(w, rule & RULE_COUNTS);
    if (!(rule & (RULE_WARP | RULE_MEMORY | RULE_CARRY)))
        add_folded(w);
    for (unsigned i = 0; i < row->spec_count; i++)
        if (row->specs[i].kind == PTXI_OPK_IMMEDIATE)
            add_constants(w, row->slot_count == 1);
}

/* ---- Lists ---- */

static void *grow(void *list, size_t count, size_t size)
{
    if (count & (count - 1)) /* the capacity is a power of two */
        return list;
    list = realloc(list, (count ? 2 * count : 1) * size);
    if (!list) {
        fprintf(stderr, "cases: out of memory\n");
        exit(2);
    }
    return list;
}

/* Each form is added once. A section is looked up repeatedly. */
static void leave_out(struct cases *cs, const char *name, const char *why)
{
    for (size_t i = 0; i < cs->out_count; i++)
        if (!strcmp(cs->out[i].name, name))
            return;
    cs->out = grow(cs->out, cs->out_count, sizeof *cs->out);
    cs->out[cs->out_count++] = (struct left_out){ strdup(name), why };
}

static void leave_form_out(struct cases *cs, const struct ptxi_match *m, const char *why)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    case_print_spelling(out, m->row, m->words);
    fclose(out);
    leave_out(cs, text, why);
    free(text);
}

static void add_exhaustive(struct cases *cs, size_t of, enum spread spread, uint32_t constant)
{
    uint64_t key = column_hash(cs->v[of].key + spread, &constant, sizeof constant);

    cs->all = grow(cs->all, cs->all_count, sizeof *cs->all);
    cs->all[cs->all_count++] = (struct exhaustive){ (const struct conformance_case *)of, spread, constant, key };
}

/* Approximations read only the upper half of an f64. Only the divisor of a division needs a table. */
static void add_approximation(struct cases *cs, const struct ptxi_match *m, size_t of)
{
    static const uint32_t dividends[] = { 0x3f800000, 0x40400000, 0x00800000, 0x7f7fffff, 0x80000003 };
    const struct conformance_case *c = &cs->v[of];

    if (c->inputs == 1 && c->input[0].width == 64 && ptxi_isa_has(m, "approx") && ptxi_isa_has(m, "ftz")) {
        add_exhaustive(cs, of, SPREAD_UPPER, 0);
        add_exhaustive(cs, of, SPREAD_UPPER, 0x89abcdef);
    }
    if (c->inputs == 2 && (ptxi_isa_has(m, "approx") || ptxi_isa_has(m, "full")))
        for (size_t i = 0; i < sizeof dividends / sizeof *dividends; i++)
            add_exhaustive(cs, of, SPREAD_SECOND, dividends[i]);
}

static void add_form(struct cases *cs, const struct ptxi_match *m, unsigned rule)
{
    static struct writing w;

    write_ways(&w, m, rule);
    for (unsigned i = 0; i < w.count; i++) {
        struct conformance_case *c;

        cs->v = grow(cs->v, cs->count, sizeof *cs->v);
        c = &cs->v[cs->count];
        case_build(c, m, &w.v[i], rule);
        if (i == 0 && c->small && !(rule & (RULE_MOVES | RULE_WARP | RULE_MEMORY)) && !miscompiled(m))
            add_exhaustive(cs, cs->count, c->inputs == 1 ? SPREAD_WHOLE : SPREAD_HALVES, 0);
        if (i == 0)
            add_approximation(cs, m, cs->count);
        cs->count++;
    }
}

static void add_chains(struct cases *cs)
{
    for (unsigned i = 0; i < 2 * CHAINS; i++) {
        cs->v = grow(cs->v, cs->count, sizeof *cs->v);
        chain_build(&cs->v[cs->count++], i % CHAINS, i >= CHAINS);
    }
}

static void add_built(struct cases *cs, bool (*build)(struct conformance_case *c, unsigned number))
{
    struct conformance_case c;

    for (unsigned i = 0; build(&c, i); i++) {
        cs->v = grow(cs->v, cs->count, sizeof *cs->v);
        cs->v[cs->count++] = c;
    }
}

static void add_warpgroups(struct cases *cs)
{
    struct conformance_case c;

    for (unsigned next = warpgroup_build(&c, 0); next; next = warpgroup_build(&c, next)) {
        cs->v = grow(cs->v, cs->count, sizeof *cs->v);
        cs->v[cs->count++] = c;
    }
}

/* ---- The table ---- */

static void add_row(struct cases *cs, const struct ptxi_row *row, unsigned rule)
{
    unsigned choice[PTXI_MAX_SLOTS] = { 0 };

    do {
        struct ptxi_match m = { .row = row };
        const char *why;

        memset(m.words, 0xff, sizeof m.words);
        for (unsigned s = 0; s < row->slot_count; s++) {
            unsigned k = choice[s] - (row->slots[s].optional ? 1u : 0u); /* an absent optional word comes first */

            m.words[s] = k < row->slots[s].word_count ? row->slots[s].words[k] : PTXI_NO_WORD;
        }
        why = unrecorded(&m);
        if (why)
            leave_form_out(cs, &m, why);
        else
            add_form(cs, &m, rule);
    } while (case_next_choice(row, choice));
}

static int by_key(const void *a, const void *b)
{
    const struct conformance_case *x = *(struct conformance_case *const *)a, *y = *(struct conformance_case *const *)b;

    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x > y) - (x < y);
}

/* Rows overlap if a form was introduced with two targets. */
static void mark_repeated(struct cases *cs)
{
    struct conformance_case **sorted = calloc(cs->count, sizeof *sorted);
    size_t n = 0;

    for (size_t i = 0; i < cs->count; i++)
        sorted[i] = &cs->v[i];
    qsort(sorted, cs->count, sizeof *sorted, by_key);
    for (size_t i = 1; i < cs->count; i++)
        sorted[i]->again = sorted[i]->key == sorted[i - 1]->key;
    free(sorted);
    for (size_t i = 0; i < cs->all_count; i++)
        if (!cs->all[i].of->again)
            cs->all[n++] = cs->all[i];
    cs->all_count = n;
}

struct cases *cases_make(void)
{
    struct cases *cs = calloc(1, sizeof *cs);

    for (unsigned i = 0; i < ptxi_row_count && cs; i++) {
        const struct section_rule *r = rule_of(&ptxi_rows[i]);

        if (!r->why)
            add_row(cs, &ptxi_rows[i], r->rule);
        else
            leave_out(cs, ptxi_rows[i].section, r->why);
    }
    if (cs) {
        add_chains(cs);
        add_built(cs, fragment_build);
        add_warpgroups(cs);
        add_built(cs, wmma_build);
    }
    for (size_t i = 0; cs && i < cs->all_count; i++) /* the array of cases no longer moves */
        cs->all[i].of = &cs->v[(size_t)cs->all[i].of];
    if (cs)
        mark_repeated(cs);
    return cs;
}

void cases_free(struct cases *cs)
{
    for (size_t i = 0; i < cs->count; i++) {
        free(cs->v[i].name);
        free(cs->v[i].body);
    }
    for (size_t i = 0; i < cs->out_count; i++)
        free(cs->out[i].name);
    free(cs->v);
    free(cs->all);
    free(cs->out);
    free(cs);
}
