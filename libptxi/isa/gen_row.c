/* Parses the columns of a row. insn.def explains their languages. */
#include "isa/gen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name, *words; } sets[] = {
#define SET(name, words) { #name, words },
#define ROW(...)
#define NEED(...)
#define IOP(...)
#include "isa/insn.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

/* "a|b|c" are alternatives; @name means the words of a SET. */
static void add_words(struct slot *s, const char *p, const char *end)
{
    while (p < end) {
        const char *e = p;

        while (e < end && *e != '|')
            e++;
        if (*p == '@') {
            unsigned k;

            for (k = 0; k < sizeof sets / sizeof *sets; k++)
                if (strlen(sets[k].name) == (size_t)(e - p - 1) && !memcmp(sets[k].name, p + 1, e - p - 1))
                    break;
            if (k == sizeof sets / sizeof *sets)
                die("no set '%.*s'", (int)(e - p), p);
            add_words(s, sets[k].words, sets[k].words + strlen(sets[k].words));
        } else {
            if (s->count == MAX_SLOT_WORDS)
                die("too many alternatives");
            s->words[s->count++] = add_name(&words, p, e - p);
        }
        p = e + (e < end);
    }
}

static const char *word_end(const char *p)
{
    const char *start = p;

    while (isalnum((unsigned char)*p) || *p == '_' || (p[0] == ':' && p[1] == ':' && isalnum((unsigned char)p[2])) ||
           (p > start && *p == ':' && isdigit((unsigned char)p[-1]) && isdigit((unsigned char)p[1]))) { /* 2:4 */
        if (*p == ':')
            p++;
        p++;
    }
    return p;
}

/* One slot without its braces: .word  .(a|b)  .@set  .name:(a|b)  .name:@set */
static const char *parse_slot(struct slot *s, const char *p)
{
    const char *e;

    if (*p++ != '.')
        die("'.' expected at '%s'", p - 1);
    e = word_end(p);
    if (e > p && *e == ':') {
        snprintf(s->name, sizeof s->name, "%.*s", (int)(e - p), p);
        p = e + 1;
        e = word_end(p);
    }
    if (*p == '(') {
        e = strchr(p, ')');
        if (!e)
            die("')' missing");
        add_words(s, p + 1, e);
        return e + 1;
    }
    if (*p == '@')
        e = word_end(p + 1);
    if (e == p)
        die("empty slot");
    add_words(s, p, e);
    if (!*s->name)
        snprintf(s->name, sizeof s->name, "%.*s", (int)(e - p - (*p == '@')), p + (*p == '@'));
    return e;
}

void parse_slots(struct parsed *row, const char *p)
{
    memset(row, 0, sizeof *row);
    while (*p) {
        struct slot *s = &row->slots[row->slot_count];

        if (row->slot_count == PTXI_MAX_SLOTS)
            die("too many slots");
        row->slot_count++;
        if (*p == '{') {
            s->optional = true;
            p = parse_slot(s, p + 1);
            if (*p++ != '}')
                die("'}' missing");
        } else {
            p = parse_slot(s, p);
        }
        s->id = add_name(&slot_names, s->name, strlen(s->name));
    }
}

static int find_slot(const struct parsed *row, const char *name, size_t n)
{
    for (int i = 0; i < row->slot_count; i++)
        if (strlen(row->slots[i].name) == n && !memcmp(row->slots[i].name, name, n))
            return i;
    die("no slot '%.*s'", (int)n, name);
    return -1;
}

int exec_slots(const struct parsed *row, const char *pattern, int out[4])
{
    int count = 0;

    for (const char *p = pattern; (p = strchr(p, '<')); p++) {
        const char *e = p + 1;
        int s, i;

        while (isalnum((unsigned char)*e) || *e == '_')
            e++;
        s = find_slot(row, p + 1, e - p - 1);
        for (i = 0; i < count && out[i] != s; i++)
            ;
        if (i == count) {
            if (count == 4)
                die("more than four slots in '%s'", pattern);
            out[count++] = s;
        }
    }
    return count;
}

static bool is_directed_rounding(const char *w)
{
    return !strcmp(w, "rz") || !strcmp(w, "rm") || !strcmp(w, "rp");
}

/* The operation for one choice of words (-1: the slot is empty). */
static int expand(const struct parsed *row, const char *pattern, const int *slots, const int *choice, int count)
{
    char name[128];
    size_t n = 0;

    for (const char *p = pattern; *p; p++) {
        const char *e, *w = "";
        int s, i;

        if (*p != '<') {
            if (n < sizeof name - 1)
                name[n++] = *p;
            continue;
        }
        for (e = p + 1; isalnum((unsigned char)*e) || *e == '_'; e++)
            ;
        s = find_slot(row, p + 1, e - p - 1);
        for (i = 0; i < count && slots[i] != s; i++)
            ;
        w = choice[i] < 0 ? "" : words.names[choice[i]];
        if (*e == '#')
            n += snprintf(name + n, sizeof name - n, "%d", ptxi_types[choice[i]].bits);
        else if (*e == '?')
            n += snprintf(name + n, sizeof name - n, "%s%s", *w ? "_" : "", w);
        else if (*e == '!')
            n += snprintf(name + n, sizeof name - n, "%s", *w &&
                          (is_directed_rounding(w) || !strcmp(w, "sat")) ? "_x" : "");
        else
            n += snprintf(name + n, sizeof name - n, "%s", w);
        while (*p != '>')
            if (!*p++)
                die("'>' missing in '%s'", pattern);
    }
    name[n] = 0;
    for (char *c = name; *c; c++)
        if (*c == ':')
            *c = '_';
    /* two marks of the slow variant count as one */
    for (char *c; (c = strstr(name, "_x_x"));)
        memmove(c, c + 2, strlen(c + 2) + 1);
    return add_name(&ops, name, strlen(name));
}

void expand_all(const struct parsed *row, const char *pattern, FILE *out)
{
    int slots[4], choice[4], at[4] = { 0 }, count = exec_slots(row, pattern, slots);

    for (;;) {
        int id, k;

        for (int i = 0; i < count; i++)
            choice[i] = at[i] < row->slots[slots[i]].count ? row->slots[slots[i]].words[at[i]] : -1;
        id = expand(row, pattern, slots, choice, count);
        if (out)
            fprintf(out, " %d,", id);
        for (k = count - 1; k >= 0; k--) {
            const struct slot *s = &row->slots[slots[k]];

            if (++at[k] < s->count + s->optional)
                break;
            at[k] = 0;
        }
        if (k < 0)
            return;
    }
}

const char *exec_pattern(const char *exec)
{
    if (*exec == '@') {
        exec = strchr(exec, ' ');
        return exec ? exec + 1 : NULL;
    }
    return *exec ? exec : NULL;
}

enum ptxi_lower_rule_id exec_rule(const char *exec)
{
    static const char *const names[] = {
#define RULE(name, function) [PTXI_RULE_##name] = #name,
#include "isa/lower_rule.def"
#undef RULE
    };
    size_t n = strcspn(exec, " ") - 1;

    if (*exec != '@')
        return PTXI_RULE_PLAIN;
    for (unsigned k = PTXI_RULE_PLAIN + 1; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k]) == n && !memcmp(names[k], exec + 1, n))
            return (enum ptxi_lower_rule_id)k;
    die("no lowering rule '%.*s' in lower_rule.def", (int)n, exec + 1);
}

static const struct {
    const char *title;
    bool pure;
} chapters[] = {
#define CHAPTER(id, title, pure) { title, pure },
#define PURE(mnemonic)
#include "isa/chapter.def"
#undef CHAPTER
#undef PURE
};

enum ptxi_chapter section_chapter(const char *section)
{
    size_t n = strcspn(section, ":");

    for (unsigned k = 0; k < sizeof chapters / sizeof *chapters; k++)
        if (strlen(chapters[k].title) == n && !memcmp(chapters[k].title, section, n))
            return (enum ptxi_chapter)k;
    die("no chapter '%.*s' in chapter.def", (int)n, section);
}

bool is_pure(const struct row_source *row)
{
    static const char *const pure[] = {
#define CHAPTER(id, title, pure)
#define PURE(mnemonic) #mnemonic,
#include "isa/chapter.def"
#undef CHAPTER
#undef PURE
    };

    for (unsigned k = 0; k < sizeof pure / sizeof *pure; k++)
        if (!strcmp(pure[k], row->mnemonic))
            return true;
    return chapters[section_chapter(row->section)].pure;
}

static const char *parse_type(const struct parsed *row, struct operand *o, const char *p)
{
    const char *e;

    o->rule = PTXI_TR_SLOT;
    if (*p == '2' && isupper((unsigned char)p[1])) {
        o->rule = PTXI_TR_DOUBLE;
        p++;
    } else if (*p == 'b' && isupper((unsigned char)p[1])) {
        o->rule = PTXI_TR_BITS;
        p++;
    }
    e = word_end(p);
    for (int t = 0; o->rule == PTXI_TR_SLOT && t < PTXI_TYPE_COUNT; t++) {
        if (strlen(ptxi_types[t].name) == (size_t)(e - p) && !memcmp(ptxi_types[t].name, p, e - p)) {
            o->rule = PTXI_TR_FIXED;
            o->type = t;
            return e;
        }
    }
    o->type = find_slot(row, p, e - p);
    return e;
}

/* Reads a power of two, and returns its logarithm. */
static int parse_logarithm(const char **p)
{
    char *end;
    unsigned long number = strtoul(*p, &end, 10);
    int logarithm = 0;

    *p = end;
    while (number > 1) {
        number /= 2;
        logarithm++;
    }
    return logarithm;
}

static const char *parse_vector(const struct parsed *row, struct operand *o, const char *p)
{
    const char *e;

    if (*p == '?') {
        o->flags |= PTXI_OPF_VECTOR_OK;
        return p + 1;
    }
    if (*p == '{') {
        o->flags |= PTXI_OPF_BRACES;
        p++;
    }
    e = word_end(p);
    if (isdigit((unsigned char)*p) && !isalpha((unsigned char)p[strspn(p, "0123456789")])) {
        o->vector = atoi(p);
    } else {
        if (isdigit((unsigned char)*p))
            o->vector |= parse_logarithm(&p) << PTXI_VECTOR_TIMES;
        o->vector |= PTXI_VECTOR_OF_SLOT | find_slot(row, p, e - p);
        if (*e == '/') {
            e++;
            o->vector |= parse_logarithm(&e) << PTXI_VECTOR_DIVIDED;
        }
    }
    return *e == '}' ? e + 1 : e;
}

int parse_values(const char *p, bool print)
{
    int count = 0;

    for (p++; p[-1] != ')'; count++) {
        char *e;
        long first = strtol(p, &e, 10), last = *e == '-' ? strtol(e + 1, &e, 10) : first;
        long step = *e == '/' ? strtol(e + 1, &e, 10) : 1;

        if (e == p || (*e != '|' && *e != ')'))
            die("bad list of values at '%s'", p);
        if (print)
            printf(" { %ld, %ld, %ld },", first, last, step);
        p = e + 1;
    }
    return count;
}

static const char *parse_suffixes(struct operand *o, const char *p)
{
    for (;; p++) {
        if (*p == '~')
            o->flags |= PTXI_OPF_WIDER;
        else if (*p == '!')
            o->flags |= PTXI_OPF_UNCHECKED;
        else if (*p == '^')
            o->flags |= PTXI_OPF_EACH;
        else if (*p == '=')
            o->flags |= PTXI_OPF_CONFUSED;
        else if (*p == '@')
            o->selector = isdigit((unsigned char)p[1]) ? *++p - '0' : 1;
        else
            return p;
    }
}

/* The marks before an operand. Each is a flag. */
static const char *parse_marks(struct operand *o, const char *p)
{
    static const struct { char mark; int flag; } marks[] = {
        { '?', PTXI_OPF_OPTIONAL }, { '=', PTXI_OPF_WRITE },   { '|', PTXI_OPF_PAIR },   { '_', PTXI_OPF_SINK },
            { '!', PTXI_OPF_NOT },
        { '-', PTXI_OPF_NEGATE },   { '^', PTXI_OPF_SAMPLER }, { '&', PTXI_OPF_SYMBOL }, { '%', PTXI_OPF_SREG },
            { '$', PTXI_OPF_REGISTER },
    };
    enum { MARKS = sizeof marks / sizeof *marks };

    for (;; p++) {
        int k = 0;

        while (k < MARKS && marks[k].mark != *p)
            k++;
        if (k == MARKS)
            return p;
        o->flags |= marks[k].flag;
    }
}

/* The name, up to the end of the word. The operand has no type yet. */
static const char *parse_name(struct operand *o, const char *p)
{
    const char *e = word_end(p);

    snprintf(o->name, sizeof o->name, "%.*s", (int)(e - p), p);
    o->id = add_name(&operand_names, o->name, strlen(o->name));
    o->type = PTXI_TYPE_COUNT;
    return e;
}

static const char *parse_value(const struct parsed *row, struct operand *o, const char *p)
{
    const char *e = parse_name(o, p);

    if (e == p && (o->flags & PTXI_OPF_SINK) && (!*e || *e == ',')) {
        o->kind = PTXI_OPK_SINK;
        return e;
    }
    if (*e != ':')
        die("':' expected at '%s'", e);
    p = parse_suffixes(o, parse_type(row, o, e + 1));
    if (*p == '*')
        p = parse_suffixes(o, parse_vector(row, o, p + 1));
    if (*p == '(') {
        o->values = p;
        parse_values(p, false);
        p = strchr(p, ')') + 1;
    }
    return p;
}

static const char *parse_operand(const struct parsed *row, struct operand *o, const char *p)
{
    p = parse_marks(o, p);
    if (*p == '[') {
        o->kind = PTXI_OPK_ADDRESS;
        p = parse_name(o, p + 1);
        if (*p == '*') {
            o->flags |= PTXI_OPF_ANY_REGISTER;
            p++;
        }
        /* the caller parses "]", or "+", which coordinates follow */
        return parse_suffixes(o, *p == ':' ? parse_type(row, o, p + 1) : p);
    }
    if (*p == '@') {
        p = parse_name(o, p + 1);
        o->kind = PTXI_OPK_LABEL;
        if (!strcmp(o->name, "call"))
            o->kind = PTXI_OPK_CALL;
        else if (!strcmp(o->name, "table"))
            o->kind = PTXI_OPK_TABLE;
        return p;
    }
    if (*p == '#') {
        o->kind = PTXI_OPK_IMMEDIATE;
        p++;
    }
    return parse_value(row, o, p);
}

int parse_operands(const struct parsed *row, const char *p, struct operand *o)
{
    int count = 0;
    bool inside = false;

    while (*p) {
        if (count == PTXI_MAX_OPERANDS)
            die("too many operands");
        memset(&o[count], 0, sizeof *o);
        p = parse_operand(row, &o[count], p);
        if (inside)
            o[count].flags |= PTXI_OPF_COORDS;
        if (o[count].kind == PTXI_OPK_ADDRESS && *p == '+')
            inside = true;
        if (*p == ']') {
            inside = false;
            p++;
        }
        count++;
        if (!*p)
            break;
        if (*p != ',' && *p != '|' && *p != '+')
            die("operands: unexpected '%s'", p);
        if (*p != '|')
            p++;
        while (*p == ' ')
            p++;
    }
    return count;
}
