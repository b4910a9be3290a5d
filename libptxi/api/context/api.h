/* What the files of api/ share: process and thread state, contexts, and how an entry point begins.
 *
 *     ptxiResult ptxiVerbNoun(...)
 *     {
 *         API_CALL;
 *         ptxiContext ctx;
 *         ptxiResult r = ptxi_api_context(&ctx);
 *
 *         if (r)
 *             return r;
 *         ...
 *
 * How long objects live is told in handle.h. Locks, in the order in which they may be taken:
 *
 * 1. those that a call may hold while it waits for work: of a graph's instance (graph_exec.c), of references (texref.c);
 * 2. of link states (link.c), of libraries (library.c), of graphs and captures (graph.h);
 * 3. the module's, which compilation takes while kernels run, the event's, and the context's kernel_heap_lock;
 * 4. state.lock, then ctx->lock;
 * 5. those inside of queue, heap, pool, memmap and the table of handles, each of which is taken last and held briefly. The heap's
 *    lock alone is taken before ctx->lock.
 *
 * Only 1 is held while work is waited for: kernels take 3 to 5. */
#ifndef PTXI_API_CONTEXT_API_H
#define PTXI_API_CONTEXT_API_H

#include "ptxi.h"

#include "api/context/failure.h"
#include "api/context/handle.h"
#include "api/context/profile.h"
#include "api/stream/stream_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ptxi_memmap;
struct ptxi_exec;
struct ptxi_object_table;
struct ptxi_heap_block;

/* The process. */
struct ptxi_state {
    _Atomic int phase; /* enum ptxi_phase */
    pthread_mutex_t lock;
    pthread_cond_t changed;                       /* the primary context is closed */
    _Atomic(const struct ptxi_profile *) profile; /* of contexts made from now on */
    unsigned workers;                             /* of contexts made from now on; 0: the host's processors */
    struct ptxi_memmap *memmap;
    unsigned long long schedule;                  /* of contexts made from now on */
    size_t total_memory;                          /* bytes */
    struct ptxiContext_st *contexts;              /* list */
    struct ptxiContext_st *primary;               /* made once, then kept */
    unsigned primary_retains, primary_flags;
    bool primary_closing;                         /* nobody may open it until it is closed */
};

enum ptxi_phase { PTXI_PHASE_BEFORE_INIT, PTXI_PHASE_READY, PTXI_PHASE_FORKED };

extern struct ptxi_state ptxi_state;

/* The calling thread. */
struct ptxi_thread {
    ptxiContext *stack; /* each entry holds a reference */
    unsigned depth, cap;
    bool in_callback;
    uint64_t id;                     /* 1, 2, ... */
    struct ptxi_failure *report;     /* what its last ptxiGetLastReport returned */
    struct ptxi_diag_store *diags;   /* of its last module load */
    ptxiStreamCaptureMode capture_mode;
};

struct ptxi_thread *ptxi_api_thread(void);

enum { PTXI_LIMITS = 7 }; /* the driver's limits that a context stores */

struct ptxiContext_st {
    _Atomic unsigned refs;  /* the handle, and each thread's stack entries */
    _Atomic unsigned calls; /* that hold it */
    _Atomic bool alive;     /* false once destroyed, and while a primary context is not retained: it admits no calls */
    bool primary;
    unsigned flags;
    _Atomic unsigned dialect; /* bits of ptxiDialect */
    _Atomic uint64_t interrupts; /* calls of ptxiCtxInterrupt */
    _Atomic size_t pending;      /* launches and copies that kernels asked for and that have not run */
    const struct ptxi_profile *profile;
    struct ptxiContext_st *next;
    struct ptxi_streams streams;
    struct ptxi_object_table *object_table; /* of textures and surfaces */
    struct ptxi_capture *captures; /* list of those that have not ended; under the graphs' lock */
    struct reference *references;  /* list of those to no module's variable; under the references' lock */

    pthread_mutex_t lock;   /* what follows */
    size_t limits[PTXI_LIMITS];
    size_t instruction_limit, millisecond_limit;
    struct ptxi_heap_block *blocks;   /* list of its allocations */
    struct ptxiEvent_st *events;      /* list */
    struct ptxiModule_st *modules;    /* list */
    struct ptxiArray_st *arrays;      /* list */
    struct ptxiMipmappedArray_st *mipmaps; /* list */
    struct ptxi_api_object *objects;  /* list of textures and surfaces */
    struct ptxi_asm_entry *asms;      /* list of templates, the latest first */
    struct ptxi_failure *last_failure;
    unsigned workers;                 /* 0: the default */
    struct ptxi_exec *exec;           /* made by the first launch */
    bool unchecked, counting;
    unsigned long long schedule;      /* as ptxiCtxSetSchedule() takes it */
    size_t kernel_heap;               /* bytes that kernels have allocated */
    ptxiCounters counters;
    void (*progress)(void *user, unsigned long long done, unsigned long long blocks);
    void *progress_user;

    pthread_mutex_t kernel_heap_lock; /* taken before `lock`, by free() of kernels */
    pthread_mutex_t sink_lock; /* what follows, and each call of it */
    void (*sink)(void *user, const char *text, size_t length);
    void *sink_user;
};

/* PTXI_SUCCESS, PTXI_ERROR_NOT_INITIALIZED or PTXI_ERROR_NOT_PERMITTED. */
ptxiResult ptxi_api_enter(void);

/* The same, and the thread's current context, which the call holds. */
ptxiResult ptxi_api_context(ptxiContext *ctx);

/* The same for a call that names a context, NULL meaning the current one. */
ptxiResult ptxi_api_named_context(ptxiContext named, ptxiContext *ctx);

/* "run", "fair" or "seed:N" as a number for ptxiCtxSetSchedule(), and N alone; false, with *schedule unchanged, for other texts. */
bool ptxi_api_parse_schedule(const char *text, unsigned long long *schedule);
bool ptxi_api_parse_seed(const char *digits, unsigned long long *seed);

bool ptxi_api_is_dialect(unsigned dialect); /* bits of ptxiDialect and no others */

ptxiResult ptxi_api_device(ptxiDevice dev); /* PTXI_SUCCESS or PTXI_ERROR_INVALID_DEVICE */

/* Hand a failure that asynchronous work left to the caller: it becomes the context's last one. Consumes the reference. */
ptxiResult ptxi_api_return_failure(ptxiContext ctx, ptxiResult r, struct ptxi_failure *failure);

/* Wait for all work of the context without taking its failures. */
ptxiResult ptxi_api_drain(ptxiContext ctx);

/* The failure of the stream's work up to item `seq`, which has ended: what a call that synchronises returns. */
ptxiResult ptxi_api_collect(ptxiContext ctx, struct ptxiStream_st *s, uint64_t seq);

/* Turn a stream argument into a stream of the context, which the call holds. */
ptxiResult ptxi_api_stream(ptxiContext ctx, ptxiStream handle, struct ptxiStream_st **stream);

/* The context's pool of workers, with a reference for the caller; made on first use. */
ptxiResult ptxi_api_exec(ptxiContext ctx, struct ptxi_exec **exec);

/* What a context takes down with itself; each is called once, when no work is left. */
void ptxi_api_free_events(ptxiContext ctx);
/* Whether a launch may record it, with the driver's results: not one that measures time. */
ptxiResult ptxi_event_in_launch(ptxiEvent e, int flags);
void ptxi_event_hold(ptxiEvent e);    /* its memory, also when it has been destroyed */
void ptxi_event_let_go(ptxiEvent e);
void ptxi_api_free_captures(ptxiContext ctx); /* before the streams */
void ptxi_api_free_asms(ptxiContext ctx); /* before the modules */
void ptxi_api_forget_libraries(ptxiContext ctx); /* before the modules */
void ptxi_api_free_modules(ptxiContext ctx);
void ptxi_api_free_exec(ptxiContext ctx);
void ptxi_api_free_references(ptxiContext ctx); /* those of no module, before the objects */
void ptxi_api_free_objects(ptxiContext ctx); /* textures and surfaces, before arrays */
void ptxi_api_free_arrays(ptxiContext ctx);
void ptxi_api_free_diags(struct ptxi_diag_store *diags);

#endif
