/* Launches: the description of a launch, and the grid that it becomes. */
#ifndef PTXI_API_LAUNCH_LAUNCH_H
#define PTXI_API_LAUNCH_LAUNCH_H

#include "api/memory/open_ranges.h"
#include "api/memory/strided_copy.h"
#include "api/module/module.h"
#include "api/observe/observe.h"

struct ptxi_pending_work;
struct ptxi_param_buffer;
struct ptxi_graph_run;

/* A list of work. `last` points to the NULL at its end, in an empty list to `first`. */
struct ptxi_pending_list { struct ptxi_pending_work *first, **last; };

struct ptxi_launch_shape {
    unsigned grid[3], block[3], shared;
    unsigned cluster[3];   /* 0: not requested */
    bool cooperative;
    bool early;            /* it may begin before the previous kernel has ended */
    unsigned preferred[3]; /* cluster size that would be better; 0: not requested */
    struct ptxi_window window;
    uint64_t gridid;       /* of a window; 0: a new one */
};

/* A launch as the program requests it. Captures, graphs and kernels make the same description. */
struct ptxi_launch_description {
    ptxiFunction function;
    struct ptxi_launch_shape shape;
    void **params, **extra; /* as arguments of ptxiLaunchKernel() */
    uint64_t graph;         /* the executable graph that has this kernel, or 0 */
    struct ptxi_graph_run *run; /* its run, of which the launch gets a reference; NULL if kernels launch no graphs */
    bool waited;            /* the caller waits for it at once */
    struct ptxi_open_ranges *open; /* memory that the launch closes when it has ended; NULL: the caller does */
    uint64_t number, ended; /* output: its number in its stream, and the number of items that had ended before */
};

/* A launch that is ready to run. */
struct ptxi_launch {
    ptxiContext ctx;
    ptxiModule module;               /* a reference */
    const char *kernel;
    size_t milliseconds;             /* limit, or 0 */
    void (*progress)(void *user, unsigned long long done, unsigned long long blocks); /* or NULL */
    void *progress_user;
    struct ptxi_exec *exec;          /* a reference, or NULL */
    struct ptxi_bindings *bindings;  /* a reference */
    struct ptxi_heap_block *workspace; /* of a cooperative launch, or NULL */
    struct ptxi_heap_block *cta_memory; /* of .minperctamemory, or NULL */
    struct ptxi_tracker *tracker;    /* a reference, or NULL */
    struct ptxi_open_ranges open;    /* memory that is open for it */
    bool checked;                    /* it runs the variant that checks */
    struct ptxi_graph_run *run;      /* a reference: the kernel is of a graph and may launch graphs; or NULL */
    struct ptxi_host_stack *stack;   /* of the call that has launched it, for reports; NULL: not known */
    struct ptxi_grid grid;

    pthread_mutex_t lock;            /* protects the members below, which kernels change */
    struct ptxi_pending_list pending, tail_pending; /* launches and copies, in the order of the calls */
    struct ptxi_param_buffer *buffers; /* list */
    _Atomic size_t buffer_count;
    _Atomic size_t tails;            /* number of tail launches requested */
    int error;                       /* result of cudaGetLastError() */
    _Alignas(16) unsigned char params[];
};

/* ---- function_attribute.c */

ptxiResult ptxi_launch_attribute(ptxiFunction f, ptxiFunctionAttribute which, int *value);
ptxiResult ptxi_launch_set_attribute(ptxiFunction f, ptxiFunctionAttribute which, int value);
ptxiResult ptxi_launch_no_code(const struct ptxiFunction_st *f, unsigned variant); /* why the kernel has no code */
unsigned ptxi_launch_max_threads(const struct ptxi_func *f);                 /* of a block */
/* Bytes that a block may have. */
int ptxi_launch_max_dynamic_shared(const struct ptxiFunction_st *f, const struct ptxi_code *code);

/* Resolves a function or a library's kernel (module/library.h) to its code. */
ptxiResult ptxi_launch_enter(ptxiFunction *f, const struct ptxi_code **code);

/* ---- occupancy.c */

enum { PTXI_SHARED_GRANULARITY = 128 }; /* bytes */

/* Blocks that a multiprocessor of the profile holds at once. Registers do not count, because their number is only an
 * estimate here. The carveout is the preferred percentage of shared memory; -1: no preference. */
unsigned ptxi_occupancy_blocks(const struct ptxi_profile *p, const struct ptxi_code *code, unsigned threads,
                               size_t dynamic, int carveout);
unsigned ptxi_occupancy_blocks_by_threads(const struct ptxi_profile *p, unsigned threads); /* with enough memory */
int ptxi_occupancy_of_function(ptxiFunction f, unsigned threads, size_t dynamic); /* -1: the kernel has no code */

/* ---- shape.c */

ptxiResult ptxi_launch_read_config(const ptxiLaunchConfig *config, struct ptxi_launch_shape *s);
ptxiResult ptxi_launch_read_attribute(const ptxiLaunchAttribute *a, struct ptxi_launch_shape *s);

/* Sets the grid's cluster size: the kernel's own, the requested one, or the function's. It may have at most `most`
 * blocks. */
enum { PTXI_PORTABLE_CLUSTER = 8 };
ptxiResult ptxi_launch_cluster(const struct ptxiFunction_st *f, struct ptxi_launch_shape *s, unsigned most);
unsigned ptxi_launch_max_cluster(const struct ptxiFunction_st *f); /* blocks of a cluster of the function */

bool ptxi_launch_is_grid(const unsigned *grid); /* false if a size is 0 or too large */

/* Checks that a grid of the kernel may have these sizes. */
ptxiResult ptxi_launch_check_shape(const struct ptxiFunction_st *f, const struct ptxi_code *code,
                                   const struct ptxi_launch_shape *s);

/* ---- window.c */

/* Checks that the launch's part of the grid may run apart from the rest, and that its memory can be tracked, if its
 * variant of the bytecode does so. */
ptxiResult ptxi_launch_check_window(ptxiFunction f, const struct ptxi_launch_shape *s, unsigned variant);

/* ---- launch.c */

/* Copies a kernel's parameters, in either form of ptxiLaunchKernel(), to `bytes` zeroed bytes. */
ptxiResult ptxi_launch_params(ptxiFunction f, void **params, void **extra, unsigned char *to, size_t bytes);

/* Checks a launch and makes an item that runs it. Its payload is a struct ptxi_launch. */
ptxiResult ptxi_launch_make(ptxiContext ctx, struct ptxi_launch_description *d, struct ptxi_item **item);

/* ---- grid.c */

uint64_t ptxi_launch_new_gridid(void); /* a value of %gridid that no other launch has */

/* Sets up the engine's grid of a launch. */
void ptxi_launch_fill_grid(struct ptxi_launch *l, const struct ptxi_code *code, const struct ptxi_launch_shape *s);

/* The value of CLOCK_MONOTONIC at the end of a time limit that begins now. */
uint64_t ptxi_launch_deadline(uint64_t milliseconds);

/* Runs the grid, but not the grids that it launches. */
ptxiResult ptxi_launch_run_grid(struct ptxi_launch *l, struct ptxi_failure **failure);
ptxiResult ptxi_launch_report(ptxiModule m, const char *kernel, const struct ptxi_fault_report *f,
                              struct ptxi_failure **failure);

/* ---- check.c */

/* The variant of bytecode that tools need: bits of PTXI_VARIANT_... */
unsigned ptxi_launch_check_variant(unsigned tools);
/* Runs a grid that tools check. */
void ptxi_launch_run_checked(struct ptxi_launch *l);

/* ---- pending.c: the grids and copies that a grid has requested, which run after it, each followed by its own */

struct ptxi_pending_work {
    struct ptxi_pending_work *next;
    struct ptxi_item *item; /* of a grid, or NULL */
    struct ptxi_graph_run *run; /* a reference: its begin or its end; or NULL */
    bool begins;
    struct ptxi_rows rows;  /* to copy or to fill, if there is neither an item nor a run */
    struct ptxi_call_site { /* the call of the thread that has requested it */
        ptxiModule module;
        const char *kernel;
        const struct ptxi_code *code;
        struct ptxi_source_loc loc;
        uint32_t ctaid[3], tid[3];
    } site;
};
void ptxi_pending_init(struct ptxi_launch *l);
/* False: no memory, or too many. */
bool ptxi_pending_add(struct ptxi_launch *l, struct ptxi_pending_work work, bool tail);
ptxiResult ptxi_pending_run(struct ptxi_launch *l, struct ptxi_failure **failure);

/* Appends work. False: no memory, or too many. */
bool ptxi_pending_append(ptxiContext ctx, struct ptxi_pending_list *list, struct ptxi_pending_work work);
void ptxi_pending_discard(ptxiContext ctx, struct ptxi_pending_work *first);

/* Passes a list to a launch, or to the tail launches of a run. */
void ptxi_pending_add_list(struct ptxi_launch *l, const struct ptxi_pending_list *list);
void ptxi_pending_add_tails(struct ptxi_graph_run *run, const struct ptxi_pending_list *list);

/* Runs the tail launches of a run that the host has begun, under the limits of `root`. */
ptxiResult ptxi_pending_run_tails(struct ptxi_graph_run *run, struct ptxi_grid *root, struct ptxi_failure **failure);
void ptxi_pending_free(struct ptxi_launch *l);

/* Runs of executable graphs whose kernels may launch graphs (CUDA C++ Programming Guide, "Device Graph Launch"). A
 * launch of a graph by a kernel becomes pending work of that kernel, or of the run of the kernel's graph for a tail
 * launch: a mark of its begin, the work of its nodes in their order, and a mark of its end, after which its own tail
 * launches run. */

/* `is` is true from the launch of a graph by a kernel until the graph begins. All launches of the graph share it. */
struct ptxi_graph_pending {
    _Atomic unsigned refs;
    _Atomic bool is;
};

struct ptxi_graph_run {
    _Atomic unsigned refs;
    ptxiContext ctx;
    uint64_t graph;                         /* %current_graph_exec */
    struct ptxi_graph_pending *pending;     /* a reference; NULL for a launch of the host */
    pthread_mutex_t lock;                   /* protects the list */
    struct ptxi_pending_list tails;         /* tail launches of its kernels */
};

struct ptxi_graph_pending *ptxi_graph_pending_create(void); /* NULL: no memory */
void ptxi_graph_pending_unref(struct ptxi_graph_pending *p);

/* Makes a run with a reference to `pending`. NULL: no memory. */
struct ptxi_graph_run *ptxi_graph_run_create(ptxiContext ctx, uint64_t graph, struct ptxi_graph_pending *pending);
struct ptxi_graph_run *ptxi_graph_run_ref(struct ptxi_graph_run *run);
void ptxi_graph_run_unref(struct ptxi_graph_run *run); /* NULL does nothing */

#endif
