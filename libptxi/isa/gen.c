/* Expands insn.def into op.gen.h (the operations) and isa.gen.c (the tables of isa.h). Runs on the build machine.
 *
 *   gen header > op.gen.h
 *   gen tables > isa.gen.c
 *
 * The little languages of a row are explained at the top of insn.def. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 2048
#define MAX_OPS 8192
#define MAX_SLOTS 16
#define MAX_OPERANDS 12
#define MAX_SLOT_WORDS 64

struct row_source {
    const char *mnemonic, *syntax, *operands, *ptx, *target, *exec, *section;
    const char *file;
    int line, order;
};

struct set_source {
    const char *name, *words;
};

struct need_source {
    const char *mnemonic, *word, *ptx, *target;
};

static const struct set_source sets[] = {
#define SET(name, words) { #name, words },
#define ROW(...)
#define NEED(...)
#define IOP(name)
#include "isa/insn.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

/* Sorted by mnemonic before use, so that a family's rows may come from several files; those of dialects stay behind. */
static struct row_source rows[] = {
#define SET(name, words)
#define ROW(mnemonic, syntax, operands, ptx, target, exec, section) { #mnemonic, syntax, operands, ptx, target, exec, section, __FILE__, __LINE__, 0 },
#define NEED(...)
#define IOP(name)
#include "isa/insn.def"
#include "isa/dialect.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

enum { DIALECT_COUNT = 0
#define ROW(...) + 1
#include "isa/dialect.def"
#undef ROW
};

static const struct need_source needs[] = {
#define SET(name, words)
#define ROW(...)
#define NEED(mnemonic, word, ptx, target) { #mnemonic, #word, ptx, target },
#define IOP(name)
#include "isa/insn.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

static const struct { const char *mnemonic, *words; } heads[] = {
#define HEAD(mnemonic, words) { #mnemonic, words },
#include "isa/head.def"
#undef HEAD
};

static const char *const internal_ops[] = {
#define SET(name, words)
#define ROW(...)
#define NEED(...)
#define IOP(name) #name,
#include "isa/insn.def"
#undef SET
#undef ROW
#undef NEED
#undef IOP
};

static const struct { const char *name; int bits; char class; } types[] = {
#define TYPE(id, bits, class) { #id, bits, #class[0] },
#include "isa/type.def"
#undef TYPE
};

/* State spaces, and layouts of matrices: like types, they keep their order where an instruction has several (destination, then
 * source; A, then B). */
static const char *const spaces[] = { "const", "global", "local", "param", "param::entry", "param::func", "shared", "shared::cta", "shared::cluster" };
static const char *const layouts[] = { "row", "col" };
/* An operation on bits and how its outcome is used; a container and what is in it. */
static const char *const formats[] = { "and", "xor", "popc", "b8x16", "b6x16_p32", "b4x16_p64" };
/* What may stand there twice and means no more for it. */
static const char *const repeatable[] = { "approx", "cc", "NaN", "relu", "sat", "satfinite", "shiftamt", "sync", "uni" };
enum { TYPE_COUNT = sizeof types / sizeof *types, SPACE_COUNT = sizeof spaces / sizeof *spaces,
       LAYOUT_COUNT = sizeof layouts / sizeof *layouts, FORMAT_COUNT = sizeof formats / sizeof *formats,
       REPEATABLE_COUNT = sizeof repeatable / sizeof *repeatable, ROW_COUNT = sizeof rows / sizeof *rows,
       ISA_COUNT = ROW_COUNT - DIALECT_COUNT, NEED_COUNT = sizeof needs / sizeof *needs };

static const struct { const char *word; int shift, width, value; } mods[] = {
#define MOD(word, shift, width, value) { #word, shift, width, value },
#include "isa/mods.def"
#undef MOD
};

struct slot {
    char name[32];
    int words[MAX_SLOT_WORDS], count;
    bool optional;
};

struct parsed {
    struct slot slots[MAX_SLOTS];
    int slot_count;
};

static char *words[MAX_WORDS];
static int word_count;
static char *ops[MAX_OPS];
static int op_count = 1; /* 0 is PTXI_OP_NONE */
static const struct row_source *current;

static void die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (current)
        fprintf(stderr, "%s:%d: %s%s", current->file, current->line, current->mnemonic, current->syntax);
    else
        fprintf(stderr, "insn.def");
    fprintf(stderr, ": ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    exit(1);
}

static char *copy(const char *s, size_t n)
{
    char *p = malloc(n + 1);

    if (!p)
        die("out of memory");
    memcpy(p, s, n);
    p[n] = 0;
    return p;
}

static int find(char **list, int count, const char *s, size_t n)
{
    for (int i = 0; i < count; i++)
        if (strlen(list[i]) == n && !memcmp(list[i], s, n))
            return i;
    return -1;
}

static int word_id(const char *s, size_t n)
{
    int i = find(words, word_count, s, n);

    if (i >= 0)
        return i;
    if (word_count == MAX_WORDS)
        die("too many qualifiers");
    words[word_count] = copy(s, n);
    return word_count++;
}

static int op_id(const char *s)
{
    int i = find(ops + 1, op_count - 1, s, strlen(s));

    if (i >= 0)
        return i + 1;
    if (op_count == MAX_OPS)
        die("too many operations");
    ops[op_count] = copy(s, strlen(s));
    return op_count++;
}

/* "a|b|c", each an alternative; @name is the words of a SET. */
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
            s->words[s->count++] = word_id(p, e - p);
        }
        p = e + (e < end);
    }
}

static const char *word_end(const char *p)
{
    while (isalnum((unsigned char)*p) || *p == '_' || (p[0] == ':' && p[1] == ':' && isalnum((unsigned char)p[2]))) {
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

static void parse_slots(struct parsed *row, const char *p)
{
    memset(row, 0, sizeof *row);
    while (*p) {
        struct slot *s = &row->slots[row->slot_count];

        if (row->slot_count++ == MAX_SLOTS)
            die("too many slots");
        if (*p == '{') {
            s->optional = true;
            p = parse_slot(s, p + 1);
            if (*p++ != '}')
                die("'}' missing");
        } else {
            p = parse_slot(s, p);
        }
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

/* Which slots an operation's name depends on. */
static int exec_slots(const struct parsed *row, const char *pattern, int out[4])
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

static bool directed(const char *w)
{
    return !strcmp(w, "rz") || !strcmp(w, "rm") || !strcmp(w, "rp");
}

/* The operation's name for one choice of words (-1: slot empty). */
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
        w = choice[i] < 0 ? "" : words[choice[i]];
        if (*e == '#')
            n += snprintf(name + n, sizeof name - n, "%d", types[choice[i]].bits);
        else if (*e == '?')
            n += snprintf(name + n, sizeof name - n, "%s%s", *w ? "_" : "", w);
        else if (*e == '!')
            n += snprintf(name + n, sizeof name - n, "%s", *w && (directed(w) || !strcmp(w, "sat")) ? "_x" : "");
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
    /* two marks of the slow variant are one */
    for (char *c; (c = strstr(name, "_x_x"));)
        memmove(c, c + 2, strlen(c + 2) + 1);
    return op_id(name);
}

/* Emits (when out) the op of every combination; always registers the names. */
static void expand_all(const struct parsed *row, const char *pattern, FILE *out)
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

/* Pattern of the op in an exec column "@rule pattern", or NULL. */
static const char *exec_pattern(const char *exec)
{
    if (*exec == '@') {
        exec = strchr(exec, ' ');
        return exec ? exec + 1 : NULL;
    }
    return *exec ? exec : NULL;
}

struct operand {
    char name[16];
    int kind, rule, type, vector, flags, selector;
    const char *values; /* "(1|4-7)" at the end, or NULL */
};

enum { WRITE = 1, OPTIONAL = 2, SINK = 4, NOT = 8, NEGATE = 16, WIDER = 32, PAIR = 64, REGISTER = 128, BRACES = 256, COORDS = 512, SAMPLER = 1024,
       VECTOR_OK = 2048, SYMBOL = 4096, SREG = 8192, UNCHECKED = 16384, ANY_REGISTER = 32768, EACH = 65536 };
enum { VALUE, IMMEDIATE, ADDRESS, LABEL, TABLE, CALL, ONLY_SINK };
enum { OF_SLOT = 0x8000, TIMES = 8, DIVIDED = 12 };
enum { FIXED, SLOT, DOUBLE, BITS };

static const char *parse_type(const struct parsed *row, struct operand *o, const char *p)
{
    const char *e;

    o->rule = SLOT;
    if (*p == '2' && isupper((unsigned char)p[1])) {
        o->rule = DOUBLE;
        p++;
    } else if (*p == 'b' && isupper((unsigned char)p[1])) {
        o->rule = BITS;
        p++;
    }
    e = word_end(p);
    for (int t = 0; o->rule == SLOT && t < TYPE_COUNT; t++) {
        if (strlen(types[t].name) == (size_t)(e - p) && !memcmp(types[t].name, p, e - p)) {
            o->rule = FIXED;
            o->type = t;
            return e;
        }
    }
    o->type = find_slot(row, p, e - p);
    return e;
}

static const char *parse_vector(const struct parsed *row, struct operand *o, const char *p)
{
    const char *e;

    if (*p == '?') {
        o->flags |= VECTOR_OK;
        return p + 1;
    }
    if (*p == '{') {
        o->flags |= BRACES;
        p++;
    }
    e = word_end(p);
    if (isdigit((unsigned char)*p) && !isalpha((unsigned char)p[1])) {
        o->vector = atoi(p);
    } else {
        if (*p == '2' || *p == '4')
            o->vector |= (*p++ - '0') / 2 << TIMES;
        o->vector |= OF_SLOT | find_slot(row, p, e - p);
        if (*e == '/') {
            o->vector |= (e[1] - '0') / 2 << DIVIDED;
            e += 2;
        }
    }
    return *e == '}' ? e + 1 : e;
}

/* "(1|24-256/8)": the values that a constant may have. Returns their number, printing them when asked to. */
static int parse_values(const char *p, bool print)
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
            o->flags |= WIDER;
        else if (*p == '!')
            o->flags |= UNCHECKED;
        else if (*p == '^')
            o->flags |= EACH;
        else if (*p == '@')
            o->selector = isdigit((unsigned char)p[1]) ? *++p - '0' : 1;
        else
            return p;
    }
}

/* The marks before an operand, each a flag. */
static const char *parse_marks(struct operand *o, const char *p)
{
    static const struct { char mark; int flag; } marks[] = {
        { '?', OPTIONAL }, { '=', WRITE }, { '|', PAIR }, { '_', SINK }, { '!', NOT }, { '-', NEGATE }, { '^', SAMPLER },
        { '&', SYMBOL }, { '%', SREG }, { '$', REGISTER },
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

/* Names up to the end of a word, and without a type but where an address gives one. */
static const char *parse_name(struct operand *o, const char *p)
{
    const char *e = word_end(p);

    snprintf(o->name, sizeof o->name, "%.*s", (int)(e - p), p);
    o->type = TYPE_COUNT;
    return e;
}

static const char *parse_value(const struct parsed *row, struct operand *o, const char *p)
{
    const char *e = parse_name(o, p);

    if (e == p && (o->flags & SINK) && (!*e || *e == ',')) {
        o->kind = ONLY_SINK;
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
        o->kind = ADDRESS;
        p = parse_name(o, p + 1);
        if (*p == '*') {
            o->flags |= ANY_REGISTER;
            p++;
        }
        return parse_suffixes(o, *p == ':' ? parse_type(row, o, p + 1) : p); /* ']' or '+' (coordinates follow) is the caller's */
    }
    if (*p == '@') {
        o->kind = !strncmp(p, "@call", 5) ? CALL : !strncmp(p, "@table", 6) ? TABLE : LABEL;
        return parse_name(o, p + 1);
    }
    if (*p == '#') {
        o->kind = IMMEDIATE;
        p++;
    }
    return parse_value(row, o, p);
}

static int parse_operands(const struct parsed *row, const char *p, struct operand *o)
{
    int count = 0;
    bool inside = false;

    while (*p) {
        if (count == MAX_OPERANDS)
            die("too many operands");
        memset(&o[count], 0, sizeof *o);
        p = parse_operand(row, &o[count], p);
        if (inside)
            o[count].flags |= COORDS;
        if (o[count].kind == ADDRESS && *p == '+')
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

static void print_header(void)
{
    printf("/* Made by gen.c from insn.def. */\n#ifndef PTXI_ISA_OP_GEN_H\n#define PTXI_ISA_OP_GEN_H\n\n#define PTXI_OPS(X) \\\n");
    for (int i = 1; i < op_count; i++)
        printf("    X(%s) \\\n", ops[i]);
    printf("\n\nenum ptxi_op {\n    PTXI_OP_NONE,\n");
    for (int i = 1; i < op_count; i++)
        printf("    PTXI_OP_%s,\n", ops[i]);
    printf("    PTXI_OP_COUNT\n};\n\nenum ptxi_word {\n");
    for (int i = 0; i < word_count; i++) {
        printf("    PTXI_Q_");
        for (const char *c = words[i]; *c; c++)
            putchar(*c == ':' ? '_' : *c);
        printf(",\n");
    }
    printf("    PTXI_Q_COUNT\n};\n\nenum { PTXI_SPACE_WORDS = %d, PTXI_LAYOUT_WORDS = %d, PTXI_FORMAT_WORDS = %d, PTXI_REPEATABLE_WORDS = %d };\n\n#endif\n",
           SPACE_COUNT, LAYOUT_COUNT, FORMAT_COUNT, REPEATABLE_COUNT);
}

static void print_string(const char *s)
{
    putchar('"');
    for (; *s; s++)
        printf(*s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    putchar('"');
}

static int parse_version(const char *s)
{
    int major, minor;

    if (sscanf(s, "%d.%d", &major, &minor) != 2)
        die("bad PTX version '%s'", s);
    return major * 10 + minor;
}

static int print_targets(const char *what, int n, const char *s)
{
    int count = 0;

    printf("static const struct ptxi_target %s%d_targets[] = {", what, n);
    for (const char *p = s; *p;) {
        char *e;
        long sm;

        if (strncmp(p, "sm_", 3))
            die("bad target '%s'", p);
        sm = strtol(p + 3, &e, 10);
        printf(" { %ld, ", sm);
        printf(*e == 'a' || *e == 'f' ? "'%c' }," : "0 },", *e);
        p = e + (*e == 'a' || *e == 'f');
        count++;
        if (*p == '|')
            p++;
    }
    printf(" };\n");
    return count;
}

static void print_row_parts(int i, const struct parsed *row)
{
    const char *pattern = exec_pattern(rows[i].exec);

    for (int s = 0; s < row->slot_count; s++) {
        printf("static const uint16_t row%d_words%d[] = {", i, s);
        for (int w = 0; w < row->slots[s].count; w++)
            printf(" %d,", row->slots[s].words[w]);
        printf(" };\n");
    }
    if (row->slot_count) {
        printf("static const struct ptxi_slot row%d_slots[] = {\n", i);
        for (int s = 0; s < row->slot_count; s++)
            printf("    { \"%s\", row%d_words%d, %d, %d },\n", row->slots[s].name, i, s, row->slots[s].count, row->slots[s].optional);
        printf("};\n");
    }
    if (pattern) {
        printf("static const uint16_t row%d_ops[] = {", i);
        expand_all(row, pattern, stdout);
        printf(" };\n");
    }
}

static bool is_head(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; p; p = strchr(p, '|'), p += p != NULL)
        if (!strncmp(p, word, n) && (!p[n] || p[n] == '|'))
            return true;
    return false;
}

/* How many slots of a row belong to the name of the instruction. */
static int head_slots(const char *mnemonic, const struct parsed *row)
{
    for (unsigned h = 0; h < sizeof heads / sizeof *heads; h++) {
        int s = 0;

        if (strcmp(heads[h].mnemonic, mnemonic))
            continue;
        while (s < row->slot_count && is_head(heads[h].words, words[row->slots[s].words[0]]))
            s++;
        return s;
    }
    return 0;
}

static int print_specs(int i, const struct parsed *row)
{
    struct operand o[MAX_OPERANDS];
    int count = parse_operands(row, rows[i].operands, o);

    for (int k = 0; k < count; k++) {
        if (!o[k].values)
            continue;
        printf("static const struct ptxi_range row%d_values%d[] = {", i, k);
        parse_values(o[k].values, true);
        printf(" };\n");
    }
    if (count)
        printf("static const struct ptxi_opspec row%d_specs[] = {\n", i);
    for (int k = 0; k < count; k++) {
        int type = o[k].type == TYPE_COUNT ? 0xff : o[k].type;

        printf("    { \"%s\", %d, %d, %d, %d, %d, %d", o[k].name, o[k].kind, o[k].rule, type, o[k].vector, o[k].flags, o[k].selector);
        if (o[k].values)
            printf(", row%d_values%d, %d },\n", i, k, parse_values(o[k].values, false));
        else
            printf(", NULL, 0 },\n");
    }
    if (count)
        printf("};\n");
    return count;
}

static void print_rows(void)
{
    static char tail[ROW_COUNT][512];

    for (int i = 0; i < ROW_COUNT; i++) {
        struct parsed row;
        const char *pattern = exec_pattern(rows[i].exec), *end = strchr(rows[i].ptx, '-');
        int slots[4], specs, targets, execs;
        char ops_name[32] = "NULL", slots_name[32] = "NULL", specs_name[32] = "NULL", lower[64] = "NULL";

        current = &rows[i];
        parse_slots(&row, rows[i].syntax);
        print_row_parts(i, &row);
        specs = print_specs(i, &row);
        targets = print_targets("row", i, rows[i].target);
        execs = pattern ? exec_slots(&row, pattern, slots) : 0;
        if (pattern)
            snprintf(ops_name, sizeof ops_name, "row%d_ops", i);
        if (row.slot_count)
            snprintf(slots_name, sizeof slots_name, "row%d_slots", i);
        if (specs)
            snprintf(specs_name, sizeof specs_name, "row%d_specs", i);
        if (*rows[i].exec == '@')
            snprintf(lower, sizeof lower, "\"%.*s\"", (int)strcspn(rows[i].exec + 1, " "), rows[i].exec + 1);
        snprintf(tail[i], sizeof tail[i], "%s, %s, row%d_targets, %s, %s, %d, %d, %d, %d, %d, %d, %d, { %d, %d, %d, %d }", slots_name, specs_name, i,
                 ops_name, lower, parse_version(rows[i].ptx), end ? parse_version(end + 1) : 0, row.slot_count, head_slots(rows[i].mnemonic, &row),
                 specs, targets, execs,
                 execs > 0 ? slots[0] : 0, execs > 1 ? slots[1] : 0, execs > 2 ? slots[2] : 0, execs > 3 ? slots[3] : 0);
    }
    current = NULL;
    printf("\nconst struct ptxi_row ptxi_rows[] = {\n");
    for (int i = 0; i < ROW_COUNT; i++) {
        printf("    { \"%s\", ", rows[i].mnemonic);
        print_string(rows[i].syntax);
        printf(", ");
        print_string(rows[i].operands);
        printf(", ");
        print_string(rows[i].section);
        printf(", %s },\n", tail[i]);
    }
    printf("};\nconst unsigned ptxi_row_count = %d, ptxi_dialect_row_count = %d;\n", ISA_COUNT, DIALECT_COUNT);
}

static void print_needs(void)
{
    int counts[NEED_COUNT];

    for (int i = 0; i < NEED_COUNT; i++)
        counts[i] = print_targets("need", i, needs[i].target);
    printf("\nconst struct ptxi_need ptxi_needs[] = {\n");
    for (int i = 0; i < NEED_COUNT; i++) {
        int w = find(words, word_count, needs[i].word, strlen(needs[i].word));

        printf("    { need%d_targets, %d, %d, %d },\n", i, w, parse_version(needs[i].ptx), counts[i]);
    }
    printf("};\n");
}

/* The first of a family's needs and their number; NEEDs of one mnemonic must stand together. */
static int family_needs(const char *m, int *count)
{
    int first = 0;

    *count = 0;
    for (int i = 0; i < NEED_COUNT; i++) {
        if (strcmp(needs[i].mnemonic, m))
            continue;
        if (!(*count)++)
            first = i;
        else if (first + *count - 1 != i)
            die("NEEDs of '%s' do not stand together", m);
    }
    return first;
}

static void print_families(void)
{
    int count = 0;

    printf("\nconst struct ptxi_family ptxi_families[] = {\n");
    for (int i = 0, n; i < ISA_COUNT; i += n, count++) {
        const char *m = rows[i].mnemonic;
        int first, need_count;

        for (n = 1; i + n < ISA_COUNT && !strcmp(rows[i + n].mnemonic, m); n++)
            ;
        first = family_needs(m, &need_count);
        printf("    { \"%s\", %d, %d, %d, %d },\n", m, i, n, first, need_count);
    }
    printf("};\nconst unsigned ptxi_family_count = %d;\n", count);
}

static int by_word(const void *a, const void *b)
{
    return strcmp(words[*(const int *)a], words[*(const int *)b]);
}

static void print_words(void)
{
    int sorted[MAX_WORDS];

    printf("\nconst char *const ptxi_words[] = {\n");
    for (int i = 0; i < word_count; i++)
        printf("    \"%s\",\n", words[i]);
    printf("};\nconst unsigned ptxi_word_count = %d;\n\nconst uint16_t ptxi_word_mods[] = {\n", word_count);
    for (int i = 0; i < word_count; i++) {
        unsigned bits = 0;

        for (unsigned k = 0; k < sizeof mods / sizeof *mods; k++)
            if (!strcmp(mods[k].word, words[i]))
                bits |= mods[k].value << mods[k].shift;
        printf("    %u,\n", bits);
        sorted[i] = i;
    }
    qsort(sorted, word_count, sizeof *sorted, by_word);
    printf("};\n\nconst uint16_t ptxi_words_sorted[] = {\n");
    for (int i = 0; i < word_count; i++)
        printf("    %d,\n", sorted[i]);
    printf("};\n");
}

static void print_tables(void)
{
    printf("/* Made by gen.c from insn.def. */\n#include \"isa/isa.h\"\n\nconst struct ptxi_type_info ptxi_types[PTXI_TYPE_COUNT] = {\n");
    for (int i = 0; i < TYPE_COUNT; i++)
        printf("    { \"%s\", %d, '%c' },\n", types[i].name, types[i].bits, types[i].class);
    printf("};\n\n");
    print_rows();
    print_needs();
    print_families();
    print_words();
    printf("\nconst char *const ptxi_op_names[] = {\n    \"none\",\n");
    for (int i = 1; i < op_count; i++)
        printf("    \"%s\",\n", ops[i]);
    printf("};\n");
}

/* By mnemonic, then as written. */
static int by_mnemonic(const void *a, const void *b)
{
    const struct row_source *x = a, *y = b;
    int c = strcmp(x->mnemonic, y->mnemonic);

    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void sort_rows(void)
{
    for (int i = 0; i < ROW_COUNT; i++)
        rows[i].order = i;
    qsort(rows, ISA_COUNT, sizeof *rows, by_mnemonic);
}

/* Gives every word and operation its number, so that header and tables agree. */
static void number(void)
{
    for (int t = 0; t < TYPE_COUNT; t++)
        word_id(types[t].name, strlen(types[t].name));
    for (int s = 0; s < SPACE_COUNT; s++)
        word_id(spaces[s], strlen(spaces[s]));
    for (int l = 0; l < LAYOUT_COUNT; l++)
        word_id(layouts[l], strlen(layouts[l]));
    for (int f = 0; f < FORMAT_COUNT; f++)
        word_id(formats[f], strlen(formats[f]));
    for (int r = 0; r < REPEATABLE_COUNT; r++)
        word_id(repeatable[r], strlen(repeatable[r]));
    for (int i = 0; i < ROW_COUNT; i++) {
        struct parsed row;
        const char *pattern = exec_pattern(rows[i].exec);

        current = &rows[i];
        parse_slots(&row, rows[i].syntax);
        if (pattern)
            expand_all(&row, pattern, NULL);
    }
    current = NULL;
    for (unsigned i = 0; i < sizeof internal_ops / sizeof *internal_ops; i++)
        op_id(internal_ops[i]);
}

int main(int argc, char **argv)
{
    sort_rows();
    number();
    for (int i = 0; i < NEED_COUNT; i++)
        if (find(words, word_count, needs[i].word, strlen(needs[i].word)) < 0)
            die("NEED names '%s', which no row has", needs[i].word);
    if (argc == 2 && !strcmp(argv[1], "header"))
        print_header();
    else if (argc == 2 && !strcmp(argv[1], "tables"))
        print_tables();
    else
        die("usage: gen header|tables");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
