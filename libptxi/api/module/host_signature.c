#include "api/module/host_signature.h"

#include "compile/compile.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 16 }; /* of nested structures */

static const struct { const char *words; ffi_type *type; } scalars[] = {
    { "void", &ffi_type_void },
    { "bool", &ffi_type_uint8 }, { "_Bool", &ffi_type_uint8 },
    { "char", CHAR_MIN ? &ffi_type_schar : &ffi_type_uchar }, { "signed char", &ffi_type_schar },
    { "unsigned char", &ffi_type_uchar },
    { "short", &ffi_type_sshort }, { "unsigned short", &ffi_type_ushort },
    { "int", &ffi_type_sint }, { "unsigned", &ffi_type_uint }, { "unsigned int", &ffi_type_uint },
    { "long", &ffi_type_slong }, { "unsigned long", &ffi_type_ulong },
    { "long long", &ffi_type_sint64 }, { "unsigned long long", &ffi_type_uint64 },
    { "int8_t", &ffi_type_sint8 }, { "uint8_t", &ffi_type_uint8 }, { "int16_t", &ffi_type_sint16 },
    { "uint16_t", &ffi_type_uint16 },
    { "int32_t", &ffi_type_sint32 }, { "uint32_t", &ffi_type_uint32 }, { "int64_t", &ffi_type_sint64 },
    { "uint64_t", &ffi_type_uint64 },
    { "size_t", sizeof(size_t) == 8 ? &ffi_type_uint64 : &ffi_type_uint32 },
    { "float", &ffi_type_float }, { "double", &ffi_type_double },
};

struct reader {
    const char *s;
    struct ptxi_arena *arena;
    char *why; /* reason for a failure; empty: no memory */
};

static void *fail(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void *fail(struct reader *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(r->why, PTXI_HOST_REASON, fmt, ap);
    va_end(ap);
    return NULL;
}

static void skip_blanks(struct reader *r)
{
    r->s += strspn(r->s, " \t\n");
}

static bool accept(struct reader *r, char c)
{
    skip_blanks(r);
    if (*r->s != c)
        return false;
    r->s++;
    return true;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Reads the words of a type, without const, and puts one blank between them. */
static void read_words(struct reader *r, char *words, size_t size)
{
    size_t n = 0;

    for (skip_blanks(r); is_word(*r->s); skip_blanks(r)) {
        size_t len = 0;

        while (is_word(r->s[len]))
            len++;
        if (!(len == 5 && !memcmp(r->s, "const", 5)) && n + len + 2 < size) {
            if (n)
                words[n++] = ' ';
            memcpy(words + n, r->s, len);
            n += len;
        }
        r->s += len;
    }
    words[n] = 0;
}

static ffi_type *read_type(struct reader *r, unsigned depth);

/* Reads the size of an array in a structure, which C lays out like that number of fields. */
static unsigned long read_count(struct reader *r)
{
    char *end;
    unsigned long n;

    if (!accept(r, '['))
        return 1;
    n = strtoul(r->s, &end, 10);
    r->s = end;
    return accept(r, ']') && n <= 4096 ? n : 0;
}

static ffi_type *read_struct(struct reader *r, unsigned depth)
{
    enum { MOST = 8192 };
    ffi_type *t = ARENA_NEW(r->arena, ffi_type, 1), **fields = ARENA_NEW(r->arena, ffi_type *, MOST + 1);
    size_t n = 0;

    if (!t || !fields)
        return NULL;
    if (depth == MAX_DEPTH)
        return fail(r, "structures are nested too deeply");
    do {
        ffi_type *field = read_type(r, depth + 1);
        unsigned long count = field ? read_count(r) : 0;

        if (!field)
            return NULL;
        if (!count || n + count > MOST || field == &ffi_type_void)
            return fail(r, field == &ffi_type_void ? "a field cannot be void" : "invalid number of elements");
        while (count--)
            fields[n++] = field;
    } while (accept(r, ','));
    if (!accept(r, '}'))
        return fail(r, "'}' expected at '%.20s'", r->s);
    *t = (ffi_type){ .type = FFI_TYPE_STRUCT, .elements = fields };
    if (ffi_get_struct_offsets(FFI_DEFAULT_ABI, t, NULL) != FFI_OK)
        return fail(r, "a structure that libffi does not know");
    return t;
}

static ffi_type *read_type(struct reader *r, unsigned depth)
{
    char words[64];
    ffi_type *t = NULL;

    if (accept(r, '{'))
        return read_struct(r, depth);
    read_words(r, words, sizeof words);
    for (unsigned i = 0; i < sizeof scalars / sizeof *scalars && !t; i++)
        if (!strcmp(words, scalars[i].words))
            t = scalars[i].type;
    for (; accept(r, '*'); t = &ffi_type_pointer) {
        char ignored[16];

        if (!*words)
            break;
        read_words(r, ignored, sizeof ignored); /* const */
    }
    if (t)
        return t;
    return *words ? fail(r, "unknown type '%s'", words) : fail(r, "a type expected");
}

static bool read_signature(struct reader *r, struct ptxi_host *h)
{
    enum { MOST = 256 };

    h->ret = read_type(r, 0);
    h->params = ARENA_NEW(r->arena, ffi_type *, MOST);
    if (!h->ret || !h->params)
        return false;
    if (!accept(r, '('))
        return fail(r, "'(' expected at '%.20s'", r->s);
    while (!accept(r, ')')) {
        if (h->count == MOST || (h->count && !accept(r, ',')))
            return fail(r, "',' or ')' expected at '%.20s'", r->s);
        ffi_type *t = read_type(r, 0);

        if (!t)
            return false;
        if (t != &ffi_type_void)
            h->params[h->count++] = t;
        else if (h->count || !accept(r, ')'))
            return fail(r, "void cannot be a parameter");
        else
            break;
    }
    skip_blanks(r);
    return !*r->s || fail(r, "nothing expected after ')', not '%.20s'", r->s);
}

/* ---- whether a declaration can take it */

/* A value of C has as many bytes in .param space, except integers of 8 and 16 bits, which nvcc passes as 32 bits. */
static bool fits_param(const ffi_type *t, const struct ptxi_var *v)
{
    bool narrow = t->type != FFI_TYPE_STRUCT && t->size < 4 && v->size == 4;

    return v->size == t->size || narrow;
}

static bool check_declaration(struct reader *r, const struct ptxi_host *h, const struct ptxi_func *f)
{
    const struct ptxi_signature *s = &f->signature;

    if (h->count != s->param_count)
        return fail(r, "it has %u parameters, the declaration %u", h->count, s->param_count);
    if ((h->ret != &ffi_type_void) != (s->ret_count != 0))
        return fail(r,
                    h->ret == &ffi_type_void ? "it returns nothing, the declaration a value"
                                             : "it returns a value, the declaration none");
    for (unsigned i = 0; i < h->count; i++)
        if (!fits_param(h->params[i], s->params[i]))
            return fail(r, "parameter %u has %zu bytes, %llu in the declaration", i, h->params[i]->size,
                        (unsigned long long)s->params[i]->size);
    if (s->ret_count && !fits_param(h->ret, s->rets[0]))
        return fail(r, "its result has %zu bytes, %llu in the declaration", h->ret->size,
                    (unsigned long long)s->rets[0]->size);
    if (h->arg_words + h->ret_words > PTXI_MAX_BUILTIN_WORDS)
        return fail(r, "its values take more than %u bytes", 4 * PTXI_MAX_BUILTIN_WORDS);
    return true;
}

bool ptxi_host_signature(struct ptxi_host *h, const struct ptxi_func *f, const char *signature,
                         char why[PTXI_HOST_REASON])
{
    struct reader r = { .s = signature, .arena = &h->arena, .why = why };

    *why = 0;
    h->name = f->name->s;
    h->arg_words = ptxi_layout_words(f->signature.params, f->signature.param_count);
    h->ret_words = ptxi_layout_words(f->signature.rets, f->signature.ret_count);
    if (!read_signature(&r, h) || !check_declaration(&r, h, f))
        return false;
    h->ret_bytes = f->signature.ret_count ? f->signature.rets[0]->size : 0;
    if (ffi_prep_cif(&h->cif, FFI_DEFAULT_ABI, h->count, h->ret, h->params) != FFI_OK)
        return fail(&r, "libffi cannot call it");
    return true;
}
