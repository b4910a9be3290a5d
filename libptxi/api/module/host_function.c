/* Host functions: C in place of an .extern .func. */
#include "api/devrt/device_runtime.h"
#include "api/module/module.h"

#include "exec/builtin/builtin.h"
#include "exec/engine/engine.h"
#include "parse/ast.h"

#include <ffi.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A host function that a function of a module is bound to. It lives as long as bindings refer to it. */
struct ptxi_host {
    _Atomic unsigned refs;
    struct ptxi_arena arena;   /* its types */
    ptxiHostFunction function; /* one of the two */
    ptxiHostCallback callback;
    void *user;
    const char *name;
    ffi_cif cif;
    ffi_type *ret, **params;
    unsigned count;
    unsigned arg_words, ret_words; /* as the declaration has them */
    size_t ret_bytes;              /* of the declaration */
};

/* The bindings of a module's functions. Each change makes new ones, so that a launch keeps those that it was made with. */
struct ptxi_bindings {
    _Atomic unsigned refs;
    uint64_t id;
    uint32_t count;
    struct ptxi_host **hosts; /* by function, references or NULL */
    struct ptxi_binding at[]; /* by function */
};

enum { MAX_DEPTH = 16 }; /* of structures in structures */

/* ---- signatures: "float(int, {float, float[3]}, const char *)" */

static const struct { const char *words; ffi_type *type; } scalars[] = {
    { "void", &ffi_type_void },
    { "bool", &ffi_type_uint8 }, { "_Bool", &ffi_type_uint8 },
    { "char", CHAR_MIN ? &ffi_type_schar : &ffi_type_uchar }, { "signed char", &ffi_type_schar }, { "unsigned char", &ffi_type_uchar },
    { "short", &ffi_type_sshort }, { "unsigned short", &ffi_type_ushort },
    { "int", &ffi_type_sint }, { "unsigned", &ffi_type_uint }, { "unsigned int", &ffi_type_uint },
    { "long", &ffi_type_slong }, { "unsigned long", &ffi_type_ulong },
    { "long long", &ffi_type_sint64 }, { "unsigned long long", &ffi_type_uint64 },
    { "int8_t", &ffi_type_sint8 }, { "uint8_t", &ffi_type_uint8 }, { "int16_t", &ffi_type_sint16 }, { "uint16_t", &ffi_type_uint16 },
    { "int32_t", &ffi_type_sint32 }, { "uint32_t", &ffi_type_uint32 }, { "int64_t", &ffi_type_sint64 }, { "uint64_t", &ffi_type_uint64 },
    { "size_t", sizeof(size_t) == 8 ? &ffi_type_uint64 : &ffi_type_uint32 },
    { "float", &ffi_type_float }, { "double", &ffi_type_double },
};

struct reader {
    const char *s;
    struct ptxi_arena *arena;
    char why[160]; /* what is wrong; empty: memory is short */
};

static void *wrong(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void *wrong(struct reader *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, ap);
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

/* The words of a type, one blank between them and without const. */
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

/* Elements of an array in a structure, which C lays out like as many fields. */
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
        return wrong(r, "structures are nested too deep");
    do {
        ffi_type *field = read_type(r, depth + 1);
        unsigned long count = field ? read_count(r) : 0;

        if (!field)
            return NULL;
        if (!count || n + count > MOST || field == &ffi_type_void)
            return wrong(r, field == &ffi_type_void ? "a field is not void" : "the number of elements is bad");
        while (count--)
            fields[n++] = field;
    } while (accept(r, ','));
    if (!accept(r, '}'))
        return wrong(r, "'}' expected at '%.20s'", r->s);
    *t = (ffi_type){ .type = FFI_TYPE_STRUCT, .elements = fields };
    return ffi_get_struct_offsets(FFI_DEFAULT_ABI, t, NULL) == FFI_OK ? t : wrong(r, "a structure that libffi does not know");
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
    return t ? t : wrong(r, *words ? "'%s' is no type known here" : "a type expected%s", *words ? words : "");
}

static bool read_signature(struct reader *r, struct ptxi_host *h)
{
    enum { MOST = 256 };

    h->ret = read_type(r, 0);
    h->params = ARENA_NEW(r->arena, ffi_type *, MOST);
    if (!h->ret || !h->params)
        return false;
    if (!accept(r, '('))
        return wrong(r, "'(' expected at '%.20s'", r->s);
    while (!accept(r, ')')) {
        if (h->count == MOST || (h->count && !accept(r, ',')))
            return wrong(r, "',' or ')' expected at '%.20s'", r->s);
        ffi_type *t = read_type(r, 0);

        if (!t)
            return false;
        if (t != &ffi_type_void)
            h->params[h->count++] = t;
        else if (h->count || !accept(r, ')'))
            return wrong(r, "void is no parameter");
        else
            break;
    }
    skip_blanks(r);
    return !*r->s || wrong(r, "nothing expected behind ')', not '%.20s'", r->s);
}

/* ---- whether a declaration can take it */

/* A value of C in so many bytes of .param space: as many, but for integers of 8 and 16 bits, which nvcc passes as 32. */
static bool fits(const ffi_type *t, const struct ptxi_var *v)
{
    bool narrow = t->type != FFI_TYPE_STRUCT && t->size < 4 && v->size == 4;

    return v->size == t->size || narrow;
}

static bool check(struct reader *r, const struct ptxi_host *h, const struct ptxi_func *f)
{
    const struct ptxi_signature *s = &f->signature;

    if (h->count != s->param_count)
        return wrong(r, "it has %u parameters, the declaration %u", h->count, s->param_count);
    if ((h->ret != &ffi_type_void) != (s->ret_count != 0))
        return wrong(r, h->ret == &ffi_type_void ? "it returns nothing, the declaration a value" : "it returns a value, the declaration none");
    for (unsigned i = 0; i < h->count; i++)
        if (!fits(h->params[i], s->params[i]))
            return wrong(r, "parameter %u has %zu bytes, %llu in the declaration", i, h->params[i]->size, (unsigned long long)s->params[i]->size);
    if (s->ret_count && !fits(h->ret, s->rets[0]))
        return wrong(r, "its result has %zu bytes, %llu in the declaration", h->ret->size, (unsigned long long)s->rets[0]->size);
    if (h->arg_words + h->ret_words > PTXI_MAX_BUILTIN_WORDS)
        return wrong(r, "its values take more than %u bytes", 4 * PTXI_MAX_BUILTIN_WORDS);
    return true;
}

/* ---- a call */

/* The thread whose call is under way on this host thread. */
static __thread struct {
    struct ptxi_builtin_call *call;
    const struct ptxi_host *host;
    unsigned lane;
    bool failed;
} current;

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

static void gather(const struct ptxi_host *h, const struct ptxi_builtin_call *c, unsigned lane, unsigned char *room, void **values)
{
    unsigned word = 0;

    for (unsigned i = 0; i < h->count; i++) {
        size_t size = h->params[i]->size;

        values[i] = room;
        for (size_t n = 0; n < size; n += 4, word++)
            memcpy(room + n, &c->args[word][lane], size - n < 4 ? size - n : 4);
        room += round_up(size, 16);
    }
}

static void scatter(const struct ptxi_host *h, struct ptxi_builtin_call *c, unsigned lane, const unsigned char *result)
{
    for (unsigned word = 0; word < c->ret_words; word++) {
        uint32_t x = 0;
        size_t left = h->ret_bytes - 4 * word;

        memcpy(&x, result + 4 * word, left < 4 ? left : 4);
        c->rets[word][lane] = x;
    }
    c->given_words = c->ret_words;
}

/* Integers narrower than a register come back widened (libffi: ffi_arg); from a callback they come as they are. */
static void widen(const struct ptxi_host *h, unsigned char *result)
{
    int64_t x;

    switch (h->callback ? h->ret->type : FFI_TYPE_VOID) {
    case FFI_TYPE_UINT8: x = *(uint8_t *)result; break;
    case FFI_TYPE_SINT8: x = *(int8_t *)result; break;
    case FFI_TYPE_UINT16: x = *(uint16_t *)result; break;
    case FFI_TYPE_SINT16: x = *(int16_t *)result; break;
    default: return;
    }
    memcpy(result, &x, sizeof x);
}

/* The call of the current lane, with room for its arguments and result. */
static void call_lane(struct ptxi_host *h, struct ptxi_builtin_call *call, void **values, unsigned char *args,
                      unsigned char *result)
{
    gather(h, call, current.lane, args, values);
    memset(result, 0, 16);
    ptxi_builtin_leave(call);
    if (h->callback)
        h->callback(h->user, values, result);
    else
        ffi_call(&h->cif, h->function, result, values);
    ptxi_builtin_return(call);
    widen(h, result);
    scatter(h, call, current.lane, result);
}

/* One after the other, so that a function sees the threads of a warp in their order. */
static bool call_host(struct ptxi_builtin_call *call, void *user)
{
    struct ptxi_host *h = user;
    _Alignas(16) unsigned char args[16 * PTXI_MAX_BUILTIN_WORDS], result[4 * PTXI_MAX_BUILTIN_WORDS + 16];
    void *values[PTXI_MAX_BUILTIN_WORDS + 1];

    if (call->arg_words != h->arg_words || (call->ret_words && call->ret_words != h->ret_words)) {
        ptxi_fault(call->warp, call->insn, PTXI_FK_BRANCH, call->lanes, 0, 0, "indirect call of a host function with other parameters");
        return false;
    }
    current.call = call;
    current.host = h;
    current.failed = false;
    ptxi_queue_set_callback(true);
    for (uint64_t left = call->lanes; left && !current.failed; left &= left - 1) {
        current.lane = ptxi_first_lane(left);
        current.failed = !ptxi_builtin_may_go_on(call);
        if (!current.failed)
            call_lane(h, call, values, args, result);
    }
    ptxi_queue_set_callback(false);
    current.call = NULL;
    return !current.failed;
}

ptxiResult ptxiHostGetThread(ptxiHostThread *thread)
{
    if (!current.call)
        return PTXI_ERROR_NOT_PERMITTED;
    if (!thread || thread->size < offsetof(ptxiHostThread, lane))
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_warp *w = current.call->warp;
    const struct ptxi_grid *g = w->cta->grid;
    unsigned t = w->first_thread + current.lane;
    size_t size = thread->size;
    ptxiHostThread x = {
        .size = size, .gridDim = { g->grid[0], g->grid[1], g->grid[2] }, .blockDim = { g->block[0], g->block[1], g->block[2] },
        .block = { w->cta->ctaid[0], w->cta->ctaid[1], w->cta->ctaid[2] },
        .thread = { t % g->block[0], t / g->block[0] % g->block[1], t / g->block[0] / g->block[1] },
        .lane = t % 32, .warp = t / 32, .function = current.host->name, .kernel = g->code->name,
    };

    memcpy(thread, &x, size < sizeof x ? size : sizeof x);
    return PTXI_SUCCESS;
}

ptxiResult ptxiHostFail(const char *message)
{
    struct ptxi_str s;

    if (!current.call)
        return PTXI_ERROR_NOT_PERMITTED;
    if (current.failed)
        return PTXI_SUCCESS;
    ptxi_str_init(&s, NULL);
    ptxi_str_printf(&s, "%s: %s", current.host->name, message ? message : "no reason given");
    ptxi_fault(current.call->warp, current.call->insn, PTXI_FK_HOST, (ptxi_lanes)1 << current.lane, 0, 0, ptxi_str_text(&s));
    ptxi_str_free(&s);
    current.failed = true;
    return PTXI_SUCCESS;
}

ptxiResult ptxiHostGetPointer(void **pointer, ptxiDevicePtr address, size_t bytes, int write)
{
    struct ptxi_builtin_call *c = current.call;

    if (!c || current.failed)
        return PTXI_ERROR_NOT_PERMITTED;
    if (!pointer || !bytes || address + bytes < address)
        return PTXI_ERROR_INVALID_VALUE;
    unsigned char *p = ptxi_builtin_pointer(c, current.lane, address, bytes, write);

    current.failed = !p;
    if (!p)
        return PTXI_ERROR_ILLEGAL_ADDRESS;
    *pointer = p;
    return PTXI_SUCCESS;
}

/* ---- bindings */

static void unref_host(struct ptxi_host *h)
{
    if (!h || atomic_fetch_sub(&h->refs, 1) != 1)
        return;
    ptxi_arena_free(&h->arena);
    free(h);
}

void ptxi_bindings_unref(struct ptxi_bindings *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) != 1)
        return;
    for (uint32_t i = 0; i < b->count; i++)
        unref_host(b->hosts[i]);
    free(b->hosts);
    free(b);
}

const struct ptxi_binding *ptxi_bindings_array(const struct ptxi_bindings *b)
{
    return b->at;
}

uint64_t ptxi_bindings_id(const struct ptxi_bindings *b)
{
    return b->id;
}

/* Takes the reference over. NULL binds the library's own function of that name, if there is one. */
static void set_host(ptxiModule m, struct ptxi_bindings *b, uint32_t function, struct ptxi_host *h)
{
    unref_host(b->hosts[function]);
    b->hosts[function] = h;
    if (h)
        b->at[function] = (struct ptxi_binding){ call_host, h };
    else
        b->at[function].call = ptxi_device_runtime_find(m->tree->funcs[function]->name->s, &b->at[function].user);
}

static bool has_body(const struct ptxi_func *f)
{
    while (f->alias_of)
        f = f->alias_of;
    return f->has_body;
}

/* With one reference, and the same hosts as `from`, if that is not NULL. */
static struct ptxi_bindings *make_bindings(ptxiModule m, const struct ptxi_bindings *from)
{
    static _Atomic uint64_t ids;
    uint32_t count = m->tree->func_count;
    struct ptxi_bindings *b = calloc(1, sizeof *b + count * sizeof *b->at);

    if (!b || !(b->hosts = calloc(count + 1, sizeof *b->hosts))) {
        free(b);
        return NULL;
    }
    b->refs = 1;
    b->id = atomic_fetch_add(&ids, 1) + 1;
    b->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct ptxi_host *h = from ? from->hosts[i] : NULL;

        if (h)
            atomic_fetch_add(&h->refs, 1);
        if (!has_body(m->tree->funcs[i]))
            set_host(m, b, i, h);
    }
    return b;
}

/* Under the module's lock: the current ones, or NULL. */
static struct ptxi_bindings *current_bindings(ptxiModule m)
{
    if (!m->bindings)
        m->bindings = make_bindings(m, NULL);
    return m->bindings;
}

struct ptxi_bindings *ptxi_bindings_of(ptxiModule m)
{
    pthread_mutex_lock(&m->lock);
    struct ptxi_bindings *b = current_bindings(m);

    if (b)
        atomic_fetch_add(&b->refs, 1);
    pthread_mutex_unlock(&m->lock);
    return b;
}

/* ---- binding */

static ptxiResult say(ptxiModule m, const struct ptxi_func *f, const char *signature, const char *why)
{
    struct ptxi_arena arena;
    struct ptxi_diag diags;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    ptxi_diag_add(&diags, PTXI_DIAG_ERROR, f->loc, "host function '%s' for '%s': %s", signature, f->name->s, why);
    ptxi_api_store_diags(&diags, &m->texts);
    ptxi_arena_free(&arena);
    return *why ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_OUT_OF_MEMORY;
}

static ptxiResult read_host(ptxiModule m, const struct ptxi_func *f, const char *signature, struct ptxi_host *h)
{
    struct reader r = { .s = signature, .arena = &h->arena };

    h->name = f->name->s;
    h->arg_words = ptxi_layout_words(f->signature.params, f->signature.param_count);
    h->ret_words = ptxi_layout_words(f->signature.rets, f->signature.ret_count);
    if (!read_signature(&r, h) || !check(&r, h, f))
        return say(m, f, signature, r.why);
    h->ret_bytes = f->signature.ret_count ? f->signature.rets[0]->size : 0;
    if (ffi_prep_cif(&h->cif, FFI_DEFAULT_ABI, h->count, h->ret, h->params) != FFI_OK)
        return say(m, f, signature, "libffi cannot call it");
    return PTXI_SUCCESS;
}

/* The function to bind: one of the two. Both NULL end the binding. */
struct target {
    ptxiHostFunction function;
    ptxiHostCallback callback;
    void *user;
};

static ptxiResult bind_one(ptxiModule m, struct ptxi_bindings *b, const struct ptxi_func *f, const char *signature,
                           const struct target *t)
{
    struct ptxi_host *h = NULL;

    if (t->function || t->callback) {
        if (!(h = calloc(1, sizeof *h)))
            return PTXI_ERROR_OUT_OF_MEMORY;
        h->refs = 1;
        h->function = t->function;
        h->callback = t->callback;
        h->user = t->user;
        ptxi_arena_init(&h->arena, NULL);
        ptxiResult r = read_host(m, f, signature, h);

        if (r) {
            unref_host(h);
            return r;
        }
    }
    set_host(m, b, f->index, h);
    return PTXI_SUCCESS;
}

static ptxiResult bind_all(ptxiModule m, struct ptxi_bindings *b, const char *name, const char *signature,
                           const struct target *t)
{
    ptxiResult r = PTXI_ERROR_NOT_FOUND;

    for (uint32_t i = 0; i < m->tree->func_count; i++) {
        const struct ptxi_func *f = m->tree->funcs[i];

        if (f->is_entry || f->has_body || f->alias_of || strcmp(f->name->s, name))
            continue;
        r = bind_one(m, b, f, signature, t);
        if (r)
            break;
    }
    return r;
}

/* Under the module's lock: replace the bindings; *old gets the reference to what was bound before. */
static ptxiResult rebind(ptxiModule m, const char *name, const char *signature, const struct target *t,
                         struct ptxi_bindings **old)
{
    struct ptxi_bindings *new = current_bindings(m) ? make_bindings(m, m->bindings) : NULL;
    ptxiResult r = new ? bind_all(m, new, name, signature, t) : PTXI_ERROR_OUT_OF_MEMORY;

    if (r) {
        ptxi_bindings_unref(new);
        return r;
    }
    *old = m->bindings;
    m->bindings = new;
    return PTXI_SUCCESS;
}

static ptxiResult bind(ptxiModule mod, const char *name, const char *signature, const struct target *t)
{
    ptxiResult r = ptxi_api_module(mod);
    struct ptxi_bindings *old;

    if (r)
        return r;
    if (!name || ((t->function || t->callback) && !signature))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&mod->lock);
    r = rebind(mod, name, signature, t, &old);
    pthread_mutex_unlock(&mod->lock);
    if (r)
        return r;
    ptxi_wait_for_references(&old->refs, 1, mod->ctx); /* then no launch calls the old function */
    ptxi_bindings_unref(old);
    return PTXI_SUCCESS;
}

ptxiResult ptxiModuleBindHostFunction(ptxiModule mod, const char *name, ptxiHostFunction function, const char *signature)
{
    API_CALL;
    return bind(mod, name, signature, &(struct target){ .function = function });
}

ptxiResult ptxiModuleBindHostCallback(ptxiModule mod, const char *name, ptxiHostCallback callback, void *userData, const char *signature)
{
    API_CALL;
    return bind(mod, name, signature, &(struct target){ .callback = callback, .user = userData });
}
