#include "argument.h"

#include "load.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct cmd_type types[] = {
    { "u8", 1, CMD_UNSIGNED, 0 },
    { "u16", 2, CMD_UNSIGNED, 0 },
    { "u32", 4, CMD_UNSIGNED, 0 },
    { "u64", 8, CMD_UNSIGNED, 0 },
    { "s8", 1, CMD_SIGNED, 0 },
    { "s16", 2, CMD_SIGNED, 0 },
    { "s32", 4, CMD_SIGNED, 0 },
    { "s64", 8, CMD_SIGNED, 0 },
    { "b8", 1, CMD_BITS, 0 },
    { "b16", 2, CMD_BITS, 0 },
    { "b32", 4, CMD_BITS, 0 },
    { "b64", 8, CMD_BITS, 0 },
    { "f16", 2, CMD_FLOAT, PTXI_FLOAT_F16 },
    { "bf16", 2, CMD_FLOAT, PTXI_FLOAT_BF16 },
    { "f32", 4, CMD_FLOAT, PTXI_FLOAT_F32 },
    { "f64", 8, CMD_FLOAT, PTXI_FLOAT_F64 },
};

/* Types of parameters that arguments do not have. */
static const struct cmd_type parameter_types[] = { { "f16x2", 4, CMD_FLOAT, 0 }, { "b128", 16, CMD_BITS, 0 } };

static const struct cmd_type *find_in(const struct cmd_type *list, size_t count, const char *s, size_t n)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(list[i].name) == n && !memcmp(list[i].name, s, n))
            return &list[i];
    return NULL;
}

static const struct cmd_type *find_type(const char *s, size_t n)
{
    return find_in(types, sizeof types / sizeof *types, s, n);
}

/* ---- values */

static bool is_ptx_float(const char *s, char letter, size_t digits)
{
    return s[0] == '0' && tolower((unsigned char)s[1]) == letter && strspn(s + 2, "0123456789abcdefABCDEF") == digits &&
           !s[2 + digits];
}

/* 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX are the bits of an f32 or f64. */
static bool parse_ptx_float(const char *s, double *v)
{
    if (is_ptx_float(s, 'f', 8))
        *v = ptxi_inspect_float(PTXI_FLOAT_F32, strtoul(s + 2, NULL, 16));
    else if (is_ptx_float(s, 'd', 16))
        *v = ptxi_inspect_float(PTXI_FLOAT_F64, strtoull(s + 2, NULL, 16));
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
    if (parse_ptx_float(s, &v)) {
        *bits = ptxi_inspect_float_bits(t->format, v);
        return true;
    }
    /* An f32 by way of a double would be rounded twice. */
    v = t->format == PTXI_FLOAT_F32 ? (double)strtof(s, &end) : strtod(s, &end);
    *bits = ptxi_inspect_float_bits(t->format, v);
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

/* ---- contents of buffers */

static void put(struct cmd_arg *a, size_t i, uint64_t bits)
{
    assert(i < a->count && (i + 1) * a->type->size <= a->bytes);
    memcpy(a->data + i * a->type->size, &bits, a->type->size);
}

static bool fail(char **why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(char **why, const char *fmt, ...)
{
    va_list ap;

    assert(!*why);
    va_start(ap, fmt);
    if (vasprintf(why, fmt, ap) < 0)
        *why = NULL;
    va_end(ap);
    return false;
}

static bool allocate(struct cmd_arg *a, char **why)
{
    if (__builtin_mul_overflow(a->count, a->type->size, &a->bytes) || !(a->data = calloc(a->bytes + 1, 1)))
        return fail(why, "out of memory");
    return true;
}

/* `words` has `n` numbers, separated by commas. A single one fills the buffer. */
static bool put_list(struct cmd_arg *a, char *words, size_t n, char **why)
{
    uint64_t bits = 0;
    size_t i = 0;

    for (char *word = words, *comma; i < n; i++, word = comma + 1) {
        comma = word + strcspn(word, ",");
        *comma = 0;
        if (!parse_value(a->type, word, &bits))
            return fail(why, "'%s' is not a value of type %s", word, a->type->name);
        put(a, i, bits);
    }
    for (; n == 1 && i < a->count; i++)
        put(a, i, bits);
    return true;
}

static bool fill_list(struct cmd_arg *a, const char *s, char **why)
{
    size_t n = 1;

    for (const char *c = s; *c; c++)
        n += *c == ',';
    if (!a->count)
        a->count = n;
    if (n != 1 && n != a->count)
        return fail(why, "expected %zu elements, got %zu", a->count, n);
    if (!allocate(a, why))
        return false;
    char *copy = strdup(s);
    bool ok = copy ? put_list(a, copy, n, why) : fail(why, "out of memory");

    free(copy);
    return ok;
}

/* Numbers of a ramp: f64 for floats, 64 bits for integers. */
static bool parse_ramp_number(bool real, const char *s, size_t n, uint64_t *bits)
{
    static const struct cmd_type f64 = { "f64", 8, CMD_FLOAT, PTXI_FLOAT_F64 }, b64 = { "b64", 8, CMD_BITS, 0 };
    char word[64];

    if (n >= sizeof word)
        return false;
    snprintf(word, sizeof word, "%.*s", (int)n, s);
    return parse_value(real ? &f64 : &b64, word, bits);
}

static uint64_t ramp_element(const struct cmd_type *t, uint64_t first, uint64_t step, size_t i)
{
    if (t->class != CMD_FLOAT)
        return first + i * step;
    return ptxi_inspect_float_bits(t->format, ptxi_inspect_float(PTXI_FLOAT_F64, first) +
                                                  (double)i * ptxi_inspect_float(PTXI_FLOAT_F64, step));
}

/* `s` is ":FIRST:STEP"; both may be missing. */
static bool fill_ramp(struct cmd_arg *a, const char *s, char **why)
{
    bool real = a->type->class == CMD_FLOAT;
    uint64_t v[2] = { 0, real ? ptxi_inspect_float_bits(PTXI_FLOAT_F64, 1) : 1 };

    for (int k = 0; k < 2 && *s == ':'; k++) {
        size_t n = strcspn(s + 1, ":");

        if (!parse_ramp_number(real, s + 1, n, &v[k]))
            return fail(why, "'%.*s' is not a number", (int)n, s + 1);
        s += n + 1;
    }
    if (*s)
        return fail(why, "unexpected text '%s'; expected ramp:FIRST:STEP", s);
    if (!allocate(a, why))
        return false;
    for (size_t i = 0; i < a->count; i++)
        put(a, i, ramp_element(a->type, v[0], v[1], i));
    return true;
}

/* splitmix64 */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Floats are multiples of the last place below 1, so that none is rounded to 1. */
static uint64_t random_element(const struct cmd_type *t, uint64_t bits)
{
    static const uint8_t precision[] = {
        [PTXI_FLOAT_F16] = 11, [PTXI_FLOAT_BF16] = 8, [PTXI_FLOAT_F32] = 24, [PTXI_FLOAT_F64] = 53,
    };

    if (t->class != CMD_FLOAT)
        return bits;
    int digits = precision[t->format];

    return ptxi_inspect_float_bits(t->format, ldexp((double)(bits >> (64 - digits)), -digits));
}

/* `s` is ":SEED" or empty. */
static bool fill_random(struct cmd_arg *a, const char *s, char **why)
{
    unsigned long long seed = 0;

    if (*s && (*s != ':' || !ptxi_cmd_number(s + 1, UINT64_MAX, &seed)))
        return fail(why, "'%s' is not a seed; expected a number from 0 to 2^64 - 1", s + (*s == ':'));
    uint64_t state = seed;

    if (!allocate(a, why))
        return false;
    for (size_t i = 0; i < a->count; i++)
        put(a, i, random_element(a->type, random_bits(&state)));
    return true;
}

/* The largest file without a number of elements. A device or a pipe may have no end. */
#define MOST_BYTES ((size_t)1 << 32)

static bool fill_file(struct cmd_arg *a, const char *file, char **why)
{
    size_t expected = a->count * a->type->size, size; /* 0: all that the file has */

    a->data = (unsigned char *)ptxi_cmd_read(file, expected ? expected : MOST_BYTES, &size);
    if (!a->data)
        return fail(why, "the file cannot be read");
    if (size % a->type->size)
        return fail(why, "%s has %zu bytes, which is not a multiple of the size of %s", file, size, a->type->name);
    if (!a->count)
        a->count = size / a->type->size;
    a->bytes = a->count * a->type->size;
    if (size != a->bytes)
        return fail(why, "%s has %zu bytes, expected %zu", file, size, a->bytes);
    return true;
}

static bool is_number(const char *s)
{
    if (!strncasecmp(s, "inf", 3) || !strncasecmp(s, "nan", 3))
        return true;
    return isdigit((unsigned char)*s) || *s == '-' || *s == '+' || *s == '.';
}

/* Whether the contents are `word`, perhaps with a colon and more. */
static bool is_generator(const char *s, const char *word)
{
    size_t n = strlen(word);

    return !strncmp(s, word, n) && (!s[n] || s[n] == ':');
}

/* `s` is the text after the '=' of TYPE[N]=, or "". */
static bool fill_any(struct cmd_arg *a, const char *s, char **why)
{
    if (*s == '@')
        return fill_file(a, s + 1, why);
    if (is_number(s))
        return fill_list(a, s, why);
    if (!a->count)
        return fail(why, "missing number of elements; expected %s[N]", a->type->name);
    if (!*s)
        return allocate(a, why);
    if (is_generator(s, "ramp"))
        return fill_ramp(a, s + 4, why);
    if (is_generator(s, "rand"))
        return fill_random(a, s + 4, why);
    return fail(why, "invalid contents '%s'; expected numbers, ramp, rand or @FILE", s);
}

static bool fill(struct cmd_arg *a, const char *s, char **why)
{
    if (!fill_any(a, s, why))
        return false;
    return a->count ? true : fail(why, "the buffer has no elements");
}

/* ---- arguments */

/* "[N]" or "[]" at *s, which advances to the text after it. */
static bool parse_count(struct cmd_arg *a, const char **s, char **why)
{
    const char *end = strchr(*s, ']');
    unsigned long long n = 0;
    char digits[32];

    if (!end)
        return fail(why, "missing ']'");
    snprintf(digits, sizeof digits, "%.*s", (int)(end - *s - 1), *s + 1);
    if (*digits && (!ptxi_cmd_number(digits, UINT64_MAX >> 4, &n) || !n))
        return fail(why, "'%s' is not a number of elements", digits);
    a->count = n;
    *s = end + 1;
    return true;
}

static bool parse_same(struct cmd_arg *a, const char *s, char **why)
{
    unsigned long long n;

    a->buffer = true;
    if (!ptxi_cmd_number(s, UINT32_MAX, &n))
        return fail(why, "'%s' is not the number of an argument", s);
    a->same = (unsigned)n;
    return true;
}

static bool unknown_type(const char *s, size_t n, char **why)
{
    return fail(why, "unknown type '%.*s'; expected u, s or b with 8, 16, 32 or 64, or f16, bf16, f32 or f64", (int)n,
                s);
}

bool ptxi_cmd_parse_arg(struct cmd_arg *a, const char *text, char **why)
{
    bool by_value = !strncmp(text, "val:", 4);
    const char *s = text + (by_value ? 4 : 0), *e = s + strcspn(s, "[=");

    *why = NULL;
    *a = (struct cmd_arg){ .text = text };
    if (!strncmp(text, "same:", 5))
        return parse_same(a, text + 5, why);
    a->type = find_type(s, (size_t)(e - s));
    if (!a->type)
        return unknown_type(s, (size_t)(e - s), why);
    if (*e == '[') {
        a->buffer = !by_value;
        if (!parse_count(a, &e, why))
            return false;
        if (*e && *e != '=')
            return fail(why, "expected '=' at '%s'", e);
        return fill(a, *e ? e + 1 : "", why);
    }
    if (*e != '=')
        return fail(why, "missing value; expected %s=VALUE or %s[N]=CONTENTS", a->type->name, a->type->name);
    a->count = 1;
    return fill_list(a, e + 1, why);
}

/* NULL: a texture, sampler or surface. */
static const struct cmd_type *type_of(const ptxiParam *p)
{
    const struct cmd_type *t = find_type(p->type, strlen(p->type));

    return t ? t : find_in(parameter_types, sizeof parameter_types / sizeof *parameter_types, p->type, strlen(p->type));
}

/* Arrays, vectors and opaque types take any argument of their size. Elsewhere floats are for floats only. */
bool ptxi_cmd_arg_fits(const struct cmd_arg *a, const ptxiParam *p)
{
    const struct cmd_type *t = type_of(p);
    bool scalar = t && !p->count && p->bytes == t->size;

    if (a->buffer)
        return scalar && p->bytes == 8 && t->class != CMD_FLOAT;
    if (a->bytes != p->bytes)
        return false;
    if (!scalar || a->type->class == CMD_BITS || t->class == CMD_BITS)
        return true;
    return (a->type->class == CMD_FLOAT) == (t->class == CMD_FLOAT);
}
