#include "api/handle/handle.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

/* ---- the table */

static struct {
    pthread_mutex_t lock; /* taken last */
    struct ptxi_arena arena;
    struct ptxi_handle *all; /* hash table by address */
    /* Keeps the table from becoming empty. uthash would then build it again in arena memory each time. */
    struct ptxi_handle anchor;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Under the lock. */
static bool insert_handle(struct ptxi_handle *h)
{
    struct ptxi_arena *hash_arena = &table.arena;

    h->address = h;
    h->hh.tbl = NULL;
    HASH_ADD_PTR(table.all, address, h);
    return HASH_ADDED(hh, h);
}

bool ptxi_handle_publish(struct ptxi_handle *h)
{
    pthread_mutex_lock(&table.lock);
    if (!table.all) {
        ptxi_arena_init(&table.arena, NULL);
        insert_handle(&table.anchor);
    }
    h->listed = table.all && insert_handle(h);
    pthread_mutex_unlock(&table.lock);
    return h->listed;
}

void ptxi_handle_init(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_gate *gate,
                      void (*destroy)(void *object))
{
    h->kind = kind;
    h->gate = gate;
    h->destroy = destroy;
    atomic_store(&h->refs, 1);
}

void ptxi_handle_init_part(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_handle *owner)
{
    h->kind = kind;
    h->gate = owner->gate;
    h->owner = owner;
}

bool ptxi_handle_add(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_gate *gate,
                     void (*destroy)(void *object))
{
    ptxi_handle_init(h, kind, gate, destroy);
    return ptxi_handle_publish(h);
}

bool ptxi_handle_add_part(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_handle *owner)
{
    ptxi_handle_init_part(h, kind, owner);
    return ptxi_handle_publish(h);
}

/* Under the lock. */
static void remove_handle(struct ptxi_handle *h)
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
        remove_handle(h);
    pthread_mutex_unlock(&table.lock);
}

/* Under the lock. Returns the object or NULL. A part is valid as long as its owner is listed. */
static struct ptxi_handle *find_handle(const void *handle, enum ptxi_handle_kind kind)
{
    struct ptxi_handle *h;

    HASH_FIND_PTR(table.all, &handle, h);
    return h && h->kind == kind && (!h->owner || h->owner->listed) ? h : NULL;
}

bool ptxi_handle_is(const void *handle, enum ptxi_handle_kind kind)
{
    pthread_mutex_lock(&table.lock);
    bool is = find_handle(handle, kind);

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

void ptxi_pause_briefly(void)
{
    enum { SLEEP_NS = 20 * 1000 };

    nanosleep(&(struct timespec){ 0, SLEEP_NS }, NULL);
}

/* ---- holds of the calling thread */

enum hold_kind { HOLD_GATE, HOLD_OBJECT, HOLD_LOCK };

struct hold {
    enum hold_kind kind;
    void *what;
};

/* No entry point needs more: each names a few objects, and a loop over objects runs each step as a call of its own. */
enum { MAX_HOLDS = 32 };

static __thread struct {
    unsigned depth; /* number of nested calls in progress */
    bool in_callback;
    unsigned count;
    struct hold at[MAX_HOLDS];
} thread;

struct ptxi_api_call ptxi_api_call_begin(void)
{
    thread.depth++;
    return (struct ptxi_api_call){ thread.count };
}

/* The gate's memory may be freed right after this, so its destroyer polls the count and needs no signal. */
static void leave_gate(struct ptxi_gate *gate)
{
    unsigned before = atomic_fetch_sub(&gate->calls, 1);

    assert(before);
    (void)before;
}

static void release_hold(const struct hold *h)
{
    switch (h->kind) {
    case HOLD_GATE: leave_gate(h->what); break;
    case HOLD_OBJECT: ptxi_handle_unref(h->what); break;
    case HOLD_LOCK: pthread_mutex_unlock(h->what); break;
    }
}

void ptxi_api_call_end(const struct ptxi_api_call *call)
{
    assert(thread.depth && call->held <= thread.count);
    while (thread.count > call->held)
        release_hold(&thread.at[--thread.count]);
    thread.depth--;
}

static bool has_hold(enum hold_kind kind, const void *what)
{
    for (unsigned k = 0; k < thread.count; k++)
        if (thread.at[k].kind == kind && thread.at[k].what == what)
            return true;
    return false;
}

static bool has_room(unsigned n)
{
    assert(thread.depth); /* otherwise nothing would release the hold */
    return thread.count + n <= MAX_HOLDS;
}

static void add_hold(enum hold_kind kind, void *what)
{
    assert(thread.count < MAX_HOLDS);
    thread.at[thread.count++] = (struct hold){ kind, what };
}

/* The call is counted before `open` is read, and a destroyer clears `open` before it reads the count, so one of the
 * two sees the other. A closed gate is left at once, because its memory may be freed when the caller releases its
 * lock. */
ptxiResult ptxi_gate_hold(struct ptxi_gate *gate)
{
    if (has_hold(HOLD_GATE, gate))
        return atomic_load(&gate->open) ? PTXI_SUCCESS : PTXI_ERROR_CONTEXT_IS_DESTROYED;
    if (!has_room(1))
        return PTXI_ERROR_OUT_OF_MEMORY;
    atomic_fetch_add(&gate->calls, 1);
    if (!atomic_load(&gate->open)) {
        leave_gate(gate);
        return PTXI_ERROR_CONTEXT_IS_DESTROYED;
    }
    add_hold(HOLD_GATE, gate);
    return PTXI_SUCCESS;
}

void ptxi_call_lock(pthread_mutex_t *lock)
{
    if (has_hold(HOLD_LOCK, lock))
        return;
    assert(has_room(1));
    pthread_mutex_lock(lock);
    add_hold(HOLD_LOCK, lock);
}

void ptxi_gate_wait_for_calls(const struct ptxi_gate *gate)
{
    assert(!has_hold(HOLD_GATE, gate) && !atomic_load(&gate->open));
    while (atomic_load(&gate->calls))
        ptxi_pause_briefly();
}

bool ptxi_call_in_callback(void)
{
    return thread.in_callback;
}

void ptxi_call_set_callback(bool in)
{
    thread.in_callback = in;
}

/* ---- objects of calls */

/* Under the table's lock. The context's memory exists as long as one of its objects is listed. */
static ptxiResult find_in_call(const void *handle, enum ptxi_handle_kind kind, struct ptxi_handle **found)
{
    struct ptxi_handle *h = handle ? find_handle(handle, kind) : NULL;

    if (!h)
        return PTXI_ERROR_INVALID_HANDLE;
    if (!has_room(2))
        return PTXI_ERROR_OUT_OF_MEMORY;
    *found = h;
    return h->gate ? ptxi_gate_hold(h->gate) : PTXI_SUCCESS;
}

ptxiResult ptxi_handle_use(const void *handle, enum ptxi_handle_kind kind)
{
    struct ptxi_handle *h;

    pthread_mutex_lock(&table.lock);
    ptxiResult r = find_in_call(handle, kind, &h);

    if (!r && h->owner)
        h = h->owner;
    if (!r && !has_hold(HOLD_OBJECT, h)) {
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
        remove_handle(h);
    pthread_mutex_unlock(&table.lock);
    return r;
}
