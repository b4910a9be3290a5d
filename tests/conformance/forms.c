/* Parsing and expansion of .forms files, and the PTX around each form. See forms.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "forms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *reading = "";
static int line_number;

_Noreturn static void die(const char *why, const char *what)
{
    fprintf(stderr, "%s:%d: %s: %s\n", reading, line_number, why, what);
    exit(2);
}

uint64_t forms_mix64(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- Reading ---- */

static char *trim(char *s)
{
    char *end = s + strlen(s);

    while (end > s && isspace((unsigned char)end[-1]))
        *--end = 0;
    while (isspace((unsigned char)*s))
        s++;
    return s;
}

static void read_set(struct forms *fs, char *line)
{
    char *eq = strchr(line, '='), *word, *save;
    struct form_set *set = &fs->set[fs->n_sets++];
    int room = 0;

    if (!eq || fs->n_sets > 64)
        die("bad set", line);
    *eq = 0;
    snprintf(set->name, sizeof set->name, "%s", trim(line));
    for (word = strtok_r(eq + 1, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        if (set->n == room)
            set->v = realloc(set->v, (room = 2 * room + 16) * sizeof *set->v);
        set->v[set->n++] = strtoull(word, NULL, 16);
    }
}

static const struct form_set *find_set(const struct forms *fs, const char *name)
{
    for (int i = 0; i < fs->n_sets; i++)
        if (!strcmp(fs->set[i].name, name))
            return &fs->set[i];
    die("no such set", name);
}

static int read_widths(char *s, int *bits)
{
    char *save;
    int n = 0;

    for (char *w = strtok_r(s, " \t", &save); w; w = strtok_r(NULL, " \t", &save)) {
        if (n == FORM_MAX_OPS)
            die("too many operands", w);
        bits[n++] = atoi(w);
    }
    return n;
}

static void read_term(const struct forms *fs, struct form *f, char *s)
{
    struct form_term *t = &f->term[f->n_terms++];
    char *save, *word, *open;
    int op = 0;

    if (*s == '!') {
        t->kind = TERM_ALL32;
        t->n = atoi(s + 1);
        return;
    }
    if (*s == '@' || *s == '#') {
        t->kind = *s == '@' ? TERM_ROWS : TERM_DIGEST;
        t->n = atoi(s + 1);
        if (!(open = strchr(s, '(')))
            die("a term needs (kinds)", s);
        for (word = strtok_r(open + 1, ",)", &save); word; word = strtok_r(NULL, ",)", &save))
            snprintf(t->gen[op++], sizeof t->gen[0], "%s", trim(word));
    } else {
        t->kind = *s == '~' ? TERM_DIGEST : TERM_SETS;
        t->n = 1;
        for (word = strtok_r(s + (*s == '~'), "*", &save); word; word = strtok_r(NULL, "*", &save)) {
            t->set[op] = find_set(fs, trim(word));
            t->n *= t->set[op++]->n;
        }
    }
    if (op != f->n_in)
        die("operands of the term do not match the form", f->body);
}

/* One line without alternatives. */
static void read_form(struct forms *fs, const char *text)
{
    char *line = strdup(text), *widths, *terms, *arrow, *save;
    struct form *f;

    fs->form = realloc(fs->form, (fs->n + 1) * sizeof *fs->form);
    f = &fs->form[fs->n++];
    memset(f, 0, sizeof *f);
    for (const char *c = text; *c; c++)
        f->key = forms_mix64(f->key * 31 + (unsigned char)*c);
    if (!(widths = strstr(line, " :: ")) || !(terms = strstr(widths + 4, " :: ")))
        die("expected three fields", text);
    *widths = *terms = 0;
    f->body = strdup(trim(line));
    if (!(arrow = strstr(widths + 4, "<-")))
        die("expected <-", text);
    *arrow = 0;
    f->n_out = read_widths(widths + 4, f->out_bits);
    f->n_in = read_widths(arrow + 2, f->in_bits);
    for (char *t = strtok_r(terms + 4, "+", &save); t; t = strtok_r(NULL, "+", &save)) {
        if (f->n_terms == FORM_MAX_TERMS)
            die("too many terms", text);
        read_term(fs, f, trim(t));
    }
    free(line);
}

/* Replaces the first {x,y} by each alternative in turn. */
static void expand(struct forms *fs, const char *line)
{
    const char *open = strchr(line, '{'), *close, *from, *to;
    char *one;

    if (!open) {
        read_form(fs, line);
        return;
    }
    if (!(close = strchr(open, '}')))
        die("unclosed {", line);
    for (from = open + 1; from <= close; from = to + 1) {
        to = from + strcspn(from, ",}");
        if (asprintf(&one, "%.*s%.*s%s", (int)(open - line), line, (int)(to - from), from, close + 1) < 0)
            die("out of memory", line);
        expand(fs, one);
        free(one);
    }
}

struct forms *forms_read(const char *path)
{
    struct forms *fs = calloc(1, sizeof *fs);
    FILE *in = fopen(path, "r");
    char *line = NULL, *s;
    size_t room = 0;

    reading = path;
    line_number = 0;
    if (!in || !fs)
        die("cannot open", path);
    while (getline(&line, &room, in) >= 0) {
        line_number++;
        s = trim(line);
        if (!strncmp(s, "set ", 4))
            read_set(fs, s + 4);
        else if (*s && *s != '%')
            expand(fs, s);
    }
    free(line);
    fclose(in);
    return fs;
}

void forms_free(struct forms *fs)
{
    for (int i = 0; i < fs->n; i++)
        free(fs->form[i].body);
    for (int i = 0; i < fs->n_sets; i++)
        free(fs->set[i].v);
    free(fs->form);
    free(fs);
}

/* ---- Generated operands ---- */

static const uint32_t special_f32[16] = {
    0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x007fffff, 0x00800000, 0x80800001, 0x3f800000,
    0xbf800000, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc12345, 0xffa00001,
};

/* Half of the values have an exponent within 16 of 1, an eighth are special, an eighth tiny; the mantissa of every
 * fourth is mostly zeros or mostly ones. */
static uint64_t gen_float(uint64_t r, int exponent_bits, int fraction_bits)
{
    uint64_t bias = (1u << (exponent_bits - 1)) - 1, e, m = r & ((1ull << fraction_bits) - 1), s = r >> 63;
    int shift = (r >> 58) & 15;
    uint32_t sp = special_f32[(r >> 54) & 15];

    switch (r >> 60 & 7) {
    case 0:
        s = sp >> 31;
        e = (sp >> 23 & 255) == 255 ? 2 * bias + 1 : (sp >> 23 & 255) == 127 ? bias : (sp >> 23 & 255) == 126 ? bias - 1
            : (sp >> 23 & 255) == 254 ? 2 * bias : sp >> 23 & 255;
        m = (uint64_t)(sp & 0x7fffff) << fraction_bits >> 23;
        if (m == 0 && (sp & 0x7fffff))
            m = 1;
        break;
    case 1:
        e = r >> 53 & 3;
        break;
    case 2: case 3:
        e = (r >> 42 ^ r >> 51) & (2 * bias + 1);
        break;
    default:
        e = bias - 16 + (r >> 55 & 31);
        if (bias < 16)
            e = (r >> 55 & 31) % (2 * bias + 1);
    }
    if ((r >> 47 & 3) == 0)
        m = m >> shift % fraction_bits << shift % fraction_bits;
    if ((r >> 47 & 3) == 1)
        m = (m | ((1ull << fraction_bits) - 1) >> shift % fraction_bits) & ((1ull << fraction_bits) - 1);
    return s << (exponent_bits + fraction_bits) | e << fraction_bits | m;
}

/* Kinds: u uniform bits; f a float of the operand's width; b two bf16; h two f16; s<n> an integer below n;
 * m integers near the ends of the range, else uniform with a random length; i the row number. */
static uint64_t generate(const char *kind, int bits, uint64_t row, int op)
{
    uint64_t r = forms_mix64(forms_mix64(row + 0x1234567) + (uint64_t)(op + 1) * 0x9e3779b97f4a7c15u);
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;

    switch (kind[0]) {
    case 'f':
        return bits == 64 ? gen_float(r, 11, 52) : bits == 32 ? gen_float(r, 8, 23) : gen_float(r, 5, 10);
    case 'h':
        return gen_float(r, 5, 10) | gen_float(forms_mix64(r), 5, 10) << 16;
    case 'b':
        return gen_float(r, 8, 7) | gen_float(forms_mix64(r), 8, 7) << 16;
    case 's':
        return r % strtoul(kind + 1, NULL, 10);
    case 'i':
        return row;
    case 'm':
        if ((r >> 60) < 4)
            return ((r >> 59 & 1 ? 0 : 1ull << (bits - 1)) + (r & 7) - 4) & mask;
        return (r >> 62 ? r & mask : (uint64_t)((int64_t)(r << (64 - bits)) >> (r >> 54) % (unsigned)bits) >> (64 - bits)) & mask;
    default:
        return r & mask;
    }
}

uint64_t forms_operand(const struct form *f, const struct form_term *t, int op, int row)
{
    if (!t->set[op])
        return generate(t->gen[op], f->in_bits[op], (uint64_t)row, op);
    for (int k = f->n_in - 1; k > op; k--)
        row /= t->set[k]->n;
    return t->set[op]->v[row % t->set[op]->n];
}

size_t forms_term_size(const struct form *f, const struct form_term *t)
{
    size_t row = 0;

    if (t->kind == TERM_ALL32)
        return (size_t)t->n * 8;
    if (t->kind == TERM_DIGEST)
        return (size_t)(t->n + FORM_DIGEST_ROWS - 1) / FORM_DIGEST_ROWS * 8;
    for (int k = 0; k < f->n_out; k++)
        row += (size_t)f->out_bits[k] / 8;
    return row * (size_t)t->n;
}

/* ---- PTX ---- */

void forms_print_head(FILE *out)
{
    fputs(".version 8.7\n.target sm_90a\n.address_size 64\n", out);
}

static void print_body(FILE *out, const char *body)
{
    fputs("    ", out);
    for (const char *c = body; *c; c++) {
        if (*c == '<')
            fputc('{', out);
        else if (*c == '>')
            fputc('}', out);
        else if (*c == '$')
            fputc('%', out);
        else
            fputc(*c, out);
    }
    fputc('\n', out);
}

static void print_registers(FILE *out, const struct form *f)
{
    fputs("    .reg .pred %p, %q, %inside, %more;\n    .reg .b16 %h, %i;\n    .reg .b32 %t, %u, %v, %w, %row, %n, %r0, %r1;\n"
          "    .reg .b64 %T, %U, %V, %out, %sh, %in, %res, %mem, %adr, %stride, %x, %acc, %z, %z1;\n", out);
    for (int k = 0; k < f->n_out; k++)
        fprintf(out, "    .reg .b%d %%%c;\n", f->out_bits[k], 'd' + k);
    for (int k = 0; k < f->n_in; k++)
        fprintf(out, "    .reg .b%d %%%c;\n", f->in_bits[k], 'a' + k);
}

/* Rows past the end repeat the last one, so that warps are always whole. */
static void print_rows_kernel(FILE *out, const struct form *f, int index)
{
    fprintf(out, ".visible .entry k%d(.param .u64 p_in, .param .u64 p_out, .param .u32 p_n)\n{\n", index);
    if (strstr(f->body, "$sh"))
        fputs("    .shared .align 16 .b8 smem[1024];\n", out);
    print_registers(out, f);
    fputs("    ld.param.u64 %in, [p_in];\n    ld.param.u64 %res, [p_out];\n    ld.param.u32 %n, [p_n];\n"
          "    mov.u32 %r0, %ctaid.x;\n    mov.u32 %r1, %tid.x;\n    mad.lo.u32 %row, %r0, 128, %r1;\n"
          "    setp.lt.u32 %inside, %row, %n;\n    mul.wide.u32 %out, %row, 8;\n    add.u64 %out, %out, %res;\n"
          "    sub.u32 %r0, %n, 1;\n    min.u32 %r0, %row, %r0;\n    mul.wide.u32 %adr, %r0, 8;\n    add.u64 %adr, %adr, %in;\n"
          "    mul.wide.u32 %stride, %n, 8;\n", out);
    if (strstr(f->body, "$mem"))
        fprintf(out, "    mad.lo.u64 %%mem, %%stride, %d, %%out;\n", f->n_out);
    if (strstr(f->body, "$sh"))
        fputs("    mov.u64 %sh, smem;\n    mad.wide.u32 %sh, %r1, 8, %sh;\n", out);
    for (int k = 0; k < f->n_in; k++)
        fprintf(out, "    ld.global.b%d %%%c, [%%adr];\n    add.u64 %%adr, %%adr, %%stride;\n", f->in_bits[k], 'a' + k);
    print_body(out, f->body);
    fputs("    mul.wide.u32 %stride, %n, 8;\n", out);
    for (int k = 0; k < f->n_out; k++)
        fprintf(out, "    @%%inside st.global.b%d [%%out], %%%c;\n    add.u64 %%out, %%out, %%stride;\n", f->out_bits[k], 'd' + k);
    fputs("    ret;\n}\n", out);
}

/* CTA c takes the 65536 values whose upper half is c, adds its digest to word c, and keeps the plain outputs of the
 * values in [first, first + count). 256 threads. */
static void print_all32_kernel(FILE *out, const struct form *f, int index)
{
    fprintf(out, ".visible .entry x%d(.param .u64 p_dig, .param .u64 p_dump, .param .u32 p_first, .param .u32 p_count)\n{\n", index);
    print_registers(out, f);
    fputs("    ld.param.u64 %in, [p_dig];\n    ld.param.u64 %res, [p_dump];\n    mov.u32 %r0, %ctaid.x;\n"
          "    mad.wide.u32 %in, %r0, 8, %in;\n    mov.u32 %r1, %tid.x;\n    shl.b32 %row, %r0, 16;\n    add.u32 %row, %row, %r1;\n"
          "    mov.u64 %acc, 0;\n    mov.u32 %n, 0;\nLOOP:\n    mov.b32 %a, %row;\n", out);
    print_body(out, f->body);
    fprintf(out, "    cvt.u64.u%d %%z, %%d;\n", f->out_bits[0]);
    fputs("    ld.param.u32 %r0, [p_first];\n    ld.param.u32 %r1, [p_count];\n    sub.u32 %r0, %row, %r0;\n"
          "    setp.lt.u32 %inside, %r0, %r1;\n", out);
    fprintf(out, "    mad.wide.u32 %%adr, %%r0, %d, %%res;\n    @%%inside st.global.b%d [%%adr], %%d;\n", f->out_bits[0] / 8, f->out_bits[0]);
    fputs("    cvt.u64.u32 %x, %row;\n    mul.lo.u64 %x, %x, 0x9e3779b97f4a7c15;\n    xor.b64 %z, %z, %x;\n"
          "    shr.u64 %z1, %z, 30;\n    xor.b64 %z, %z, %z1;\n    mul.lo.u64 %z, %z, 0xbf58476d1ce4e5b9;\n"
          "    shr.u64 %z1, %z, 27;\n    xor.b64 %z, %z, %z1;\n    mul.lo.u64 %z, %z, 0x94d049bb133111eb;\n"
          "    shr.u64 %z1, %z, 31;\n    xor.b64 %z, %z, %z1;\n    add.u64 %acc, %acc, %z;\n"
          "    add.u32 %row, %row, 256;\n    add.u32 %n, %n, 1;\n    setp.lt.u32 %more, %n, 256;\n    @%more bra LOOP;\n"
          "    red.global.add.u64 [%in], %acc;\n    ret;\n}\n", out);
}

void forms_print_kernel(FILE *out, const struct form *f, int index)
{
    int rows = 0, all = 0;

    for (int k = 0; k < f->n_terms; k++)
        f->term[k].kind == TERM_ALL32 ? all++ : rows++;
    if (rows)
        print_rows_kernel(out, f, index);
    if (all)
        print_all32_kernel(out, f, index);
}
