/* Draws instructions from the instruction table, with random qualifiers and operands. See draw.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "random/draw.h"

#include "conformance/case_build.h"
#include "isa/isa.h"

#include <stdlib.h>
#include <string.h>

enum { PTX_VERSION = 90, TARGET = 90, MOST_ROWS = 2048 };

const struct flavour_info flavours[FLAVOURS] = {
    [IS_PRED] = { WIDTH_1, { 0 } },
    [IS_B16] = { WIDTH_16, { .class = VALUE_INT, .bits = 16, .lanes = 1, .width = 16 } },
    [IS_F16] = { WIDTH_16, { .class = VALUE_FLOAT, .bits = 16, .fraction = 10, .lanes = 1, .width = 16 } },
    [IS_BF16] = { WIDTH_16, { .class = VALUE_FLOAT, .bits = 16, .fraction = 7, .lanes = 1, .width = 16 } },
    [IS_B32] = { WIDTH_32, { .class = VALUE_INT, .bits = 32, .lanes = 1, .width = 32 } },
    [IS_F32] = { WIDTH_32, { .class = VALUE_FLOAT, .bits = 32, .fraction = 23, .lanes = 1, .width = 32 } },
    [IS_F16X2] = { WIDTH_32, { .class = VALUE_FLOAT, .bits = 16, .fraction = 10, .lanes = 2, .width = 32 } },
    [IS_BF16X2] = { WIDTH_32, { .class = VALUE_FLOAT, .bits = 16, .fraction = 7, .lanes = 2, .width = 32 } },
    [IS_B64] = { WIDTH_64, { .class = VALUE_INT, .bits = 64, .lanes = 1, .width = 64 } },
    [IS_F64] = { WIDTH_64, { .class = VALUE_FLOAT, .bits = 64, .fraction = 52, .lanes = 1, .width = 64 } },
};
const uint8_t width_bits[WIDTHS] = { 1, 16, 32, 64 };
const char width_letters[WIDTHS + 1] = "phrd";

/* ---- Chance ---- */

unsigned draw(struct scope *s, unsigned below)
{
    s->random = column_mix(s->random);
    return (unsigned)((s->random >> 32) * below >> 32);
}

/* ---- Operands ---- */

static struct operand named(enum width w, unsigned number)
{
    struct operand o;

    snprintf(o.s, sizeof o.s, "%%%c%u", width_letters[w], number);
    return o;
}

struct operand draw_register(struct scope *s, enum width w)
{
    return named(w, s->registers[w]++);
}

void add_value(struct scope *s, enum flavour f, struct operand r)
{
    if (s->count < MOST_VALUES)
        s->values[s->count++] = (struct value){ (uint8_t)f, (uint16_t)strtoul(r.s + 2, NULL, 10), 0, s->outer > 0 };
}

/* Returns the nth matching value, counted from the newest, or NULL. */
static struct value *fitting(struct scope *s, enum flavour f, bool exactly, unsigned nth)
{
    struct value *found = NULL;

    for (unsigned i = s->count; i-- > 0;) {
        struct value *v = &s->values[i];

        if (exactly ? v->flavour == f : flavours[v->flavour].width == flavours[f].width) {
            found = v;
            if (!nth--)
                break;
        }
    }
    return found;
}

/* Returns a value without uses, so that values form expression trees. */
static struct value *unused(struct scope *s, enum flavour f)
{
    for (unsigned i = s->count; i-- > s->outer;)
        if (s->values[i].flavour == f && !s->values[i].uses)
            return &s->values[i];
    return NULL;
}

struct operand draw_value(struct scope *s, enum flavour f)
{
    unsigned nth = draw(s, chance(s, 60) ? 3 : 24);
    bool bits = f == IS_B16 || f == IS_B32 || f == IS_B64;
    struct value *v = chance(s, 50) ? unused(s, f) : fitting(s, f, chance(s, bits ? 60 : 92), nth);

    if (s->wanted && s->wanted->flavour == f) {
        v = s->wanted;
        s->wanted = NULL;
    }
    if (!v)
        v = fitting(s, f, false, nth);
    v->uses++;
    return named((enum width)flavours[f].width, v->number);
}

struct operand draw_destination(struct scope *s, enum flavour f, bool old)
{
    struct value *v = old ? fitting(s, f, false, draw(s, 16)) : NULL;
    struct operand o;

    s->last = v ? v : &s->values[s->count < MOST_VALUES ? s->count : MOST_VALUES - 1];
    if (v) {
        v->flavour = (uint8_t)f;
        v->made = true;
        v->uses = 0; /* uses of the new value */
        return named((enum width)flavours[f].width, v->number);
    }
    o = draw_register(s, (enum width)flavours[f].width);
    add_value(s, f, o);
    return o;
}

/* Draws a constant, mostly a special value. */
static uint64_t constant_bits(struct scope *s, enum flavour f)
{
    struct column c = flavours[f].column;

    c.inputs = (uint8_t)(1 + draw(s, 4));
    return column_value(&c, chance(s, 70) ? draw(s, COLUMN_CROSSED) : draw(s, COLUMN_ROWS));
}

struct operand draw_constant(struct scope *s, enum flavour f)
{
    uint64_t bits = constant_bits(s, f);
    struct operand o;

    if (f == IS_F32)
        snprintf(o.s, sizeof o.s, "0f%08llx", (unsigned long long)bits);
    else if (f == IS_F64)
        snprintf(o.s, sizeof o.s, "0d%016llx", (unsigned long long)bits);
    else
        snprintf(o.s, sizeof o.s, "0x%llx", (unsigned long long)bits);
    return o;
}

/* ---- Forms ---- */

/* The most frequent families in real programs, with their weights. */
static const struct { const char *mnemonic; unsigned weight; } common[] = {
    { "add", 5 }, { "sub", 4 }, { "mul", 6 }, { "fma", 1 }, { "neg", 1 }, { "abs", 1 },
};

static const char *const chapters[] = {
    "Integer Arithmetic Instructions",
    "Extended-Precision Arithmetic Instructions",
    "Floating Point Instructions",
    "Half Precision Floating Point Instructions",
    "Mixed Precision Floating Point Instructions",
    "Comparison and Selection Instructions",
    "Half Precision Comparison Instructions",
    "Logic and Shift Instructions",
    "Video Instructions",
    "Data Movement and Conversion Instructions: mov",
    "Data Movement and Conversion Instructions: prmt",
    "Data Movement and Conversion Instructions: cvt",
    "Data Movement and Conversion Instructions: cvt.pack",
};
static const char *const memory_sections[] = { "Parallel Synchronization and Communication Instructions: atom",
                                               "Parallel Synchronization and Communication Instructions: red" };
static const char *const warp_sections[] = {
    "Data Movement and Conversion Instructions: shfl.sync",
    "Parallel Synchronization and Communication Instructions: vote.sync",
    "Parallel Synchronization and Communication Instructions: match.sync",
    "Parallel Synchronization and Communication Instructions: redux.sync",
    "Parallel Synchronization and Communication Instructions: elect.sync",
};

enum group { COMMON, PLAIN, MEMORY, WARP, CARRY, GROUPS };

/* Rows by function. Most families have the same total weight, independent of their number of rows. */
struct rows {
    const struct ptxi_row *row[MOST_ROWS];
    unsigned weight[MOST_ROWS], count, total;
};
static struct rows groups[GROUPS];

static bool one_of(const char *section, const char *const *list, unsigned count, bool chapter)
{
    for (unsigned i = 0; i < count; i++)
        if (!strcmp(section, list[i]) ||
            (chapter && strcspn(section, ":") == strlen(list[i]) && !strncmp(section, list[i], strlen(list[i]))))
            return true;
    return false;
}
#define ONE_OF(section, list, chapter) one_of(section, list, sizeof(list) / sizeof *(list), chapter)

static unsigned common_weight(const char *mnemonic)
{
    for (unsigned i = 0; i < sizeof common / sizeof *common; i++)
        if (!strcmp(common[i].mnemonic, mnemonic))
            return common[i].weight;
    return 0;
}

static void find_rows(void)
{
    for (unsigned i = 0; i < ptxi_row_count; i++) {
        const struct ptxi_row *r = &ptxi_rows[i];
        const struct ptxi_family *f = ptxi_isa_family(r->mnemonic, strlen(r->mnemonic));
        enum group g = ONE_OF(r->section, memory_sections, false) ? MEMORY
                       : ONE_OF(r->section, warp_sections, false) ? WARP
                       : !strncmp(r->section, "Extended", 8)      ? CARRY
                       : common_weight(r->mnemonic)               ? COMMON
                                                                  : PLAIN;
        struct rows *to = &groups[g];

        if (g <= PLAIN && !ONE_OF(r->section, chapters, true))
            continue;
        if (to->count == MOST_ROWS || !f)
            abort();
        to->row[to->count] = r;
        to->weight[to->count] = g == COMMON ? common_weight(r->mnemonic) : 1 + 240u / f->count;
        to->total += to->weight[to->count++];
    }
}

static const struct ptxi_row *draw_row(struct scope *s, enum group g)
{
    unsigned left, i = 0;

    if (!groups[PLAIN].count)
        find_rows();
    for (left = draw(s, groups[g].total); left >= groups[g].weight[i]; i++)
        left -= groups[g].weight[i];
    return groups[g].row[i];
}

static enum ptxi_type meaning(const struct ptxi_match *m, const struct ptxi_opspec *o)
{
    return o->type_rule == PTXI_TR_SLOT || o->type_rule == PTXI_TR_BITS ? (enum ptxi_type)m->words[o->type]
                                                                        : ptxi_isa_operand_type(m, o);
}

static enum flavour flavour_of(enum ptxi_type t)
{
    switch (t) {
    case PTXI_T_pred: return IS_PRED;
    case PTXI_T_f16: return IS_F16;
    case PTXI_T_bf16: return IS_BF16;
    case PTXI_T_f32: case PTXI_T_tf32: return IS_F32;
    case PTXI_T_f16x2: return IS_F16X2;
    case PTXI_T_bf16x2: return IS_BF16X2;
    case PTXI_T_f64: return IS_F64;
    default: return ptxi_types[t].bits <= 16 ? IS_B16 : ptxi_types[t].bits == 32 ? IS_B32 : IS_B64;
    }
}

/* Returns whether a form has an operand of the theme, if there is a theme, and only supported types. */
static bool suits(const struct ptxi_match *m, enum flavour theme)
{
    bool any = theme == FLAVOURS;

    for (unsigned i = 0; i < m->row->spec_count; i++) {
        const struct ptxi_opspec *o = &m->row->specs[i];
        enum ptxi_type t = o->kind == PTXI_OPK_VALUE ? meaning(m, o) : PTXI_T_NONE;

        if (t != PTXI_T_NONE && (ptxi_types[t].bits > 64 || (ptxi_types[t].bits == 8 && !(o->flags & PTXI_OPF_WIDER))))
            return false; /* no register class for this type */
        any |= t != PTXI_T_NONE && flavour_of(t) == theme;
    }
    return any;
}

/* Returns whether a form has a rounding modifier. It prevents fusion; other tests cover rounding. */
static bool rounds(const struct ptxi_match *m)
{
    return ptxi_isa_has(m, "rn") || ptxi_isa_has(m, "rz") || ptxi_isa_has(m, "rm") || ptxi_isa_has(m, "rp");
}

static void draw_form(struct scope *s, enum group g, struct ptxi_match *m)
{
    enum flavour theme = chance(s, 20) ? FLAVOURS : s->theme;
    struct ptxi_need room;

    do {
        memset(m, 0, sizeof *m);
        m->row = draw_row(s, g);
        for (unsigned i = 0; i < m->row->slot_count; i++) {
            const struct ptxi_slot *slot = &m->row->slots[i];

            m->words[i] = slot->optional && chance(s, 75) ? PTXI_NO_WORD : slot->words[draw(s, slot->word_count)];
        }
        for (unsigned i = m->row->slot_count; i < PTXI_MAX_SLOTS; i++)
            m->words[i] = PTXI_NO_WORD;
    } while ((g == COMMON && rounds(m) && chance(s, 75)) ||
             ptxi_isa_unmet_need(m, PTX_VERSION, (struct ptxi_target){ TARGET, 'a' }, &room) || !suits(m, theme));
}

/* ---- Instructions ---- */

struct instruction {
    struct scope *s;
    const struct ptxi_match *m;
    FILE *line;
    char *before; /* instructions that load constants without immediate form */
    size_t before_size;
    FILE *first;
    bool guarded;
    bool selectors; /* add selectors where possible */
    bool one;       /* omit the optional second destination */
    bool braced, negated; /* an operand already is; at most one may be */
    unsigned sources, varies; /* sources drawn so far; index of the source that is not constant */
};

static void put_list(FILE *out, const struct operand *e, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? ", " : "{", e[i].s);
    fputc('}', out);
}

static long long draw_in_range(struct scope *s, const struct ptxi_range *r)
{
    return r->first + (long long)draw(s, (unsigned)((r->last - r->first) / r->step) + 1) * r->step;
}

/* Packed and 16-bit floating-point constants are loaded with mov. */
static struct operand put_constant(struct instruction *i, enum flavour f, const struct ptxi_opspec *o)
{
    enum ptxi_type t = meaning(i->m, o);
    bool moved = ptxi_types[t].class == 'A' || f == IS_F16 || f == IS_F16X2 || o->flags & PTXI_OPF_REGISTER;
    struct operand c = draw_constant(i->s, f), r;

    if (o->ranges) {
        snprintf(c.s, sizeof c.s, "%lld", draw_in_range(i->s, o->ranges));
    } else if (moved) {
        r = draw_register(i->s, (enum width)flavours[f].width);
        fprintf(i->first, "    mov.b%u %s, 0x%llx;\n", width_bits[flavours[f].width], r.s,
                (unsigned long long)constant_bits(i->s, f));
        return r;
    }
    return c;
}

/* Returns whether a source can have any value: no predicate, no restricted range. */
static bool may_vary(const struct ptxi_match *m, const struct ptxi_opspec *o)
{
    return o->kind == PTXI_OPK_VALUE && !(o->flags & PTXI_OPF_WRITE) && !o->ranges &&
           flavour_of(meaning(m, o)) != IS_PRED;
}

/* Chooses a source, counted from 1, that is not constant, to prevent constant folding. Returns 0 to allow folding. */
static unsigned draw_varying(struct instruction *i)
{
    unsigned count = 0;

    for (unsigned k = 0; k < i->m->row->spec_count; k++)
        count += may_vary(i->m, &i->m->row->specs[k]);
    return i->s->folds || !count ? 0 : 1 + draw(i->s, count);
}

static struct operand source(struct instruction *i, const struct ptxi_opspec *o, enum flavour f)
{
    bool varies = may_vary(i->m, o) && ++i->sources == i->varies;

    if (!varies && f != IS_PRED && !o->selector && chance(i->s, i->s->constants))
        return put_constant(i, f, o);
    return draw_value(i->s, f);
}

/* Returns the number of narrower registers in braces to use instead of one register, or 0. */
static unsigned parts_of(struct instruction *i, const struct ptxi_opspec *o, enum flavour f)
{
    if (!(o->flags & PTXI_OPF_VECTOR_OK) || flavours[f].width < WIDTH_32 || i->braced || chance(i->s, 60))
        return 0;
    i->braced = true;
    return flavours[f].width == WIDTH_64 && chance(i->s, 50) ? 4 : 2;
}

static void put_source(struct instruction *i, const struct ptxi_opspec *o)
{
    enum flavour f = flavour_of(meaning(i->m, o));
    unsigned count = ptxi_isa_operand_vector(i->m, o), parts = parts_of(i, o, f);
    struct operand e[8];

    if (!strcmp(o->name, "membermask")) {
        fputs(i->s->mask, i->line);
        return;
    }
    if (!strcmp(o->name, "policy")) {
        fputs("0x12f0000000000000", i->line);
        return;
    }
    if (f == IS_PRED && (o->flags & PTXI_OPF_NOT) && chance(i->s, 40))
        fputc('!', i->line);
    if ((o->flags & PTXI_OPF_NEGATE) && !i->negated && (i->negated = chance(i->s, 20)))
        fputc('-', i->line);
    if (parts)
        f = width_bits[flavours[f].width] / parts == 32 ? IS_B32 : chance(i->s, 50) ? IS_F16 : IS_B16;
    for (unsigned k = 0; k < (parts ? parts : count ? count : 1); k++)
        e[k] = parts || count ? draw_value(i->s, f) : source(i, o, f);
    if (parts || count)
        put_list(i->line, e, parts ? parts : count);
    else
        fputs(e[0].s, i->line);
}

/* Returns whether there are several destinations. They must be different, so they are new registers. */
static bool has_several(const struct instruction *i)
{
    const struct ptxi_row *r = i->m->row;

    return r->specs[0].flags & PTXI_OPF_VECTOR_OK || ptxi_isa_operand_vector(i->m, &r->specs[0]) ||
           (r->spec_count > 1 && r->specs[1].flags & PTXI_OPF_PAIR);
}

static void put_destination(struct instruction *i, const struct ptxi_opspec *o)
{
    enum flavour f = flavour_of(ptxi_isa_operand_type(i->m, o));
    unsigned count = ptxi_isa_operand_vector(i->m, o), parts = parts_of(i, o, f);
    struct operand e[8];

    if (f != IS_PRED && flavours[flavour_of(meaning(i->m, o))].width == flavours[f].width)
        f = flavour_of(meaning(i->m, o));
    if (parts)
        f = width_bits[flavours[f].width] / parts == 32 ? IS_F32 : chance(i->s, 50) ? IS_F16 : IS_B16;
    for (unsigned k = 0; k < (parts ? parts : count ? count : 1); k++) {
        e[k] = draw_destination(i->s, f, i->guarded || (!has_several(i) && chance(i->s, 15)));
    }
    if (parts || count)
        put_list(i->line, e, parts ? parts : count);
    else
        fputs(e[0].s, i->line);
}

static void put_address(struct instruction *i)
{
    uint16_t word = ptxi_isa_slot(i->m, "ss");
    bool shared = word != PTXI_NO_WORD && !strncmp(ptxi_words[word], "shared", 6);

    fprintf(i->line, "[%%%s]", shared ? "shared" : word == PTXI_NO_WORD && chance(i->s, 50) ? "generic" : "cell");
}

static void put_immediate(struct instruction *i, const struct ptxi_opspec *o)
{
    const struct ptxi_range *r = o->ranges;

    fprintf(i->line, "%lld", r ? draw_in_range(i->s, r) : (long long)draw(i->s, 256));
}

static void put_selector(struct instruction *i, const struct ptxi_opspec *o)
{
    bool destination = o->flags & PTXI_OPF_WRITE;
    char text[8];

    /* for one element, the selector of the destination distinguishes the row */
    if (!o->selector || !(i->selectors || (destination && o->selector == 1)))
        return;
    i->s->random = column_mix(i->s->random);
    case_selector(text, o->selector, destination, i->s->random);
    fputs(strcmp(text, ".b1024") ? text : ".b1025", i->line); /* ptxas parses .b1024 as a type */
}

static bool left_out(const struct instruction *i, const struct ptxi_opspec *o)
{
    return i->one && (o->flags & PTXI_OPF_PAIR) && (o->flags & PTXI_OPF_OPTIONAL);
}

/* Draws destinations after sources, so that no new register is read, but prints them first. */
static void put_operands(struct instruction *i)
{
    const struct ptxi_row *r = i->m->row;
    char *text[PTXI_MAX_OPERANDS] = { NULL };
    size_t size;
    FILE *whole = i->line;

    i->varies = draw_varying(i);
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned k = 0; k < r->spec_count; k++) {
            const struct ptxi_opspec *o = &r->specs[k];

            if ((o->flags & PTXI_OPF_WRITE ? 1 : 0) != turn || left_out(i, o))
                continue;
            i->line = open_memstream(&text[k], &size);
            if (o->kind == PTXI_OPK_ADDRESS)
                put_address(i);
            else if (o->kind == PTXI_OPK_SINK)
                fputc('_', i->line);
            else if (o->kind == PTXI_OPK_IMMEDIATE)
                put_immediate(i, o);
            else if (o->flags & PTXI_OPF_WRITE)
                put_destination(i, o);
            else
                put_source(i, o);
            put_selector(i, o);
            fclose(i->line);
        }
    i->line = whole;
    for (unsigned k = 0, written = 0; k < r->spec_count; k++) {
        bool pair = r->specs[k].flags & PTXI_OPF_PAIR;

        if (left_out(i, &r->specs[k]))
            continue;
        fprintf(i->line, "%s%s", pair ? "|" : written++ ? ", " : " ", text[k]);
        free(text[k]);
    }
}

/* ptxas 13.0 splits these into several operations and omits the guard of the last one. */
static bool loses_guard(const struct ptxi_match *m)
{
    const char *name = m->row->mnemonic;
    enum ptxi_type result = ptxi_isa_operand_type(m, &m->row->specs[0]);

    return !strcmp(name, "testp") || !strcmp(name, "cnot") ||
           (!strcmp(name, "set") && (ptxi_types[result].bits == 16 || result == PTXI_T_f32));
}

static void put_instruction(struct scope *s, const struct ptxi_match *m, bool guarded)
{
    char *line = NULL;
    size_t size;
    struct instruction i = { .s = s, .m = m, .selectors = chance(s, 50), .one = chance(s, 70) };
    struct operand p = { "" };

    i.line = open_memstream(&line, &size);
    i.first = open_memstream(&i.before, &i.before_size);
    i.guarded = guarded && !has_several(&i) && !loses_guard(m);
    if (i.guarded) {
        p = draw_value(s, IS_PRED);
        fprintf(i.line, "@%s%s ", chance(s, 30) ? "!" : "", p.s);
    }
    case_print_spelling(i.line, m->row, m->words);
    put_operands(&i);
    fclose(i.line);
    fclose(i.first);
    fprintf(s->out, "%s    %s;\n", i.before, line);
    free(i.before);
    free(line);
}

/* Draws a carry chain. Each instruction reads CC.CF of the previous one. */
static void draw_carries(struct scope *s)
{
    struct ptxi_match m;
    bool carried = false;

    for (unsigned left = 2 + draw(s, 3); left;) {
        draw_form(s, CARRY, &m);
        if (!carried && (!ptxi_isa_has(&m, "cc") || m.row->mnemonic[strlen(m.row->mnemonic) - 1] == 'c'))
            continue;
        put_instruction(s, &m, false);
        carried = true;
        left--;
    }
}

/* Returns whether a form could read inactive lanes. */
static bool reads_outside(const struct scope *s, const struct ptxi_match *m)
{
    return !strcmp(m->row->mnemonic, "shfl") && strcmp(s->mask, "0xffffffff");
}

/* Draws a form of the instruction that an assembler may fuse with others. */
static void draw_fusable(struct scope *s, const char *mnemonic, struct ptxi_match *m)
{
    do
        draw_form(s, COMMON, m);
    while (strcmp(m->row->mnemonic, mnemonic) || rounds(m) || !suits(m, s->theme));
}

/* Draws a product and one or two sums that use it, adjacent or not. */
static void draw_products(struct scope *s)
{
    struct ptxi_match m;
    struct value *product;

    draw_fusable(s, "mul", &m);
    put_instruction(s, &m, chance(s, 3));
    product = s->last;
    for (unsigned uses = 1 + chance(s, 25); uses--;) {
        if (chance(s, 25)) {
            draw_form(s, chance(s, 50) ? COMMON : PLAIN, &m);
            put_instruction(s, &m, false);
        }
        if (chance(s, 10)) {
            draw_fusable(s, "neg", &m);
            s->wanted = product;
            put_instruction(s, &m, false);
            product = s->last;
        }
        draw_fusable(s, chance(s, 60) ? "add" : "sub", &m);
        s->wanted = product;
        put_instruction(s, &m, chance(s, 5));
        s->wanted = NULL;
    }
}

static bool is_float(enum flavour f)
{
    return f < FLAVOURS && flavours[f].column.class == VALUE_FLOAT;
}

void draw_instruction(struct scope *s)
{
    struct ptxi_match m;
    unsigned what = draw(s, 100);
    enum flavour theme = s->theme;

    if (what < 3) {
        s->theme = FLAVOURS;
        draw_carries(s);
    } else if (what < 6 && *s->mask) {
        s->theme = FLAVOURS;
        draw_form(s, WARP, &m);
        if (!reads_outside(s, &m))
            put_instruction(s, &m, false);
    } else if (what < 8 && s->cells) {
        s->theme = FLAVOURS;
        draw_form(s, MEMORY, &m);
        put_instruction(s, &m, chance(s, 10));
    } else if (what < 30 && is_float(s->theme)) {
        draw_products(s);
    } else {
        draw_form(s, chance(s, s->theme == FLAVOURS ? 20 : 65) ? COMMON : PLAIN, &m);
        put_instruction(s, &m, chance(s, 10));
    }
    s->theme = theme;
}
