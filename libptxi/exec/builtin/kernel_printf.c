/* printf of kernels. CUDA C++ Programming Guide, "Formatted Output". */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/builtin/builtin_call.h"
#include "exec/builtin/kernel_functions.h"
#include "exec/engine/engine.h"
#include "exec/memory/access.h"

enum { FORMAT_MAX = 8192, PIECE_MAX = 4096, SPEC_MAX = 64 };

struct output {
    char text[16384]; /* not yet given to the program */
    size_t size;
    struct ptxi_builtin_call *call;
};

static void flush_output(struct output *o)
{
    const struct ptxi_grid *g = o->call->warp->cta->grid;

    if (!o->size)
        return;
    ptxi_builtin_leave(o->call);
    g->output(g->output_ctx, o->text, o->size);
    ptxi_builtin_return(o->call);
    o->size = 0;
}

static void put_text(struct output *o, const char *s, size_t n)
{
    if (n > sizeof o->text - o->size)
        flush_output(o);
    if (n > sizeof o->text)
        n = sizeof o->text;
    memcpy(o->text + o->size, s, n);
    o->size += n;
}

/* The arguments of one thread's call: consecutive values at their natural alignment. */
struct arguments {
    struct ptxi_builtin_call *call;
    unsigned lane;
    uint64_t next; /* address */
    int count;     /* number of arguments read */
};

static uint64_t next_argument(struct arguments *a, unsigned size)
{
    uint64_t x = 0;

    assert(size && size <= sizeof x && !(size & (size - 1)));
    a->next = (a->next + size - 1) & ~(uint64_t)(size - 1);
    ptxi_access_read(a->call->warp, a->lane, a->next, &x, size);
    a->next += size;
    a->count++;
    return x;
}

/* A conversion specification. */
struct conversion {
    char spec[SPEC_MAX]; /* for the host's printf, which has other length modifiers */
    size_t size;         /* of spec */
    unsigned bytes;      /* of an integer */
    char kind;           /* conversion specifier */
    bool unknown;        /* printed unchanged: other length modifiers than h, hh, l and ll, a precision from the
                            arguments, unknown specifiers */
};

static void spec_add(struct conversion *c, const char *s)
{
    while (*s && c->size < sizeof c->spec - 8)
        c->spec[c->size++] = *s++;
    c->spec[c->size] = 0;
}

/* A width or precision, in digits or from the arguments, at most PIECE_MAX. */
static const char *parse_number(const char *p, int *value, struct arguments *a)
{
    long long n = 0;

    if (*p == '*')
        n = (int)next_argument(a, 4), p++;
    else
        for (; *p >= '0' && *p <= '9'; p++)
            n = n < PIECE_MAX ? 10 * n + (*p - '0') : n;
    if (n < -PIECE_MAX)
        n = -PIECE_MAX;
    *value = (int)(n < PIECE_MAX ? n : PIECE_MAX);
    return p;
}

/* Parses a conversion specification. Returns its end. */
static const char *parse_conversion(const char *p, struct conversion *c, struct arguments *a)
{
    static const char flags[] = "-+ #0";
    const char *first = p;
    char number[16];
    size_t modifiers;
    int value;

    *c = (struct conversion){ .bytes = 4 };
    spec_add(c, "%");
    for (p++; *p && strchr(flags, *p); p++)
        if (!strchr(c->spec, *p))
            spec_add(c, (char[]){ *p, 0 });
    if (*p == '*' || (*p >= '1' && *p <= '9')) {
        p = parse_number(p, &value, a); /* a negative width is the flag and a width */
        snprintf(number, sizeof number, "%d", value);
        spec_add(c, number);
    }
    if (*p == '.') {
        c->unknown = p[1] == '*';
        p = parse_number(p + 1, &value, a);
        snprintf(number, sizeof number, ".%d", value);
        spec_add(c, value < 0 ? "" : number); /* a negative precision is ignored */
    }
    modifiers = strspn(p, "hlLqjzt");
    c->unknown |= modifiers > 2 || (modifiers && *p != 'h' && *p != 'l') || (modifiers == 2 && p[1] != *p);
    c->bytes = *p == 'l' ? 8 : 4 >> (modifiers & 3);
    p += modifiers;
    c->kind = *p;
    c->unknown |= !*p || (*p == '%' ? p != first + 1 : !strchr("diuoxXcpsfFeEgGaA", *p));
    return *p ? p + 1 : p;
}

static int64_t narrow(uint64_t x, unsigned bytes, bool is_signed)
{
    switch (bytes) {
    case 1: return is_signed ? (int8_t)x : (uint8_t)x;
    case 2: return is_signed ? (int16_t)x : (uint16_t)x;
    case 4: return is_signed ? (int64_t)(int32_t)x : (int64_t)(uint32_t)x;
    default: return (int64_t)x;
    }
}

/* Prints the next argument. */
static void convert(struct output *o, struct conversion *c, struct arguments *a)
{
    char piece[PIECE_MAX], string[PIECE_MAX];
    int n = 0;

    switch (c->kind) {
    case 'd': case 'i': case 'u': case 'o': case 'x': case 'X': {
        bool is_signed = c->kind == 'd' || c->kind == 'i';
        uint64_t x = next_argument(a, c->bytes == 8 ? 8 : 4);
        char kind[4] = { 'l', 'l', c->kind, 0 };

        spec_add(c, kind);
        n = snprintf(piece, sizeof piece, c->spec, (long long)narrow(x, c->bytes, is_signed));
        break;
    }
    case 'c':
        spec_add(c, "c");
        n = snprintf(piece, sizeof piece, c->spec, (int)next_argument(a, 4));
        break;
    case 'p':
        spec_add(c, "p");
        n = snprintf(piece, sizeof piece, c->spec, (void *)(uintptr_t)next_argument(a, 8));
        break;
    case 's':
        ptxi_builtin_read_string(a->call, a->lane, next_argument(a, 8), string, sizeof string);
        spec_add(c, "s");
        n = snprintf(piece, sizeof piece, c->spec, string);
        break;
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A': {
        uint64_t bits = next_argument(a, 8);
        double x;
        char kind[2] = { c->kind, 0 };

        memcpy(&x, &bits, sizeof x);
        spec_add(c, kind);
        n = snprintf(piece, sizeof piece, c->spec, x);
        break;
    }
    default:
        n = snprintf(piece, sizeof piece, "%c", c->kind); /* %% */
    }
    if (n < 0)
        n = 0;
    put_text(o, piece, (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
}

/* Prints a format. Returns the number of arguments. */
static int print(struct output *o, const char *p, struct arguments *a)
{
    while (*p) {
        size_t n = strcspn(p, "%");
        struct arguments before = *a;
        struct conversion c;
        const char *end;

        put_text(o, p, n);
        p += n;
        if (!*p)
            break;
        end = parse_conversion(p, &c, a);
        if (c.unknown) {
            *a = before;
            put_text(o, p, (size_t)(end - p));
        } else {
            convert(o, &c, a);
        }
        p = end;
    }
    return a->count;
}

/* int vprintf(const char *format, const void *arguments) */
bool ptxi_builtin_vprintf(struct ptxi_builtin_call *call, void *user)
{
    struct output o = { .call = call };
    char *format = malloc(FORMAT_MAX);
    bool may_continue = true;

    (void)user;
    for (uint64_t left = call->lanes; left && (may_continue = ptxi_builtin_may_continue(call)); left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t at = ptxi_builtin_arg64(call, 0, l);
        struct arguments a = { call, l, ptxi_builtin_arg64(call, 2, l), 0 };
        int result = format ? -1 : -2;

        if (at && format) {
            ptxi_builtin_read_string(call, l, at, format, FORMAT_MAX);
            result = print(&o, format, &a);
        }
        ptxi_builtin_return32(call, l, (uint32_t)result);
    }
    flush_output(&o);
    free(format);
    return may_continue;
}
