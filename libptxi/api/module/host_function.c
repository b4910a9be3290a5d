/* Binds C functions to functions of modules that have no body. */
#include "api/module/bindings.h"
#include "api/module/host_signature.h"

#include <stdlib.h>
#include <string.h>

static ptxiResult refuse_signature(ptxiModule m, const struct ptxi_func *f, const char *signature, const char *why)
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

/* The function or the callback to bind. If both are NULL the binding ends. */
struct target {
    ptxiHostFunction function;
    ptxiHostCallback callback;
    void *user;
};

static ptxiResult bind_one(ptxiModule m, struct ptxi_bindings *b, const struct ptxi_func *f, const char *signature,
                           const struct target *t)
{
    struct ptxi_host *h = NULL;
    char why[PTXI_HOST_REASON];

    if (t->function || t->callback) {
        if (!(h = calloc(1, sizeof *h)))
            return PTXI_ERROR_OUT_OF_MEMORY;
        h->refs = 1;
        h->function = t->function;
        h->callback = t->callback;
        h->user = t->user;
        ptxi_arena_init(&h->arena, NULL);
        if (!ptxi_host_signature(h, f, signature, why)) {
            ptxi_host_unref(h);
            return refuse_signature(m, f, signature, why);
        }
    }
    ptxi_bindings_set(m, b, f->index, h);
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

/* Replaces the bindings, under the module's lock. *old gets the reference to the previous ones. */
static ptxiResult replace_bindings(ptxiModule m, const char *name, const char *signature, const struct target *t,
                         struct ptxi_bindings **old)
{
    struct ptxi_bindings *new = ptxi_bindings_current(m) ? ptxi_bindings_copy(m, m->bindings) : NULL;
    ptxiResult r = new ? bind_all(m, new, name, signature, t) : PTXI_ERROR_OUT_OF_MEMORY;

    if (r) {
        ptxi_bindings_unref(new);
        return r;
    }
    *old = m->bindings;
    m->bindings = new;
    return PTXI_SUCCESS;
}

static ptxiResult bind_function(ptxiModule mod, const char *name, const char *signature, const struct target *t)
{
    ptxiResult r = ptxi_api_module(mod);
    struct ptxi_bindings *old;

    if (r)
        return r;
    if (!name || ((t->function || t->callback) && !signature))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&mod->lock);
    r = replace_bindings(mod, name, signature, t, &old);
    pthread_mutex_unlock(&mod->lock);
    if (r)
        return r;
    ptxi_wait_for_references(&old->refs, 1, mod->ctx); /* no launch calls the old function after this */
    ptxi_bindings_unref(old);
    return PTXI_SUCCESS;
}

ptxiResult ptxiModuleBindHostFunction(ptxiModule mod, const char *name, ptxiHostFunction function,
                                      const char *signature)
{
    API_CALL;
    return bind_function(mod, name, signature, &(struct target){ .function = function });
}

ptxiResult ptxiModuleBindHostCallback(ptxiModule mod, const char *name, ptxiHostCallback callback, void *userData,
                                      const char *signature)
{
    API_CALL;
    return bind_function(mod, name, signature, &(struct target){ .callback = callback, .user = userData });
}
