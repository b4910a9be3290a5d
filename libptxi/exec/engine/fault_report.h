/* Faults: why and where a launch fails. The first fault of a launch is the one that is reported. */
#ifndef PTXI_EXEC_ENGINE_FAULT_REPORT_H
#define PTXI_EXEC_ENGINE_FAULT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/engine/warp.h"
#include "isa/bytecode.h"

struct ptxi_memmap;

enum ptxi_fault_kind {
    PTXI_FK_NONE,
    PTXI_FK_OUT_OF_BOUNDS,
    PTXI_FK_MISALIGNED,
    PTXI_FK_NULL,
    PTXI_FK_FREED,
    PTXI_FK_READ_ONLY,
    PTXI_FK_PEER,           /* memory of another device, without enabled peer access */
    PTXI_FK_OTHER_SHARED,   /* an address after the end of the CTA's shared memory */
    PTXI_FK_NO_CTA,         /* a shared address of another rank where the CTA's own memory is required */
    PTXI_FK_NO_RANK,        /* a shared address of a rank that the cluster does not have */
    PTXI_FK_OTHER_LOCAL,    /* .local memory of another thread */
    PTXI_FK_ADDRESS_SPACE,  /* an address in a state space that the instruction does not accept */
    PTXI_FK_TRAP,
    PTXI_FK_ASSERT,
    PTXI_FK_DEADLOCK,
    PTXI_FK_BARRIER,        /* an invalid barrier number or another violation of the rules of barriers */
    PTXI_FK_BARRIER_USE,    /* what a device reports as an illegal instruction: thread counts, misplaced mbarriers */
    PTXI_FK_MISUSE,         /* invalid use of an instruction: matrices, bulk copies, tensor maps, tensor memory */
    PTXI_FK_BUDGET,
    PTXI_FK_TIMEOUT,
    PTXI_FK_INTERRUPTED,
    PTXI_FK_UNSUPPORTED,
    PTXI_FK_STACK,          /* call depth or .local memory exhausted */
    PTXI_FK_BRANCH,         /* brx.idx out of range, indirect call of an invalid address, end of function reached */
    PTXI_FK_UNRESOLVED,     /* call of an .extern function without a definition */
    PTXI_FK_FREE,           /* free of memory that is not allocated */
    PTXI_FK_FREE_TWICE,
    PTXI_FK_HOST,           /* a host function failed */
    PTXI_FK_ILLEGAL,        /* an invalid operand, for example a texture that does not exist */
    PTXI_FK_MEMORY          /* the host has no memory for registers, shared memory or frames */
};

/* Kinds of memory accesses. */
enum ptxi_access { PTXI_AK_NONE, PTXI_AK_LOAD, PTXI_AK_STORE, PTXI_AK_ATOMIC };

/* The memory of an address. In all but global memory, addresses are offsets. */
enum ptxi_fault_space { PTXI_FS_GLOBAL, PTXI_FS_SHARED, PTXI_FS_LOCAL, PTXI_FS_CONST, PTXI_FS_PARAM, PTXI_FS_SURFACE };

/* Where and why a launch failed. Strings live as long as the module. */
struct ptxi_fault_report {
    enum ptxi_fault_kind kind;
    enum ptxi_access access;       /* of an access to memory, else NONE */
    uint64_t address;
    uint32_t access_size;          /* bytes */
    uint32_t ctaid[3], tid[3];
    uint32_t thread_count;         /* number of lanes at fault */
    const struct ptxi_code *code;  /* the function at fault, and its instruction: */
    uint32_t at;
    struct ptxi_source_loc loc;    /* line 0: unknown */
    enum ptxi_fault_space space;   /* of the access */
    const char *area;              /* memory in which `address` is an offset ("the block's shared memory"), or NULL */
    uint64_t near_base, near_size; /* nearest allocation, or the area; size 0: unknown */
    bool near_freed;               /* the nearest allocation has been freed */
    int near_device;               /* the device with the nearest allocation if peer access applies to it, or -1 */
    char detail[512];              /* text of an assertion, name of an instruction, list of waiting threads */
};

/* Memory other than global memory. Its addresses are offsets. Bytes from `base` to `size` are the program's. */
struct ptxi_fault_area {
    enum ptxi_fault_space space;
    const char *name;
    uint64_t size, base;
};

/* Fails the launch. `lanes` are the lanes at fault, and the report names the first of them. `detail` completes the
 * message and may be NULL. Returns what the handler must return. */
const struct ptxi_insn *ptxi_fault(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_fault_kind kind,
                                   ptxi_lanes lanes,
                                   uint64_t address, uint32_t size, const char *detail);
/* Fails the launch because of an access to memory. `area` is NULL for a global address. */
const struct ptxi_insn *ptxi_fault_access(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_fault_kind kind,
                                          ptxi_lanes lanes, uint64_t address, uint32_t size, enum ptxi_access access,
                                          const struct ptxi_fault_area *area);
/* The same for an asynchronous access to global memory that instruction i of `code` started earlier. The warp
 * continues. */
void ptxi_fault_async_access(struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i,
                             enum ptxi_fault_kind kind,
                             ptxi_lanes lanes, uint64_t address, uint32_t size, enum ptxi_access access);

/* Fills in the place of a report. */
void ptxi_fault_locate(struct ptxi_fault_report *r, const struct ptxi_warp *w, const struct ptxi_code *code,
                       const struct ptxi_insn *i, ptxi_lanes lanes);
/* Fills in the reason of a report. If `memmap` is not NULL, the nearest allocation is part of it. */
void ptxi_fault_describe(struct ptxi_fault_report *r, enum ptxi_fault_kind kind, uint64_t address, uint32_t size,
                         enum ptxi_access access, const char *detail, struct ptxi_memmap *memmap);
/* The same for an access to memory. `area` is NULL for a global address. */
void ptxi_fault_describe_access(struct ptxi_fault_report *r, enum ptxi_fault_kind kind, uint64_t address,
                                uint32_t size, enum ptxi_access access, const struct ptxi_fault_area *area,
                                struct ptxi_memmap *memmap);

#endif
