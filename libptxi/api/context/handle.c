#include "api/context/handle.h"

#include "api/context/api.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

/* ---- the table */

static struct {
    pthread_mutex_t lock; /* taken last */
    struct ptxi_arena arena;
    struct ptxi_handle *all; /* hash table by address */
    struct ptxi_handle anchor; /* keeps uthash from making the table anew, in arena memory, each time it was empty */
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Under the lock. */
static bool list(struct ptxi_handle *h)
{
    struct ptxi_arena *hash_arena = &table.arena;

    h->address = h;
    h->hh.tbl = NULL;
    HASH_ADD_PTR(table.all, address, h);
    return HASH_ADDED(hh, h);
}

static bool add(struct ptxi_handle *h)
{
    pthread_mutex_lock(&table.lock);
    if (!table.all) {
        ptxi_arena_init(&table.arena, NULL);
        list(&table.anchor);
    }
    h->listed = table.all && list(h);
    pthread_mutex_unlock(&table.lock);
    return h->listed;
}

bool ptxi_handle_add(struct ptxi_handle *h, enum ptxi_handle_kind kind, ptxiContext ctx, void (*destroy)(void *object))
{
    h->kind = kind;
    h->ctx = ctx;
    h->destroy = destroy;
    atomic_store(&h->refs, 1);
    return add(h);
}

bool ptxi_handle_add_part(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_handle *owner)
{
    h->kind = kind;
    h->ctx = owner->ctx;
    h->owner = owner;
    return add(h);
}

/* Under the lock. */
static void unlist(struct ptxi_handle *h)
{
    struct ptxi_arena *hash_arena = &table.arena;

    (void)hash_arena;
    HASH_DEL(table.all, h);
    h->listed = false;
}

void ptxi_handle_remove(struct ptxi_handle *h)
{
    pthread_mutex_lock(&table.lock);
    if (h->listed)
        unlist(h);
    pthread_mutex_unlock(&table.lock);
}

/* Under the lock: the object, or NULL. A part goes with its owner. */
static struct ptxi_handle *find(const void *handle, enum ptxi_handle_kind kind)
{
    struct ptxi_handle *h;

    HASH_FIND_PTR(table.all, &handle, h);
    return h && h->kind == kind && (!h->owner || h->owner->listed) ? h : NULL;
}

bool ptxi_handle_is(const void *handle, enum ptxi_handle_kind kind)
{
    pthread_mutex_lock(&table.lock);
    bool is = find(handle, kind);

    pthread_mutex_unlock(&table.lock);
    return is;
}

/* ---- references */

void ptxi_handle_ref(struct ptxi_handle *h)
{
    unsigned before = atomic_fetch_add(&h->refs, 1);

    assert(before && !h->owner);
    (void)before;
}

void ptxi_handle_unref(struct ptxi_handle *h)
{
    unsigned before = atomic_fetch_sub(&h->refs, 1);

    assert(before);
    if (before == 1)
        h->destroy(h);
}

void ptxi_handle_wait_unused(const struct ptxi_handle *h, ptxiContext ctx)
{
    ptxi_wait_for_references(&h->refs, 2, ctx);
}

static void pause_briefly(void)
{
    enum { SLEEP_NS = 20 * 1000 };

    nanosleep(&(struct timespec){ 0, SLEEP_NS }, NULL);
}

void ptxi_wait_for_references(const _Atomic unsigned *refs, unsigned most, ptxiContext ctx)
{
    for (;;) {
        while (ptxi_api_drain(ctx))
            ; /* memory is short for the moment: what runs gives some back */
        if (atomic_load(refs) <= most)
            return;
        pause_briefly(); /* another call is about to submit work, or to return */
    }
}

/* ---- holds of the calling thread */

enum hold_kind { HOLD_CONTEXT, HOLD_OBJECT, HOLD_LOCK };

struct hold {
    enum hold_kind kind;
    void *what;
};

/* No entry point holds more for any arguments: each names a few objects, and entry points called in a loop release theirs. */
enum { MOST_HOLDS = 32 };

static __thread struct {
    unsigned depth; /* entry points under way, one called by the other */
    unsigned count;
    struct hold at[MOST_HOLDS];
} thread;

struct ptxi_api_call ptxi_api_call_begin(void)
{
    thread.depth++;
    return (struct ptxi_api_call){ thread.count };
}

/* The context's memory may be freed right after this, so its destroyer polls the count and needs no signal. */
static void leave_context(ptxiContext ctx)
{
    atomic_fetch_sub(&ctx->calls, 1);
}

static void release(const struct hold *h)
{
    switch (h->kind) {
    case HOLD_CONTEXT: leave_context(h->what); break;
    case HOLD_OBJECT: ptxi_handle_unref(h->what); break;
    case HOLD_LOCK: pthread_mutex_unlock(h->what); break;
    }
}

void ptxi_api_call_end(const struct ptxi_api_call *call)
{
    while (thread.count > call->held)
        release(&thread.at[--thread.count]);
    thread.depth--;
}

static bool holds(enum hold_kind kind, const void *what)
{
    for (unsigned k = 0; k < thread.count; k++)
        if (thread.at[k].kind == kind && thread.at[k].what == what)
            return true;
    return false;
}

static bool has_room(unsigned n)
{
    assert(thread.depth); /* else nothing would release it */
    return thread.count + n <= MOST_HOLDS;
}

static void add_hold(enum hold_kind kind, void *what)
{
    thread.at[thread.count++] = (struct hold){ kind, what };
}

/* The call is counted before `alive` is read, and a destroyer clears `alive` before it reads the count: one of the two sees
 * the other. A context that is not alive is left at once, since its memory may be freed when the caller releases its lock. */
ptxiResult ptxi_api_hold_context(ptxiContext ctx)
{
    if (holds(HOLD_CONTEXT, ctx))
        return atomic_load(&ctx->alive) ? PTXI_SUCCESS : PTXI_ERROR_CONTEXT_IS_DESTROYED;
    if (!has_room(1))
        return PTXI_ERROR_OUT_OF_MEMORY;
    atomic_fetch_add(&ctx->calls, 1);
    if (!atomic_load(&ctx->alive)) {
        leave_context(ctx);
        return PTXI_ERROR_CONTEXT_IS_DESTROYED;
    }
    add_hold(HOLD_CONTEXT, ctx);
    return PTXI_SUCCESS;
}

void ptxi_api_lock(pthread_mutex_t *lock)
{
    if (holds(HOLD_LOCK, lock))
        return;
    assert(has_room(1));
    pthread_mutex_lock(lock);
    add_hold(HOLD_LOCK, lock);
}

void ptxi_api_wait_for_calls(ptxiContext ctx)
{
    assert(!holds(HOLD_CONTEXT, ctx));
    while (atomic_load(&ctx->calls))
        pause_briefly();
}

/* ---- objects of calls */

/* Under the table's lock, where the context's memory is there as long as one of its objects is listed. */
static ptxiResult find_in_call(const void *handle, enum ptxi_handle_kind kind, struct ptxi_handle **found)
{
    struct ptxi_handle *h = handle ? find(handle, kind) : NULL;

    if (!h)
        return PTXI_ERROR_INVALID_HANDLE;
    if (!has_room(2))
        return PTXI_ERROR_OUT_OF_MEMORY;
    *found = h;
    return h->ctx ? ptxi_api_hold_context(h->ctx) : PTXI_SUCCESS;
}

ptxiResult ptxi_handle_use(const void *handle, enum ptxi_handle_kind kind)
{
    struct ptxi_handle *h;

    pthread_mutex_lock(&table.lock);
    ptxiResult r = find_in_call(handle, kind, &h);

    if (!r && h->owner)
        h = h->owner;
    if (!r && !holds(HOLD_OBJECT, h)) {
        ptxi_handle_ref(h);
        add_hold(HOLD_OBJECT, h);
    }
    pthread_mutex_unlock(&table.lock);
    return r;
}

ptxiResult ptxi_handle_retire(const void *handle, enum ptxi_handle_kind kind)
{
    struct ptxi_handle *h;

    pthread_mutex_lock(&table.lock);
    ptxiResult r = find_in_call(handle, kind, &h);

    if (!r)
        unlist(h);
    pthread_mutex_unlock(&table.lock);
    return r;
}
