/* Handles: what programs hold of the library's objects, how long these live, and the calls that use them.
 *
 * Any thread may call at any time, also with a handle that another thread destroys at that moment. Three rules make this safe:
 *
 * 1. A handle is looked up in a table, not trusted. A call that names a destroyed object finds nothing and fails.
 * 2. Objects that a call looks up stay alive until the call returns. Each entry point begins with API_CALL, and everything that
 *    ptxi_handle_use() and ptxi_api_hold_context() find is held for that call. A context is taken apart after the last call
 *    inside of it has returned, so a call never sees a context without its queue, its modules or its workers.
 * 3. Work that goes on after the call has returned holds references of its own: a launch holds its module, its bindings of
 *    host functions and its pool of workers; an item of a stream holds its event; a stream's items hold the stream.
 *
 * Destruction has two steps. ptxi_handle_retire() takes the object out of the table: no call finds it any more. The object is
 * freed with its last reference. Modules, libraries and arrays are used by queued work; the call that destroys them waits for
 * the other references, so that they are never freed by a thread that runs work.
 *
 * A part of another object (a function, a kernel, a level, a reference, a node) has no references of its own: holding it holds
 * its owner. */
#ifndef PTXI_API_CONTEXT_HANDLE_H
#define PTXI_API_CONTEXT_HANDLE_H

#include "ptxi.h"

#include "base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum ptxi_handle_kind {
    PTXI_HANDLE_STREAM = 1,
    PTXI_HANDLE_EVENT,
    PTXI_HANDLE_MODULE,
    PTXI_HANDLE_FUNCTION,
    PTXI_HANDLE_LIBRARY,
    PTXI_HANDLE_KERNEL,
    PTXI_HANDLE_ARRAY,
    PTXI_HANDLE_MIPMAPPED_ARRAY,
    PTXI_HANDLE_TEXTURE_REFERENCE,
    PTXI_HANDLE_SURFACE_REFERENCE,
    PTXI_HANDLE_GRAPH,
    PTXI_HANDLE_GRAPH_NODE,
    PTXI_HANDLE_GRAPH_EXEC,
    PTXI_HANDLE_MEMORY_POOL,
    PTXI_HANDLE_LINK_STATE,
};

/* The first member of every object that has a handle: a handle is its address. */
struct ptxi_handle {
    const void *address; /* the key in the table: its own */
    enum ptxi_handle_kind kind;
    bool listed;                /* in the table; under the table's lock */
    _Atomic unsigned refs;      /* the program's, while it is listed; those of calls, of work, of other objects */
    ptxiContext ctx;            /* calls that use it hold this context, too; NULL: it belongs to none */
    struct ptxi_handle *owner;  /* the object that it is a part of, or NULL */
    void (*destroy)(void *object); /* when the last reference goes; NULL: of a part */
    UT_hash_handle hh;
};

/* Enter an object, of which the caller holds the one reference, into the table. False: memory is short. */
bool ptxi_handle_add(struct ptxi_handle *h, enum ptxi_handle_kind kind, ptxiContext ctx, void (*destroy)(void *object));
bool ptxi_handle_add_part(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_handle *owner);

/* Take an object out of the table, if it is there: for its destruction, or that of its owner. */
void ptxi_handle_remove(struct ptxi_handle *h);

/* Whether there is such an object. Another thread may destroy it at once, unless the caller keeps it from that. */
bool ptxi_handle_is(const void *handle, enum ptxi_handle_kind kind);

/* Hold the object for the call under way. PTXI_ERROR_INVALID_HANDLE if there is no such object,
 * PTXI_ERROR_CONTEXT_IS_DESTROYED if its context is being destroyed, PTXI_ERROR_OUT_OF_MEMORY. */
ptxiResult ptxi_handle_use(const void *handle, enum ptxi_handle_kind kind);

/* Take the object out of the table and give its reference to the caller; the call holds the object's context. Errors as above. */
ptxiResult ptxi_handle_retire(const void *handle, enum ptxi_handle_kind kind);

void ptxi_handle_ref(struct ptxi_handle *h);
void ptxi_handle_unref(struct ptxi_handle *h);

/* Wait for the context's work until a retired object has two references: the program's, and that of the call under way. */
void ptxi_handle_wait_unused(const struct ptxi_handle *h, ptxiContext ctx);

/* The same for anything else that is counted: until there are no more than `most` references. */
void ptxi_wait_for_references(const _Atomic unsigned *refs, unsigned most, ptxiContext ctx);

/* ---- calls */

/* The number of objects that the calling thread held when the entry point began. */
struct ptxi_api_call {
    unsigned held;
};

struct ptxi_api_call ptxi_api_call_begin(void);
void ptxi_api_call_end(const struct ptxi_api_call *call);

/* The first line of every entry point. When this one returns, what it has held is released. */
#define API_CALL __attribute__((cleanup(ptxi_api_call_end), unused)) struct ptxi_api_call api_call = ptxi_api_call_begin()

/* Keep a context from being taken apart until the call returns. The caller guarantees that the context's memory is there now.
 * PTXI_ERROR_CONTEXT_IS_DESTROYED if it admits no calls, PTXI_ERROR_OUT_OF_MEMORY. */
ptxiResult ptxi_api_hold_context(ptxiContext ctx);

/* Lock until the call returns; does nothing where the call has locked it already. */
void ptxi_api_lock(pthread_mutex_t *lock);

/* Wait until no call holds the context, which admits no new calls. */
void ptxi_api_wait_for_calls(ptxiContext ctx);

#endif
