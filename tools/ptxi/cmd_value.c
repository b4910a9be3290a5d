/* Values on the command line: u32=7, f32[1024]=ramp, f64[]=@file.bin. */
#include "cmd.h"

#include "num/convert.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct cmd_type types[] = {
    { "u8", 1, CMD_UNSIGNED },  { "u16", 2, CMD_UNSIGNED }, { "u32", 4, CMD_UNSIGNED }, { "u64", 8, CMD_UNSIGNED },
    { "s8", 1, CMD_SIGNED },    { "s16", 2, CMD_SIGNED },   { "s32", 4, CMD_SIGNED },   { "s64", 8, CMD_SIGNED },
    { "b8", 1, CMD_BITS },      { "b16", 2, CMD_BITS },     { "b32", 4, CMD_BITS },     { "b64", 8, CMD_BITS },
    { "f16", 2, CMD_FLOAT },    { "bf16", 2, CMD_FLOAT },   { "f32", 4, CMD_FLOAT },    { "f64", 8, CMD_FLOAT },
};

static const struct cmd_type *find_type(const char *s, size_t n)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && !memcmp(types[i].name, s, n))
            return &types[i];
    return NULL;
}

static uint64_t from_double(const struct cmd_type *t, double v)
{
    uint32_t odd;

    if (t->size == 8)
        return ptxi_num_bits_f64(v);
    if (t->size == 4)
        return ptxi_num_bits_f32((float)v);
    odd = ptxi_num_bits_f32(ptxi_num_f32_odd(v));
    return t->name[0] == 'f' ? ptxi_num_f16_from_f32(odd, PTXI_NUM_RN) : ptxi_num_bf16_from_f32(odd, PTXI_NUM_RN);
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX: the bits of an f32 or f64, as PTX writes them. */
static bool ptx_float(const char *s, double *v)
{
    size_t digits;

    if (s[0] != '0' || !s[1])
        return false;
    digits = strspn(s + 2, "0123456789abcdefABCDEF");
    if (s[2 + digits])
        return false;
    if (tolower((unsigned char)s[1]) == 'f' && digits == 8)
        *v = (double)ptxi_num_f32((uint32_t)strtoul(s + 2, NULL, 16));
    else if (tolower((unsigned char)s[1]) == 'd' && digits == 16)
        *v = ptxi_num_f64(strtoull(s + 2, NULL, 16));
    else
        return false;
    return true;
}

static bool parse_float(const struct cmd_type *t, const char *s, uint64_t *bits)
{
    char *end;
    double v;

    if (!*s || isspace((unsigned char)*s))
        return false;
    if (ptx_float(s, &v)) {
        *bits = from_double(t, v);
        return true;
    }
    if (t->size == 4) { /* not by way of a double, which would round twice */
        *bits = ptxi_num_bits_f32(strtof(s, &end));
        return !*end;
    }
    *bits = from_double(t, strtod(s, &end));
    return !*end;
}

static bool parse_integer(const struct cmd_type *t, const char *s, uint64_t *bits)
{
    unsigned width = t->size * 8u;
    uint64_t most = UINT64_MAX >> (64 - width), half = (most >> 1) + 1, v;
    bool minus = *s == '-';
    char *end;

    s += minus;
    if (!isdigit((unsigned char)*s))
        return false;
    errno = 0;
    v = strtoull(s, &end, strncasecmp(s, "0x", 2) ? 10 : 16);
    if (*end || errno)
        return false;
    if (minus && (v > half || (t->class == CMD_UNSIGNED && v)))
        return false;
    if (!minus && v > (t->class == CMD_SIGNED ? half - 1 : most))
        return false;
    *bits = minus ? -v : v;
    return true;
}

static bool parse_value(const struct cmd_type *t, const char *s, uint64_t *bits)
{
    return t->class == CMD_FLOAT ? parse_float(t, s, bits) : parse_integer(t, s, bits);
}

static void put(struct cmd_arg *a, size_t i, uint64_t bits)
{
    memcpy(a->data + i * a->type->size, &bits, a->type->size);
}

static bool fail(struct ptxi_str *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct ptxi_str *why, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    ptxi_str_vprintf(why, fmt, ap);
    va_end(ap);
    return false;
}

static bool allocate(struct cmd_arg *a, struct ptxi_str *why)
{
    if (__builtin_mul_overflow(a->count, a->type->size, &a->bytes) || !(a->data = calloc(a->bytes + 1, 1)))
        return fail(why, "not enough memory");
    return true;
}

static bool fill_list(struct cmd_arg *a, const char *s, struct ptxi_str *why)
{
    size_t n = 1, i = 0;
    char *copy = strdup(s), *word = copy, *comma;
    uint64_t bits = 0;
    bool ok = copy != NULL;

    for (const char *c = s; *c; c++)
        n += *c == ',';
    if (!a->count)
        a->count = n;
    if (n != 1 && n != a->count)
        ok = fail(why, "%zu elements are given for %zu", n, a->count);
    ok = ok && allocate(a, why);
    for (; ok && i < n; i++, word = comma + 1) {
        comma = word + strcspn(word, ",");
        *comma = 0;
        if (!parse_value(a->type, word, &bits))
            ok = fail(why, "'%s' is no %s", word, a->type->name);
        else
            put(a, i, bits);
    }
    for (; ok && n == 1 && i < a->count; i++)
        put(a, i, bits);
    free(copy);
    return ok;
}

/* ":first:step", either may be missing. */
static bool fill_ramp(struct cmd_arg *a, const char *s, struct ptxi_str *why)
{
    static const struct cmd_type f64 = { "f64", 8, CMD_FLOAT }, b64 = { "b64", 8, CMD_BITS };
    bool real = a->type->class == CMD_FLOAT;
    uint64_t v[2] = { 0, real ? ptxi_num_bits_f64(1) : 1 };
    char word[64];

    for (int k = 0; k < 2 && *s == ':'; k++) {
        size_t n = strcspn(s + 1, ":");

        snprintf(word, sizeof word, "%.*s", (int)n, s + 1);
        if (n >= sizeof word || !parse_value(real ? &f64 : &b64, word, &v[k]))
            return fail(why, "'%.*s' is no number", (int)n, s + 1);
        s += n + 1;
    }
    if (*s)
        return fail(why, "'%s' is left over", s);
    if (!allocate(a, why))
        return false;
    for (size_t i = 0; i < a->count; i++)
        put(a, i, real ? from_double(a->type, ptxi_num_f64(v[0]) + (double)i * ptxi_num_f64(v[1])) : v[0] + i * v[1]);
    return true;
}

static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; /* splitmix64 */

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Floats are multiples of the last place below 1, so that no rounding reaches 1. */
static bool fill_random(struct cmd_arg *a, const char *s, struct ptxi_str *why)
{
    unsigned precision = a->type->size == 8 ? 53 : a->type->size == 4 ? 24 : a->type->name[0] == 'f' ? 11 : 8;
    unsigned long long seed = 0;

    if (*s && (*s != ':' || !ptxi_cmd_number(s + 1, UINT64_MAX, &seed)))
        return fail(why, "'%s' is no seed", s + (*s == ':'));
    uint64_t state = seed;

    if (!allocate(a, why))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t r = random_bits(&state);

        put(a, i, a->type->class == CMD_FLOAT ? from_double(a->type, ldexp((double)(r >> (64 - precision)), -(int)precision)) : r);
    }
    return true;
}

/* What is read where nothing says how much there is: a device or a pipe may have no end. */
#define MOST_BYTES ((size_t)1 << 32)

static bool fill_file(struct cmd_arg *a, const char *file, struct ptxi_str *why)
{
    size_t want = a->count * a->type->size, size; /* want 0: all there is */
    char *text = ptxi_cmd_read(file, want ? want : MOST_BYTES, &size);

    if (!text)
        return fail(why, "the file cannot be read");
    a->data = (unsigned char *)text;
    if (size % a->type->size)
        return fail(why, "%zu bytes of %s are no whole number of %s", size, file, a->type->name);
    if (!a->count)
        a->count = size / a->type->size;
    a->bytes = a->count * a->type->size;
    if (size != a->bytes)
        return fail(why, "%s has %zu bytes, not %zu", file, size, a->bytes);
    return true;
}

/* `s` is what stands behind the '=' of TYPE[N]=, or NULL. */
static bool fill(struct cmd_arg *a, const char *s, struct ptxi_str *why)
{
    bool ok;

    if (s && *s == '@')
        ok = fill_file(a, s + 1, why);
    else if (s && (isdigit((unsigned char)*s) || strchr("-+.", *s) || !strncasecmp(s, "inf", 3) || !strncasecmp(s, "nan", 3)) && *s)
        ok = fill_list(a, s, why);
    else if (!a->count)
        ok = fail(why, "how many elements? %s[N]", a->type->name);
    else if (!s || !*s)
        ok = allocate(a, why);
    else if (!strncmp(s, "ramp", 4) && (!s[4] || s[4] == ':'))
        ok = fill_ramp(a, s + 4, why);
    else if (!strncmp(s, "rand", 4) && (!s[4] || s[4] == ':'))
        ok = fill_random(a, s + 4, why);
    else
        ok = fail(why, "'%s' is none of: a list of numbers, ramp, rand, @FILE", s);
    if (ok && !a->count)
        ok = fail(why, "a buffer of no elements");
    return ok;
}

/* "[N]" or "[]". */
static bool parse_count(struct cmd_arg *a, const char **s, struct ptxi_str *why)
{
    const char *end = strchr(*s, ']');
    unsigned long long n = 0;
    char digits[32];

    if (!end)
        return fail(why, "']' is missing");
    snprintf(digits, sizeof digits, "%.*s", (int)(end - *s - 1), *s + 1);
    if (*digits && (!ptxi_cmd_number(digits, UINT64_MAX >> 4, &n) || !n))
        return fail(why, "'%s' is no number of elements", digits);
    a->count = n;
    *s = end + 1;
    return true;
}

bool ptxi_cmd_parse_arg(struct cmd_arg *a, const char *text, struct ptxi_str *why)
{
    bool by_value = !strncmp(text, "val:", 4);
    const char *s = text + (by_value ? 4 : 0), *e = s + strcspn(s, "[=");
    unsigned long long n;

    *a = (struct cmd_arg){ .text = text };
    if (!strncmp(text, "same:", 5)) {
        a->buffer = true;
        if (!ptxi_cmd_number(text + 5, UINT32_MAX, &n))
            return fail(why, "'%s' is no number of an argument", text + 5);
        a->same = (unsigned)n;
        return true;
    }
    a->type = find_type(s, (size_t)(e - s));
    if (!a->type)
        return fail(why, "'%.*s' is no type", (int)(e - s), s);
    if (*e == '[') {
        a->buffer = !by_value;
        if (!parse_count(a, &e, why))
            return false;
        if (*e && *e != '=')
            return fail(why, "'=' expected at '%s'", e);
        return fill(a, *e ? e + 1 : NULL, why);
    }
    if (*e != '=')
        return fail(why, "a value is missing: %s=VALUE or %s[N]=CONTENTS", a->type->name, a->type->name);
    a->count = 1;
    return fill_list(a, e + 1, why);
}

bool ptxi_cmd_arg_fits(const struct cmd_arg *a, const struct ptxi_var *p)
{
    bool array = p->size != p->element || p->vector > 1 || p->opaque;
    char class = p->opaque ? 'B' : ptxi_types[p->type].class;

    if (a->buffer)
        return p->size == 8 && !array && class != 'F';
    if (a->bytes != p->size)
        return false;
    if (array || a->type->class == CMD_BITS || class == 'B')
        return true;
    return (a->type->class == CMD_FLOAT) == (class == 'F' || class == 'A');
}
