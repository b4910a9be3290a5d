/* What api/ sees of the engine: a pool of workers that runs grids. */
#ifndef PTXI_EXEC_ENGINE_EXEC_H
#define PTXI_EXEC_ENGINE_EXEC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/bytecode.h"

struct ptxi_memmap;
struct ptxi_object_table;
struct ptxi_exec;
struct ptxi_warp;

enum ptxi_fault_kind {
    PTXI_FK_NONE,
    PTXI_FK_OUT_OF_BOUNDS,
    PTXI_FK_MISALIGNED,
    PTXI_FK_NULL,
    PTXI_FK_FREED,
    PTXI_FK_READ_ONLY,
    PTXI_FK_OTHER_SHARED,   /* shared memory of another CTA, or beyond this one's */
    PTXI_FK_NO_CTA,         /* a shared address of another rank where it must be the CTA's own */
    PTXI_FK_NO_RANK,        /* shared memory of a rank that the cluster does not have */
    PTXI_FK_OTHER_LOCAL,    /* .local memory beyond the thread's own */
    PTXI_FK_TRAP,
    PTXI_FK_ASSERT,
    PTXI_FK_DEADLOCK,
    PTXI_FK_BARRIER,        /* a barrier number that is none, and other rules of barriers */
    PTXI_FK_BARRIER_USE,    /* what a device calls an illegal instruction: thread counts, mbarriers elsewhere than in shared memory */
    PTXI_FK_MISUSE,         /* an instruction used against its rules: matrices, bulk copies, tensor maps, tensor memory */
    PTXI_FK_BUDGET,
    PTXI_FK_TIMEOUT,
    PTXI_FK_INTERRUPTED,
    PTXI_FK_UNSUPPORTED,
    PTXI_FK_STACK,          /* call depth or .local memory exhausted */
    PTXI_FK_BRANCH,         /* brx.idx out of range, indirect call of no function, end of function reached */
    PTXI_FK_UNRESOLVED,     /* call of an .extern function that nothing defines */
    PTXI_FK_FREE,           /* free of what is not allocated */
    PTXI_FK_FREE_TWICE,
    PTXI_FK_HOST,           /* a host function failed */
    PTXI_FK_ILLEGAL,        /* an operand that is none: a texture that is not there */
    PTXI_FK_MEMORY          /* the host has no memory for registers, shared memory or frames */
};

/* Where and why a launch failed. Strings live as long as the module. */
struct ptxi_fault_report {
    enum ptxi_fault_kind kind;
    uint64_t address;
    uint32_t access_size;
    bool is_store;
    uint32_t ctaid[3], tid[3];
    uint32_t thread_count;      /* lanes of the warp at fault */
    const struct ptxi_code *code; /* function */
    struct ptxi_source_loc loc;   /* line 0: not known */
    const char *area;              /* where the address counts from 0: "the block's shared memory"; NULL: an address */
    uint64_t near_base, near_size; /* nearest allocation, or the area; size 0: none */
    bool near_freed;
    char detail[512];           /* text of an assertion, name of an instruction, who waits where */
};

/* A function that the host provides in place of PTX: gets the warp, the lanes that call, and for each argument word
 * and each return word a vector of PTXI_LANES 32-bit elements. Sets given_words to how many return words it has written. Returns false
 * after ptxi_fault(). */
enum { PTXI_MAX_BUILTIN_WORDS = 1024 }; /* arguments and results; more are cut */
struct ptxi_builtin_call {
    struct ptxi_warp *warp;
    const struct ptxi_insn *insn;
    uint64_t lanes;
    const uint32_t *const *args; /* arg word -> lane vector */
    uint32_t *const *rets;
    uint32_t arg_words, ret_words;
    uint32_t given_words;
};
typedef bool ptxi_builtin(struct ptxi_builtin_call *call, void *user);

/* The host's function that stands for a function without a body. */
struct ptxi_binding {
    ptxi_builtin *call; /* NULL: nothing, or the function has a body */
    void *user;
};

/* A module's functions as the engine calls them. */
struct ptxi_callee {
    _Atomic(const struct ptxi_code *) code; /* NULL until compiled */
    _Atomic(const char *) too_large;        /* why it will never be: what there is too much of */
    bool without_body;                      /* what may have a binding */
    const char *name;
};

struct ptxi_program {
    struct ptxi_callee *functions;
    uint32_t function_count;
    /* Compiles a function on its first call (thread-safe); NULL when it has no body or memory ran out. */
    const struct ptxi_code *(*compile)(void *ctx, uint32_t function);
    /* Function index of a function's address as kernels see it, or UINT32_MAX. */
    uint32_t (*function_at)(void *ctx, uint64_t address);
    void *ctx;
    unsigned char *const_bank; /* constants; also reachable through its own memory region */
    uint64_t const_size;
};

/* What instructions did with shared memory, when counting: see banks.c. */
#define PTXI_SHARED_COUNTS(X) X(requests) X(wavefronts) X(conflicts)

/* Memory that kernels allocate; any thread. */
enum ptxi_heap_result { PTXI_HEAP_OK, PTXI_HEAP_WILD, PTXI_HEAP_TWICE };
struct ptxi_kernel_heap {
    uint64_t (*get)(void *ctx, uint64_t bytes); /* 0: there is no more */
    enum ptxi_heap_result (*put)(void *ctx, uint64_t address);
};

/* One launch. Filled by api/; everything it points to lives until ptxi_exec_launch() returns. */
struct ptxi_grid {
    const struct ptxi_code *code;
    const struct ptxi_program *program;
    const struct ptxi_binding *bindings; /* of the program's functions */
    struct ptxi_object_table *objects;   /* textures and surfaces that kernels may use */
    struct ptxi_memmap *memmap;
    uint32_t grid[3], block[3];
    uint32_t cluster[3];         /* CTAs of a cluster, whose multiples `grid` are; 0: no clusters */
    bool explicit_cluster;
    uint32_t dynamic_shared;     /* bytes */
    const unsigned char *params; /* code->param_bytes bytes */
    uint64_t gridid;
    uint32_t sm_count;           /* of the device profile: %nsmid, CTAs that could be resident */
    uint32_t sm_warps;           /* of the device profile: %nwarpid */
    uint32_t resident_limit;     /* CTAs one worker may hold at once */
    bool cooperative;            /* all CTAs are resident from the start */
    bool unchecked;              /* accesses to global memory are not checked */
    bool counting;
    uint64_t schedule;           /* 0: in order; else the seed of the dice that rule it, see chance.h */
    bool fair;                   /* in order, in short slices: warps and CTAs advance together */
    uint32_t stack_bytes;        /* .local memory of a thread beyond the kernel's own, for calls */
    uint64_t instruction_budget; /* 0: none */
    uint64_t deadline_ns;        /* CLOCK_MONOTONIC, 0: none */
    const _Atomic uint64_t *interrupts; /* or NULL; the grid ends when it is no longer what it was when the launch was made: */
    uint64_t interrupts_before;
    const struct ptxi_kernel_heap *heap; /* or NULL: there is none */
    void *heap_ctx;
    uint64_t envreg12;           /* workspace of cooperative launches, %envreg1:%envreg2 */
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* or NULL; some ten times a second, by one thread at a time */
    void *progress_ctx;
    void (*output)(void *ctx, const char *text, size_t size); /* printf */
    void *output_ctx;

    /* results */
    struct ptxi_fault_report report; /* kind PTXI_FK_NONE: it ran to its end */
    _Atomic uint64_t thread_instructions, warp_instructions; /* when counting */
    struct {
#define X(name) _Atomic uint64_t name;
        PTXI_SHARED_COUNTS(X)
#undef X
    } shared;

    /* engine's own */
    uint64_t launch_id, cta_total, cluster_total;
    uint32_t cluster_size;
    bool one_worker; /* runs all of it */
    bool only_worker; /* there is no other */
    _Atomic uint64_t next_cluster, done_ctas;
    _Atomic uint32_t failed; /* report is being or has been written */
    _Atomic uint32_t inside; /* workers holding CTAs of it */
    _Atomic uint64_t progress_ns; /* when to call progress again */
    atomic_flag reporting;
    _Atomic uint64_t spent;  /* coarse count of instructions, for the budget */
    struct ptxi_grid *next;
};

enum { PTXI_MAX_WORKERS = 1024 };

/* A pool of `workers` workers (0: one a core), with one reference. NULL when out of memory. The last reference destroys it, when no
 * grid runs on it. */
struct ptxi_exec *ptxi_exec_create(unsigned workers);
void ptxi_exec_ref(struct ptxi_exec *exec);
void ptxi_exec_unref(struct ptxi_exec *exec);
unsigned ptxi_exec_workers(const struct ptxi_exec *exec);

/* Runs a grid to its end, the calling thread helping. Any number of threads may call at once. The grid's report says
 * how it went. */
void ptxi_exec_launch(struct ptxi_exec *exec, struct ptxi_grid *grid);

/* Which of a grid's limits (budget, deadline, interrupts) is exceeded; PTXI_FK_NONE: none. */
enum ptxi_fault_kind ptxi_exceeded_limit(const struct ptxi_grid *grid);

/* Name of the CPU level in use: v4, v3, v2, portable. */
const char *ptxi_exec_level_name(void);

/* CTAs of a cluster. */
#define PTXI_MOST_CLUSTER 16

/* Windows of the generic address space. Host addresses lie below them; all other generic addresses are global. */
#define PTXI_SHARED_WINDOW (UINT64_C(1) << 60)
/* In the window of shared memory, and so among shared addresses: the memory of the CTA of rank 0 in the cluster, of rank 1, and so on. */
#define PTXI_SHARED_STEP (UINT32_C(1) << 24)
#define PTXI_LOCAL_WINDOW (UINT64_C(1) << 60 | UINT64_C(1) << 32)
#define PTXI_WINDOW_SIZE (UINT64_C(1) << 32)

#endif
