/* Compares conversions of f32 to narrower formats with exact models, for all 2^32 operands in each operand position.
 *
 * A model is a rounding, so among the magnitudes of one sign its results never return to an earlier one. If both ends
 * of a range of operands have the same result, so has all of the range. A few calls of the model find all runs of
 * operands with the same result in this way. The handler converts every operand, and is compared with the run's result.
 *
 * Lanes have neighbouring operands. An eighth of each piece is converted again with a NaN in the last lane, since many
 * handlers have a fast path for warps without special values. Scales and random bits have four values in a piece. The
 * runs' first and last operands are also converted with each of the 256 scales.
 *
 * By default, a few short pieces of each case are converted at each CPU level of this host. make check-f32 sets
 * TEST_F32_PARTS: the operands are divided into that many parts, and part TEST_F32_PART is converted at the highest
 * level. TEST_F32_TEXT selects cases by name. */
#include "unit/support/bits.h"

#include <string.h>
#include <time.h>

#include "unit/exec/arith/alu.h"
#include "unit/support/levels.h"

enum { D = 0, SOURCES = 5, SLOT_OF_SOURCE_0 = 8, UNITS = 56 };
enum {
    POSITIONS = 4,
    VARIANTS = 4,
    PIECE_BITS = 25,
    SAMPLE_BITS = 12,
    SAMPLES = 3,
    PROBES = 16,
    SCALES = 256,
    SMALLER = 3
};
typedef uint16_t __attribute__((may_alias)) lane16;
typedef uint32_t __attribute__((may_alias)) lane32;

static _Alignas(64) unsigned char frame[UNITS * PTXI_UNIT];
static struct ptxi_warp warp = { .regs = frame, .active = PTXI_ALL_LANES };

/* Consecutive runs of operands with the same result. */
struct runs {
    uint32_t count, room;
    uint32_t *first, *part; /* part: see struct sweep */
};

/* The result of a lane is zeros[v] ^ the parts of its operands, where zeros[v] is the result of zeros, and a part is
 * what an operand changes in it. v is the lane's variant: its scale or random bits. */
struct sweep {
    const struct alu_case *c;
    unsigned mods;
    unsigned positions, source[POSITIONS]; /* sources that are f32 */
    unsigned other;                        /* the source with scales or random bits; SOURCES if there is none */
    uint32_t other_values[VARIANTS], zeros[VARIANTS];
    struct runs runs[POSITIONS][VARIANTS];
};

static uint32_t *slot_of_source(unsigned source)
{
    return (uint32_t *)(void *)(frame + (SLOT_OF_SOURCE_0 + 8 * source) * PTXI_UNIT);
}

/* Returns the kind of a source. */
static enum kind kind_of(const struct alu_case *c, unsigned source)
{
    const enum kind kinds[SOURCES] = { c->a, c->b, c->c, c->e, c->flags & FIFTH ? U32 : NONE };

    return kinds[source];
}

/* Returns false if the case is not a conversion of f32. */
static bool prepare(struct sweep *s, const struct alu_case *c)
{
    *s = (struct sweep){ .c = c, .other = SOURCES };
    for (unsigned source = 0; source < SOURCES; source++) {
        enum kind k = kind_of(c, source);

        if (k == F32)
            s->source[s->positions++] = source;
        else if (k != NONE)
            s->other = source;
    }
    return c->a == F32;
}

static bool has_scales(const struct sweep *s)
{
    return s->other < SOURCES && kind_of(s->c, s->other) == U16;
}

/* --- the model --- */
static uint32_t model(const struct sweep *s, const uint32_t *operands, unsigned variant)
{
    struct operands o = { .case_ = s->c, .mods = s->mods };
    struct results r = { 0 };

    for (unsigned p = 0; p < s->positions; p++)
        o.v[s->source[p]] = operands[p];
    if (s->other < SOURCES)
        o.v[s->other] = s->other_values[variant];
    s->c->ref(&o, &r);
    return (uint32_t)(r.d & kind_mask(s->c->d));
}

static uint32_t part_of(const struct sweep *s, unsigned position, uint32_t operand, unsigned variant)
{
    uint32_t operands[POSITIONS] = { 0 };

    operands[position] = operand;
    return model(s, operands, variant) ^ s->zeros[variant];
}

static void append_run(struct runs *runs, uint32_t first, uint32_t part)
{
    if (runs->count && runs->part[runs->count - 1] == part)
        return;
    if (runs->count == runs->room) {
        runs->room = runs->room ? 2 * runs->room : 64;
        runs->first = realloc(runs->first, runs->room * sizeof *runs->first);
        runs->part = realloc(runs->part, runs->room * sizeof *runs->part);
        ck_assert(runs->first && runs->part);
    }
    runs->first[runs->count] = first;
    runs->part[runs->count++] = part;
}

/* The place of the runs that are being found. */
struct search {
    const struct sweep *s;
    struct runs *runs;
    unsigned position, variant;
};

/* Finds the runs from an operand to another one, whose parts are given. */
static void find_between(const struct search *x, uint32_t first, uint32_t first_part, uint32_t last, uint32_t last_part)
{
    uint32_t middle = first + (last - first) / 2, part;

    append_run(x->runs, first, first_part);
    if (first_part == last_part)
        return;
    if (last - first > 1) {
        part = part_of(x->s, x->position, middle, x->variant);
        find_between(x, first, first_part, middle, part);
        find_between(x, middle, part, last, last_part);
    }
    append_run(x->runs, last, last_part);
}

/* Finds the runs among `size` operands. The model rounds within one sign of the numbers, and of the NaNs. */
static void find_runs(const struct search *x, uint32_t begin, uint32_t size)
{
    static const uint32_t ends[] = { 0x7f800000, 0x7fffffff, 0xff800000, 0xffffffff };
    uint32_t end = begin + (size - 1);

    x->runs->count = 0;
    for (unsigned k = 0; k < sizeof ends / sizeof *ends; k++) {
        uint32_t from = k && begin <= ends[k - 1] ? ends[k - 1] + 1 : begin, to = end < ends[k] ? end : ends[k];

        if (from <= to)
            find_between(x, from, part_of(x->s, x->position, from, x->variant), to,
                         part_of(x->s, x->position, to, x->variant));
    }
}

static unsigned variants_of(const struct sweep *s)
{
    return s->other < SOURCES ? VARIANTS : 1;
}

static void set_zeros(struct sweep *s)
{
    static const uint32_t zeros[POSITIONS];

    for (unsigned v = 0; v < variants_of(s); v++)
        s->zeros[v] = model(s, zeros, v);
}

/* --- the handler --- */
static int level; /* index of the CPU level */

static void run_handler(const struct sweep *s)
{
    struct ptxi_insn i[2] = { 0 };

    i[0] = (struct ptxi_insn){ .op = s->c->op,
                               .mods = (uint16_t)s->mods,
                               .d = D,
                               .a = SLOT_OF_SOURCE_0,
                               .b = SLOT_OF_SOURCE_0 + 8,
                               .c = SLOT_OF_SOURCE_0 + 16 };
    if (s->c->e != NONE)
        i[0].imm = (SLOT_OF_SOURCE_0 + 24) | (SLOT_OF_SOURCE_0 + 32) << 16;
    levels[level].table[i[0].op](i, &warp);
}

static void set_other(const struct sweep *s)
{
    if (s->other == SOURCES)
        return;
    for (unsigned l = 0; l < PTXI_LANES; l++) {
        uint32_t v = s->other_values[l % VARIANTS];

        if (has_scales(s))
            ((lane16 *)(void *)slot_of_source(s->other))[l] = (uint16_t)v;
        else
            slot_of_source(s->other)[l] = v;
    }
}

/* Returns the lanes' difference from the results that are wanted, as the bits that differ in any lane. */
static uint32_t difference(const struct sweep *s, const uint32_t *want)
{
    uint32_t bad = 0;

    if (kind_bits(s->c->d) == 32)
        for (int l = 0; l < PTXI_LANES; l++)
            bad |= ((const lane32 *)(const void *)frame)[l] ^ want[l];
    else
        for (int l = 0; l < PTXI_LANES; l++)
            bad |= ((const lane16 *)(const void *)frame)[l] ^ want[l];
    return bad;
}

static void print_difference(const struct sweep *s, const uint32_t *want)
{
    char operands[64];
    size_t at = 0;

    for (int l = 0; l < PTXI_LANES; l++) {
        uint32_t got = kind_bits(s->c->d) == 32 ? ((const lane32 *)(const void *)frame)[l]
                                                : ((const lane16 *)(const void *)frame)[l];

        if (got == want[l])
            continue;
        for (unsigned p = 0; p < s->positions; p++)
            at += (size_t)snprintf(operands + at, sizeof operands - at, " %#x", slot_of_source(s->source[p])[l]);
        ck_abort_msg("%s at %s, mods %#x, lane %d:%s, other source %#x: got %#x, want %#x", s->c->name,
                     levels[level].name, s->mods, l, operands, s->other < SOURCES ? s->other_values[l % VARIANTS] : 0,
                     got, want[l]);
    }
}

/* --- a piece: the same number of operands for each position --- */
struct piece {
    uint32_t begin[POSITIONS], size;
    unsigned lanes;                      /* with consecutive operands; the other lanes have NaNs */
    uint32_t run[POSITIONS][PTXI_LANES]; /* index of the run with the lane's operand */
};

static const struct runs *runs_of(const struct sweep *s, unsigned position, unsigned lane)
{
    return &s->runs[position][lane % variants_of(s)];
}

/* Sets the operands `offset` places after the begin of the piece. */
static void set_operands(const struct sweep *s, struct piece *x, uint32_t offset)
{
    for (unsigned p = 0; p < s->positions; p++)
        for (unsigned l = 0; l < PTXI_LANES; l++)
            slot_of_source(s->source[p])[l] = l < x->lanes ? x->begin[p] + offset + l : 0x7fc00000 + p;
}

/* Finds the lanes' runs, from the present ones on, and the results that are wanted. Returns for how many steps of
 * x->lanes operands these are the same. */
static uint32_t look_up(const struct sweep *s, struct piece *x, uint32_t *want)
{
    uint32_t steps = UINT32_MAX;

    for (unsigned l = 0; l < PTXI_LANES; l++)
        want[l] = s->zeros[l % variants_of(s)];
    for (unsigned p = 0; p < s->positions; p++)
        for (unsigned l = 0; l < PTXI_LANES; l++) {
            const struct runs *r = runs_of(s, p, l);
            uint32_t operand = slot_of_source(s->source[p])[l], k = x->run[p][l], left;

            if (l >= x->lanes) {
                want[l] ^= part_of(s, p, operand, l % variants_of(s));
                continue;
            }
            while (k + 1 < r->count && r->first[k + 1] <= operand)
                k++;
            x->run[p][l] = k;
            want[l] ^= r->part[k];
            if (k + 1 == r->count)
                continue;
            left = (r->first[k + 1] - operand + x->lanes - 1) / x->lanes;
            steps = steps < left ? steps : left;
        }
    return steps;
}

static void advance_operands(const struct sweep *s, const uint32_t *step)
{
    for (unsigned p = 0; p < s->positions; p++) {
        uint32_t *operand = slot_of_source(s->source[p]);

        for (int l = 0; l < PTXI_LANES; l++)
            operand[l] += step[l];
    }
}

/* Compares from this offset on, `steps` times, with the same results. */
static void compare(const struct sweep *s, struct piece *x, uint32_t offset, uint32_t steps, const uint32_t *want)
{
    uint32_t step[PTXI_LANES], bad = 0;

    for (unsigned l = 0; l < PTXI_LANES; l++)
        step[l] = l < x->lanes ? x->lanes : 0;
    for (uint32_t n = 0; n < steps; n++) {
        run_handler(s);
        bad |= difference(s, want);
        advance_operands(s, step);
    }
    if (!bad)
        return;
    set_operands(s, x, offset);
    for (uint32_t n = 0; n < steps; n++) {
        run_handler(s);
        print_difference(s, want);
        advance_operands(s, step);
    }
}

static void compare_piece(const struct sweep *s, struct piece *x)
{
    uint32_t want[PTXI_LANES], whole = x->size / x->lanes;

    memset(x->run, 0, sizeof x->run);
    set_operands(s, x, 0);
    for (uint32_t n = 0; n < whole;) {
        uint32_t steps = look_up(s, x, want);

        steps = steps < whole - n ? steps : whole - n;
        compare(s, x, n * x->lanes, steps, want);
        n += steps;
    }
    if (x->size % x->lanes) { /* once more, with the last operands */
        memset(x->run, 0, sizeof x->run);
        set_operands(s, x, x->size - x->lanes);
        look_up(s, x, want);
        compare(s, x, x->size - x->lanes, 1, want);
    }
}

static uint32_t found_part(const struct runs *r, uint32_t operand)
{
    uint32_t low = 0, high = r->count;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (r->first[middle] <= operand)
            low = middle;
        else
            high = middle;
    }
    return r->part[low];
}

/* Compares the runs with the model, for random operands in all positions. */
static void probe(const struct sweep *s, const struct piece *x)
{
    for (int n = 0; n < PROBES; n++) {
        unsigned v = (unsigned)(random64() % variants_of(s));
        uint32_t operands[POSITIONS], want = s->zeros[v];

        for (unsigned p = 0; p < s->positions; p++) {
            operands[p] = x->begin[p] + (uint32_t)(random64() % x->size);
            want ^= found_part(&s->runs[p][v], operands[p]);
        }
        ck_bits32_at(want, model(s, operands, v), "%s, mods %#x: runs of operands %#x and %#x", s->c->name, s->mods,
                     operands[0], operands[1]);
    }
}

/* Unless `any` is set, scales are near that of 1, which is 127, and the first random bits are 0. */
static void choose_other_values(struct sweep *s, bool any)
{
    for (unsigned v = 0; v < VARIANTS; v++) {
        uint32_t random = (uint32_t)(random64() >> 32);

        if (has_scales(s))
            s->other_values[v] = any ? random & 0xffff : (random & 0x0f0f) + 0x7878;
        else
            s->other_values[v] = v || any ? random : 0;
    }
    set_zeros(s);
}

/* Positions have different operands of nearly the same magnitude. */
static void convert_piece(struct sweep *s, uint32_t number, unsigned bits, unsigned lanes)
{
    static const uint32_t distance[POSITIONS] = { 0, 0x82000000, 0x04000000, 0x86000000 };
    struct piece x = { .size = 1u << bits, .lanes = lanes };

    for (unsigned p = 0; p < s->positions; p++) {
        x.begin[p] = (number << bits) ^ distance[p];
        for (unsigned v = 0; v < variants_of(s); v++)
            find_runs(&(struct search){ s, &s->runs[p][v], p, v }, x.begin[p], x.size);
    }
    set_other(s);
    probe(s, &x);
    compare_piece(s, &x);
}

static void run_piece(struct sweep *s, uint32_t number, unsigned bits)
{
    choose_other_values(s, false);
    convert_piece(s, number, bits, PTXI_LANES);
    choose_other_values(s, true);
    convert_piece(s, number << SMALLER | (uint32_t)(random64() >> (64 - SMALLER)), bits - SMALLER, PTXI_LANES - 1);
}

/* --- all scales --- */

/* Sets operand n of a lane: the first or last one of a run, or a random one if there are not so many. */
static uint32_t end_of_run(const struct runs *r, uint32_t n)
{
    return n / 2 >= r->count ? (uint32_t)(random64() >> 32) : r->first[n / 2] - (n % 2);
}

static void compare_ends(struct sweep *s)
{
    uint32_t count = 0, want[PTXI_LANES];

    for (unsigned p = 0; p < s->positions; p++)
        count = count < 2 * s->runs[p][0].count ? 2 * s->runs[p][0].count : count;
    for (uint32_t n = 0; n < count; n += PTXI_LANES) {
        for (unsigned l = 0; l < PTXI_LANES; l++) {
            uint32_t operands[POSITIONS] = { 0 };

            for (unsigned p = 0; p < s->positions; p++)
                operands[p] = slot_of_source(s->source[p])[l] = end_of_run(&s->runs[p][0], n + l);
            want[l] = model(s, operands, 0);
        }
        run_handler(s);
        print_difference(s, want);
    }
}

static void run_all_scales(struct sweep *s)
{
    for (uint32_t scale = 0; scale < SCALES; scale++) {
        for (unsigned v = 0; v < VARIANTS; v++)
            s->other_values[v] = scale << 8 | (scale * 37 + 11) % SCALES;
        set_zeros(s);
        for (unsigned p = 0; p < s->positions; p++)
            find_runs(&(struct search){ s, &s->runs[p][0], p, 0 }, 0, 0);
        set_other(s);
        compare_ends(s);
    }
}

/* --- cases --- */
static const char *text_of(const char *variable, const char *otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? text : otherwise;
}

static int highest_level(void)
{
    int k = LEVELS - 1;

    while (levels[k].level > ptxi_cpu_level_host())
        k--;
    return k;
}

static void run_samples(struct sweep *s)
{
    for (level = 0; level <= highest_level(); level++)
        for (int n = 0; n < SAMPLES; n++)
            run_piece(s, (uint32_t)(random64() >> 32) >> SAMPLE_BITS, SAMPLE_BITS);
}

/* Returns the number of operands. */
static uint64_t run_part(struct sweep *s, uint32_t part, uint32_t parts)
{
    uint64_t operands = 0;

    level = highest_level();
    for (uint32_t number = part; number < 1u << (32 - PIECE_BITS); number += parts) {
        run_piece(s, number, PIECE_BITS);
        operands += 1u << PIECE_BITS;
    }
    if (has_scales(s) && part == 0)
        run_all_scales(s);
    return operands;
}

START_TEST(conversions_match_models)
{
    static struct sweep s;
    const struct alu_case *c = &alu_cvt.cases[_i];
    int parts = atoi(text_of("TEST_F32_PARTS", "0")), part = atoi(text_of("TEST_F32_PART", "0"));
    clock_t began = clock();
    uint64_t operands = 0;
    int count = 0;

    if (!prepare(&s, c) || !strstr(c->name, text_of("TEST_F32_TEXT", "")))
        return;
    random_state += (unsigned)_i + ((uint64_t)part << 32); /* each part draws other scales and random bits */
    for (const uint16_t *mods = c->mods; *mods != END_OF_MODS; mods++, count++) {
        s.mods = *mods;
        if (parts)
            operands = run_part(&s, (uint32_t)part, (uint32_t)parts);
        else
            run_samples(&s);
    }
    if (parts)
        printf("%s at %s: %d sets of modifiers, %u positions of %" PRIu64 " operands, %.1f s\n", c->name,
               levels[level].name, count, s.positions, operands, (double)(clock() - began) / CLOCKS_PER_SEC);
    fflush(stdout);
    for (int p = 0; p < POSITIONS; p++)
        for (int v = 0; v < VARIANTS; v++) {
            free(s.runs[p][v].first);
            free(s.runs[p][v].part);
        }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("f32_sweep");
    TCase *t = tcase_create("conversions");

    tcase_set_timeout(t, 0);
    tcase_add_loop_test(t, conversions_match_models, 0, (int)alu_cvt.count);
    suite_add_tcase(s, t);
    return run_suite(s);
}
