#include "exec/builtin/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/memory/access.h"

/* Text of a kernel's memory up to its NUL, at most size - 1 characters. Returns its length. */
static size_t read_string(struct ptxi_warp *w, unsigned lane, uint64_t address, char *to, size_t size)
{
    size_t n = address ? ptxi_mem_read(w, lane, address, to, size - 1) : 0;

    if (!address)
        n = (size_t)snprintf(to, size, "(null)");
    to[n] = 0;
    return strlen(to);
}

unsigned char *ptxi_builtin_pointer(struct ptxi_builtin_call *call, unsigned lane, uint64_t address, size_t bytes, bool write)
{
    return ptxi_mem_range(call->warp, call->insn, lane, address, bytes, write ? PTXI_ACCESS_STORE : PTXI_ACCESS_LOAD);
}

bool ptxi_builtin_may_go_on(struct ptxi_builtin_call *call)
{
    const struct ptxi_grid *g = call->warp->cta->grid;
    enum ptxi_fault_kind kind = ptxi_exceeded_limit(g);

    if (kind != PTXI_FK_NONE)
        ptxi_fault(call->warp, call->insn, kind, call->lanes, 0, 0, NULL);
    else if (atomic_load_explicit(&g->failed, memory_order_relaxed))
        call->warp->event = PTXI_EVENT_FAULT;
    else
        return true;
    return false;
}

void ptxi_builtin_leave(struct ptxi_builtin_call *call)
{
    ptxi_grace_leave(call->warp->worker->grace);
}

void ptxi_builtin_return(struct ptxi_builtin_call *call)
{
    ptxi_grace_enter(call->warp->worker->grace);
}

/* --- vprintf --- */

enum { FORMAT_MAX = 8192, PIECE_MAX = 4096, SPEC_MAX = 64 };

struct output {
    char text[16384];
    size_t size;
    struct ptxi_builtin_call *call;
};

static void flush(struct output *o)
{
    const struct ptxi_grid *g = o->call->warp->cta->grid;

    if (!o->size)
        return;
    ptxi_builtin_leave(o->call);
    g->output(g->output_ctx, o->text, o->size);
    ptxi_builtin_return(o->call);
    o->size = 0;
}

static void put(struct output *o, const char *s, size_t n)
{
    if (n > sizeof o->text - o->size)
        flush(o);
    if (n > sizeof o->text)
        n = sizeof o->text;
    memcpy(o->text + o->size, s, n);
    o->size += n;
}

/* The arguments of one thread's call: values at their natural alignment, one behind the other. */
struct arguments {
    struct ptxi_warp *warp;
    unsigned lane;
    uint64_t next;
    int count;
};

static uint64_t take(struct arguments *a, unsigned size)
{
    uint64_t x = 0;

    a->next = (a->next + size - 1) & ~(uint64_t)(size - 1);
    ptxi_mem_read(a->warp, a->lane, a->next, &x, size);
    a->next += size;
    a->count++;
    return x;
}

/* One conversion, from its % on; `spec` is rebuilt with the host's length modifiers. Returns its end. */
struct conversion {
    char spec[SPEC_MAX];
    size_t size;
    unsigned bytes; /* of an integer */
    char kind;
    bool unknown;   /* printed as it stands: with other modifiers than h, hh, l and ll, with a precision from the arguments, and letters that convert nothing */
};

static void spec_add(struct conversion *c, const char *s)
{
    while (*s && c->size < sizeof c->spec - 8)
        c->spec[c->size++] = *s++;
    c->spec[c->size] = 0;
}

/* A width or precision in digits or from the arguments. More than a piece holds is as good as that. */
static const char *parse_number(const char *p, int *value, struct arguments *a)
{
    long long n = 0;

    if (*p == '*')
        n = (int)take(a, 4), p++;
    else
        for (; *p >= '0' && *p <= '9'; p++)
            n = n < PIECE_MAX ? 10 * n + (*p - '0') : n;
    *value = (int)(n < -PIECE_MAX ? -PIECE_MAX : n < PIECE_MAX ? n : PIECE_MAX);
    return p;
}

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
        p = parse_number(p, &value, a); /* a negative one is the flag and a width */
        snprintf(number, sizeof number, "%d", value);
        spec_add(c, number);
    }
    if (*p == '.') {
        c->unknown = p[1] == '*';
        p = parse_number(p + 1, &value, a);
        snprintf(number, sizeof number, ".%d", value);
        spec_add(c, value < 0 ? "" : number); /* a negative one is none */
    }
    modifiers = strspn(p, "hlLqjzt");
    c->unknown |= modifiers > 2 || (modifiers && *p != 'h' && *p != 'l') || (modifiers == 2 && p[1] != *p);
    c->bytes = *p == 'l' ? 8 : 4 >> (modifiers & 3);
    p += modifiers;
    c->kind = *p;
    c->unknown |= !*p || (*p == '%' ? p != first + 1 : !strchr("diuoxXcpsfFeEgGaA", *p));
    return *p ? p + 1 : p;
}

static int64_t narrowed(uint64_t x, unsigned bytes, bool is_signed)
{
    switch (bytes) {
    case 1: return is_signed ? (int8_t)x : (uint8_t)x;
    case 2: return is_signed ? (int16_t)x : (uint16_t)x;
    case 4: return is_signed ? (int64_t)(int32_t)x : (int64_t)(uint32_t)x;
    default: return (int64_t)x;
    }
}

static void convert(struct output *o, struct conversion *c, struct arguments *a)
{
    char piece[PIECE_MAX], string[PIECE_MAX];
    int n = 0;

    switch (c->kind) {
    case 'd': case 'i': case 'u': case 'o': case 'x': case 'X': {
        bool is_signed = c->kind == 'd' || c->kind == 'i';
        uint64_t x = take(a, c->bytes == 8 ? 8 : 4);
        char kind[4] = { 'l', 'l', c->kind, 0 };

        spec_add(c, kind);
        n = snprintf(piece, sizeof piece, c->spec, (long long)narrowed(x, c->bytes, is_signed));
        break;
    }
    case 'c':
        spec_add(c, "c");
        n = snprintf(piece, sizeof piece, c->spec, (int)take(a, 4));
        break;
    case 'p':
        spec_add(c, "p");
        n = snprintf(piece, sizeof piece, c->spec, (void *)(uintptr_t)take(a, 8));
        break;
    case 's':
        read_string(a->warp, a->lane, take(a, 8), string, sizeof string);
        spec_add(c, "s");
        n = snprintf(piece, sizeof piece, c->spec, string);
        break;
    case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A': {
        uint64_t bits = take(a, 8);
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
    put(o, piece, n < 0 ? 0 : (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
}

static int print(struct output *o, const char *p, struct arguments *a)
{
    while (*p) {
        size_t n = strcspn(p, "%");
        struct arguments before = *a;
        struct conversion c;
        const char *end;

        put(o, p, n);
        p += n;
        if (!*p)
            break;
        end = parse_conversion(p, &c, a);
        if (c.unknown) {
            *a = before;
            put(o, p, (size_t)(end - p));
        } else {
            convert(o, &c, a);
        }
        p = end;
    }
    return a->count;
}

/* int vprintf(const char *format, const void *arguments) */
static bool builtin_vprintf(struct ptxi_builtin_call *call, void *user)
{
    struct output o = { .call = call };
    char *format = malloc(FORMAT_MAX);
    bool goes_on = true;

    (void)user;
    for (uint64_t left = call->lanes; left && (goes_on = ptxi_builtin_may_go_on(call)); left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t at = ptxi_builtin_arg64(call, 0, l);
        struct arguments a = { call->warp, l, ptxi_builtin_arg64(call, 2, l), 0 };
        int result = format ? -1 : -2;

        if (at && format) {
            read_string(call->warp, l, at, format, FORMAT_MAX);
            result = print(&o, format, &a);
        }
        ptxi_builtin_return32(call, l, (uint32_t)result);
    }
    flush(&o);
    free(format);
    return goes_on;
}

/* --- __assertfail --- */

/* What a lane says failed; `place`: which thread, as CUDA's driver words it, or nothing. */
static void word_assertion(struct ptxi_builtin_call *call, unsigned l, const char *place, char *text, size_t size)
{
    char message[160], file[160], function[120];

    read_string(call->warp, l, ptxi_builtin_arg64(call, 0, l), message, sizeof message);
    read_string(call->warp, l, ptxi_builtin_arg64(call, 2, l), file, sizeof file);
    read_string(call->warp, l, ptxi_builtin_arg64(call, 5, l), function, sizeof function);
    snprintf(text, size, "%s:%u: %s: %sAssertion `%s` failed.", file, ptxi_builtin_arg32(call, 4, l), function, place, message);
}

/* void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t char_size)
 * Each thread's goes to the standard error output, too. */
static bool builtin_assertfail(struct ptxi_builtin_call *call, void *user)
{
    const uint32_t *c = call->warp->cta->ctaid, *b = call->warp->cta->grid->block;
    char text[512], place[100];

    (void)user;
    for (uint64_t left = call->lanes; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint32_t t = call->warp->first_thread + l;

        snprintf(place, sizeof place, "block: [%u,%u,%u], thread: [%u,%u,%u] ", c[0], c[1], c[2], t % b[0], t / b[0] % b[1], t / b[0] / b[1]);
        word_assertion(call, l, place, text, sizeof text);
        ptxi_builtin_leave(call);
        fprintf(stderr, "%s\n", text);
        ptxi_builtin_return(call);
    }
    word_assertion(call, ptxi_first_lane(call->lanes), "", text, sizeof text);
    ptxi_fault(call->warp, call->insn, PTXI_FK_ASSERT, call->lanes, 0, 0, text);
    return false;
}

ptxi_builtin *ptxi_builtin_find(const char *name)
{
    static const struct { const char *name; ptxi_builtin *function; } table[] = {
        { "vprintf", builtin_vprintf },
        { "__assertfail", builtin_assertfail },
#define X(name, function) { #name, ptxi_builtin_##function },
        PTXI_BUILTINS(X)
#undef X
    };

    for (unsigned k = 0; k < sizeof table / sizeof *table; k++)
        if (!strcmp(table[k].name, name))
            return table[k].function;
    return NULL;
}
