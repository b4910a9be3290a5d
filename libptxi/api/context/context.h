/* The state of the process, of threads and of contexts, and how an entry point begins:
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
 * api/handle/handle.h describes how long objects live. Locks, in the order in which a thread may take them:
 *
 * 1. locks that a call may hold while it waits for work: of an executable graph (graph_exec.h), of references
 *    (texref.c);
 * 2. of link states (link.c), of libraries (library.c), of graphs and captures (graph.h), of imported memory
 *    (ipc_memory.c);
 * 3. the module's, which compilation takes while kernels run, the event's, and the context's kernel_heap_lock;
 * 4. state.lock, then ctx->lock;
 * 5. the locks inside the queue, the heap, pools, the memory map and the table of handles. Each is taken last and held
 *    briefly. Only the heap's lock is taken before ctx->lock.
 *
 * A call may wait for work while it holds a lock of group 1, but no other: kernels take locks of groups 3 to 5. */
#ifndef PTXI_API_CONTEXT_CONTEXT_H
#define PTXI_API_CONTEXT_CONTEXT_H

#include "ptxi.h"

#include "api/context/profile.h"
#include "api/error/diag_store.h"
#include "api/error/failure.h"
#include "api/handle/handle.h"
#include "api/queue/queue.h"
#include "exec/memmap/memmap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ptxi_exec;
struct ptxi_object_table;
struct ptxi_heap_block;
struct ptxi_findings;
struct ptxi_rules;

/* A device. The number of devices and their first profiles are those of PTXI_DEVICE. */
struct ptxi_device {
    _Atomic(const struct ptxi_profile *) profile; /* of new contexts */
    struct ptxiContext_st *primary;               /* created once and never freed */
    unsigned primary_retains, primary_flags;
    bool primary_closing;                         /* another thread closes it; it cannot be opened until then */
};

/* The process. */
struct ptxi_state {
    _Atomic int phase; /* enum ptxi_phase */
    pthread_mutex_t lock;
    pthread_cond_t changed;                       /* signalled when a primary context is closed */
    struct ptxi_device devices[PTXI_MAX_DEVICES];
    unsigned device_count;
    unsigned workers;                             /* of new contexts; 0: the number of the host's processors */
    struct ptxi_memmap *memmap;
    struct ptxi_memmap *addresses;                /* of the heap and of virtual memory, whether or not in use */
    unsigned long long schedule;                  /* of new contexts */
    ptxiTier tier;                                /* of new contexts */
    ptxiOnFault on_fault;                         /* of new contexts */
    size_t total_memory;                          /* bytes */
    struct ptxiContext_st *contexts;              /* list */
};

enum ptxi_phase { PTXI_PHASE_BEFORE_INIT, PTXI_PHASE_READY, PTXI_PHASE_FORKED };

extern struct ptxi_state ptxi_state;

/* The calling thread. */
struct ptxi_thread {
    ptxiContext *stack; /* current contexts, each with a reference */
    unsigned depth, cap;
    uint64_t id;                     /* 1, 2, ... */
    struct ptxi_failure *report;     /* result of its last ptxiGetLastReport() */
    struct ptxi_diag_store *diags;   /* of its last module load */
    ptxiStreamCaptureMode capture_mode;
};

/* NULL if there is no memory. */
struct ptxi_thread *ptxi_api_thread(void);

enum { PTXI_LIMITS = 7 }; /* number of the driver's limits that a context stores */

/* The progress of a launch that saves its context (ptxiLaunchCheckpointed). The snapshot contains it. */
struct ptxi_progress {
    uint64_t launch; /* hash of module, kernel, parameters and shape; 0: no launch */
    uint64_t done;   /* clusters that have ended */
    uint64_t gridid;
};

struct ptxiContext_st {
    _Atomic unsigned refs;  /* the handle's, and one for each entry in a thread's stack */
    struct ptxi_gate gate;  /* closed once the context is destroyed, and while nobody retains a primary context */
    bool primary;
    ptxiDevice device;
    uint64_t id;                 /* 1, 2, ...; never reused */
    unsigned flags;
    _Atomic unsigned dialect;    /* bits of ptxiDialect */
    _Atomic uint64_t interrupts; /* number of calls of ptxiCtxInterrupt() */
    _Atomic size_t pending;      /* launches and copies that kernels requested and that have not run */
    const struct ptxi_profile *profile;
    struct ptxi_context_peer *peers;   /* list: contexts with enabled peer access; under state.lock */
    _Atomic uint64_t accessible;       /* devices with memory that kernels may access, as memmap.h defines them */
    _Atomic int on_fault;              /* ptxiOnFault */
    _Atomic uint64_t failures;         /* number of launches that have failed while they ran */
    _Atomic int first_failure;         /* result of the first one */
    _Atomic int cache_config;          /* ptxiFuncCache; it has no effect */
    struct ptxiContext_st *next;
    struct ptxi_streams streams;
    struct ptxi_object_table *object_table; /* textures and surfaces that kernels can use */

    /* The objects of the context, in lists that the files of each kind manage. */
    struct ptxi_capture *captures; /* that have not ended; under the lock of graphs */
    struct reference *references;  /* that the program has created; under the lock of references */

    pthread_mutex_t lock;             /* protects the members below */
    struct ptxi_heap_block *blocks;   /* allocations */
    struct ptxiEvent_st *events;
    struct ptxiModule_st *modules;
    struct ptxiArray_st *arrays;
    struct ptxiMipmappedArray_st *mipmaps;
    struct ptxi_api_object *objects;  /* textures and surfaces */
    struct ptxi_asm_entry *asms;      /* modules of templates, the latest first */
    struct ptxi_restored *restored;   /* variables of a snapshot, for modules that are loaded later (restored.h) */
    struct ptxi_progress checkpoint;  /* of the snapshot that was restored, until a launch continues from it */

    size_t limits[PTXI_LIMITS];
    size_t instruction_limit, millisecond_limit;
    struct ptxi_failure *last_failure;
    unsigned workers;                 /* 0: the default */
    struct ptxi_exec *exec;           /* the pool of workers, created by the first launch */
    bool unchecked, counting;
    unsigned sanitizer;               /* bits of ptxiSanitizer */
    bool find_leaks;                  /* at its end */
    struct ptxi_findings *findings;   /* NULL: no sanitizer has been on */
    struct ptxi_rules *rules;         /* of ptxiCtxSetSanitizerRules(), or NULL */
    struct ptxi_tracker *tracker;     /* of ptxiCtxSetTracking(), a reference; or NULL. Under the lock */
    struct ptxi_checker *checker;     /* of checked launches; NULL: none so far */
    unsigned long long schedule;      /* argument of ptxiCtxSetSchedule() */
    ptxiTier tier;                    /* argument of ptxiCtxSetTier() */
    size_t kernel_heap;               /* bytes that kernels have allocated */
    ptxiCounters counters;
    void (*progress)(void *user, unsigned long long done, unsigned long long blocks);
    void *progress_user;

    pthread_mutex_t kernel_heap_lock; /* of free() in kernels; taken before `lock` */
    pthread_mutex_t sink_lock;        /* protects the members below, and held during each call of the sink */
    void (*sink)(void *user, const char *text, size_t length);
    void *sink_user;
};

/* ---- the begin of an entry point */

/* PTXI_SUCCESS, PTXI_ERROR_NOT_INITIALIZED or PTXI_ERROR_NOT_PERMITTED. */
ptxiResult ptxi_api_enter(void);

/* Checks the same, and finds the thread's current context, which the call then holds. */
ptxiResult ptxi_api_context(ptxiContext *ctx);

/* The same for a call that names a context. NULL means the current one. */
ptxiResult ptxi_api_named_context(ptxiContext named, ptxiContext *ctx);

/* Checks the same, and that there is such a device: PTXI_ERROR_INVALID_DEVICE. */
ptxiResult ptxi_api_device(ptxiDevice dev);

/* ---- the list of contexts and each thread's stack of them */

ptxiContext ptxi_context_current(void);                 /* NULL if the stack is empty */
ptxiResult ptxi_context_push(ptxiContext ctx);          /* PTXI_ERROR_INVALID_CONTEXT if the context is closed */
void ptxi_context_pop(void);
bool ptxi_context_is_listed(ptxiContext ctx);           /* true until the context is closed; under state.lock */
void ptxi_context_unref(ptxiContext ctx);

/* ---- peers of contexts; under state.lock */

void ptxi_peers_init(ptxiContext ctx);
void ptxi_peers_forget(ptxiContext ctx); /* neither it nor another context has peer access because of it */

/* ---- a context's work, failures and workers */

/* Waits for all work of the context without taking its failures. */
ptxiResult ptxi_api_drain(ptxiContext ctx);

/* Waits for the context's work until there are at most `most` references. */
void ptxi_wait_for_references(const _Atomic unsigned *refs, unsigned most, ptxiContext ctx);

/* The same, until a retired object has two references: the program's, and that of the current call. */
void ptxi_handle_wait_unused(const struct ptxi_handle *h, ptxiContext ctx);

/* Returns a failure of asynchronous work to the caller, and makes it the context's last one. Consumes the reference. */
ptxiResult ptxi_api_return_failure(ptxiContext ctx, ptxiResult r, struct ptxi_failure *failure);

/* Returns the failure of the stream's first `seq` items, which have ended, as a call that synchronizes does. */
ptxiResult ptxi_api_collect(ptxiContext ctx, struct ptxiStream_st *s, uint64_t seq);

/* The context's pool of workers, with a reference for the caller. The first use creates it. */
ptxiResult ptxi_context_workers(ptxiContext ctx, struct ptxi_exec **exec);
void ptxi_context_replace_workers(ptxiContext ctx, struct ptxi_exec *exec, unsigned workers); /* takes the reference */
void ptxi_context_release_workers(ptxiContext ctx);

/* Makes these the diagnostics that ptxiGetLastDiagnostic() returns to the calling thread. Without memory there are
 * none, which is not an error. */
void ptxi_api_store_diags(const struct ptxi_diag *d, const struct ptxi_texts *texts);

/* ---- settings */

/* Counts a launch that has failed. */
void ptxi_context_count_failure(ptxiContext ctx, ptxiResult r);

/* Converts "run", "fair" or "seed:N" to a number for ptxiCtxSetSchedule(). Returns false for other texts and leaves
 * *schedule unchanged. ptxi_api_parse_seed() reads the number only. */
bool ptxi_api_parse_schedule(const char *text, unsigned long long *schedule);
bool ptxi_api_parse_seed(const char *digits, unsigned long long *seed);
/* Converts "auto", "interpreter" or "native". Returns false for other texts and leaves *tier unchanged. */
bool ptxi_api_parse_tier(const char *text, ptxiTier *tier);

bool ptxi_api_is_dialect(unsigned dialect); /* bits of ptxiDialect and no others */
ptxiResult ptxi_api_check_shared_config(ptxiSharedConfig config);

#endif
