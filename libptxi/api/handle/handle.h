/* Handles: the table of the library's objects, the lifetime of these objects, and the calls that use them.
 *
 * Any thread may call at any time, even with a handle that another thread is destroying. Three rules make this safe:
 *
 * 1. A handle is looked up in a table and never trusted. A call that names a destroyed object finds nothing and fails.
 * 2. An object that a call looks up stays alive until the call returns. Each entry point begins with API_CALL, and the
 *    call holds everything that ptxi_handle_use() and ptxi_gate_hold() find. A context is closed after the last call in
 *    it has returned, so a call never sees a context without its queue, its modules or its workers.
 * 3. Work that continues after the call has its own references. A launch refers to its module, its bindings of host
 *    functions and its pool of workers. An item of a stream refers to its event. A stream with items refers to itself.
 *
 * Destruction has two steps. ptxi_handle_retire() removes the object from the table, so that no call finds it any
 * more. The last reference frees the object. Queued work uses modules, libraries and arrays: the call that destroys
 * one waits until the other references are gone, so that a thread that runs work never frees it.
 *
 * A part of another object (a function, a kernel, a level, a reference, a node) has no references of its own. Holding
 * a part holds its owner. */
#ifndef PTXI_API_HANDLE_HANDLE_H
#define PTXI_API_HANDLE_HANDLE_H

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
    PTXI_HANDLE_USER_OBJECT,
    PTXI_HANDLE_ALLOCATION,
};

/* Counts the calls that use a context, and refuses new ones while it is closed. */
struct ptxi_gate {
    _Atomic unsigned calls; /* number of calls that hold it */
    _Atomic bool open;
};

/* The first member of every object that has a handle. The handle is the object's address. */
struct ptxi_handle {
    const void *address; /* its own: the key in the table */
    enum ptxi_handle_kind kind;
    bool listed;                /* in the table; under the table's lock */
    _Atomic unsigned refs;      /* the program's while it is listed, those of calls, of queued work, of other objects */
    struct ptxi_gate *gate;     /* of its context, which calls that use it also hold; NULL: it belongs to no context */
    struct ptxi_handle *owner;  /* the object that it is a part of, or NULL */
    void (*destroy)(void *object); /* called when the last reference goes; NULL for a part */
    UT_hash_handle hh;
};

/* Initialises the handle of an object, or that of a part. The caller has the one reference to the object. */
void ptxi_handle_init(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_gate *gate,
                      void (*destroy)(void *object));
void ptxi_handle_init_part(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_handle *owner);

/* Adds an object to the table. False if there is no memory. Another thread may destroy the object at once, because it
 * may use an old handle with the same address. So an object is published last, after its parts, and when all lists
 * have it. */
bool ptxi_handle_publish(struct ptxi_handle *h);

/* Initialises a handle and publishes the object. */
bool ptxi_handle_add(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_gate *gate,
                     void (*destroy)(void *object));
bool ptxi_handle_add_part(struct ptxi_handle *h, enum ptxi_handle_kind kind, struct ptxi_handle *owner);

/* Removes an object from the table, if it is listed, before it or its owner is destroyed. */
void ptxi_handle_remove(struct ptxi_handle *h);

/* True if there is such an object. Another thread may destroy it at once, unless the caller prevents that. */
bool ptxi_handle_is(const void *handle, enum ptxi_handle_kind kind);

/* Holds the object until the current call returns. PTXI_ERROR_INVALID_HANDLE if there is no such object,
 * PTXI_ERROR_CONTEXT_IS_DESTROYED if its context is being destroyed, PTXI_ERROR_OUT_OF_MEMORY. */
ptxiResult ptxi_handle_use(const void *handle, enum ptxi_handle_kind kind);

/* Removes the object from the table and passes its reference to the caller. The call holds the object's context.
 * Errors as above. */
ptxiResult ptxi_handle_retire(const void *handle, enum ptxi_handle_kind kind);

void ptxi_handle_ref(struct ptxi_handle *h);
void ptxi_handle_unref(struct ptxi_handle *h);

/* ---- calls */

/* The number of holds that the calling thread had when the entry point began. */
struct ptxi_api_call {
    unsigned held;
};

struct ptxi_api_call ptxi_api_call_begin(void);
void ptxi_api_call_end(const struct ptxi_api_call *call);

/* The first line of every entry point. Everything that the entry point holds is released when it returns. */
#define API_CALL \
    __attribute__((cleanup(ptxi_api_call_end), unused)) struct ptxi_api_call api_call = ptxi_api_call_begin()

/* Locks until the current call returns. Does nothing if the call has locked it already. */
void ptxi_call_lock(pthread_mutex_t *lock);

/* Keeps a context open until the current call returns. The caller guarantees that the gate's memory still exists.
 * PTXI_ERROR_CONTEXT_IS_DESTROYED if the gate is closed, PTXI_ERROR_OUT_OF_MEMORY. */
ptxiResult ptxi_gate_hold(struct ptxi_gate *gate);

/* Waits until no call holds the gate, which is closed. */
void ptxi_gate_wait_for_calls(const struct ptxi_gate *gate);

/* Marks the calling thread as being in a callback of the program, which may not call most entry points. */
bool ptxi_call_in_callback(void);
void ptxi_call_set_callback(bool in);

/* Sleeps for some microseconds, in a loop that waits for another call. */
void ptxi_pause_briefly(void);

#endif
