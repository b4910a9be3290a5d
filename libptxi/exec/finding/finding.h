/* Findings: what the sanitizers have found, and the collection of a context.
 *
 * A checker makes a struct ptxi_finding, which is small and refers to code, and adds it to the collection of its launch
 * (grid->findings). Findings of the same kind and severity at the same instructions are one entry with a count. The
 * first one fills in the entry: places are resolved to lines and copied, because code is freed with its module. */
#ifndef PTXI_EXEC_FINDING_FINDING_H
#define PTXI_EXEC_FINDING_FINDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/engine/fault_report.h"
#include "isa/bytecode.h"

/* In the order of the bits of ptxiSanitizer. */
enum ptxi_tool { PTXI_TOOL_MEMORY, PTXI_TOOL_RACE, PTXI_TOOL_INIT, PTXI_TOOL_SYNC, PTXI_TOOL_API,
                 PTXI_TOOLS };

/* In the order of severity. A benign finding does no harm: both threads write the same value. */
enum ptxi_finding_severity { PTXI_FINDING_BENIGN, PTXI_FINDING_WARNING, PTXI_FINDING_ERROR, PTXI_FINDING_SEVERITIES };

enum ptxi_finding_kind {
#define FINDING(id, tool, severity, rule, text) PTXI_FINDING_##id,
#include "exec/finding/finding.def"
#undef FINDING
    PTXI_FINDING_KINDS
};

struct ptxi_finding_kind_info {
    enum ptxi_tool tool;
    enum ptxi_finding_severity severity;
    const char *rule, *text;
};
extern const struct ptxi_finding_kind_info ptxi_finding_kinds[PTXI_FINDING_KINDS];
extern const char *const ptxi_tool_names[PTXI_TOOLS];
extern const char *const ptxi_finding_severity_names[PTXI_FINDING_SEVERITIES];

enum ptxi_finding_space { PTXI_FINDING_NO_SPACE, PTXI_FINDING_GLOBAL, PTXI_FINDING_SHARED, PTXI_FINDING_LOCAL,
                          PTXI_FINDING_REGISTER, PTXI_FINDING_CONST, PTXI_FINDING_PARAM, PTXI_FINDING_SURFACE,
                          PTXI_FINDING_TENSOR };

/* One side of a finding: a thread at an instruction. */
struct ptxi_finding_site {
    const struct ptxi_code *code; /* NULL: not known */
    uint32_t at;                  /* index of an instruction of `code` */
    enum ptxi_access access;
    uint32_t ctaid[3], tid[3];
    uint32_t threads;             /* number of lanes, at least 1 */
    bool has_value;
    uint64_t value;               /* that was written or read, up to 8 bytes */
    const char *what;             /* if it is no thread: what has made the access; constant. Else NULL */
};

/* The site where ptxi_fault_locate() has found some lanes, or where a launch has failed. */
struct ptxi_finding_site ptxi_finding_site_at(const struct ptxi_fault_report *where);

enum { PTXI_FINDING_SITES = 2 };

/* The error of a call of the program. The site says `what` was called. Calls with the same number and the same id are
 * the same finding. */
struct ptxi_finding_error {
    int number;                   /* 0: the finding is not about a call */
    uint64_t id;                  /* of the function and of the code that called it */
    const char *name, *text;      /* such as "cudaErrorInvalidValue", and what it means */
    const void *stack;            /* of the call, for api/observe; NULL: not known */
    size_t stack_size;            /* bytes */
};

struct ptxi_finding {
    enum ptxi_finding_kind kind;
    enum ptxi_finding_severity severity;
    unsigned site_count;          /* sites[0] is the later one */
    struct ptxi_finding_site sites[PTXI_FINDING_SITES];
    enum ptxi_finding_space space;
    uint64_t address;             /* global: an address; shared, local: an offset in that of the thread of sites[0];
                                   * tensor: lane and column, as in PTX */
    uint32_t size;                /* bytes of the access; 0: none */
    uint64_t object, object_size; /* the allocation or variable that the address belongs to or is nearest to; size 0:
                                   * not known */
    bool object_freed;
    const char *name;             /* of the variable, or NULL */
    const char *detail;           /* what else to say, or NULL; one line */
    struct ptxi_finding_error error;
    uint64_t repeated;            /* number of further findings that are the same */
};

/* A finding that is in a collection. Strings belong to the collection, and are NULL if they are not known. */
struct ptxi_found_site {
    struct ptxi_finding_site site; /* its code is NULL */
    const char *function, *ptx_file, *ptx_text; /* ptx_text: the line, without indentation */
    uint32_t ptx_line, ptx_column;
    const char *source_file;
    uint32_t source_line;
};

struct ptxi_found {
    struct ptxi_finding finding;  /* what it points to belongs to the collection */
    struct ptxi_found_site sites[PTXI_FINDING_SITES];
    const char *kernel;           /* NULL: no launch */
    uint64_t launch;              /* number of the launch, from 1; 0: none */
    _Atomic uint64_t count;       /* number of findings that were the same */
    uint64_t written;             /* the count when a report was written; 0: none so far */
};

/* Resolves the place of a site. Called under the collection's lock. The strings must be valid until its next call. */
typedef void ptxi_finding_resolve(const struct ptxi_code *code, uint32_t at, struct ptxi_found_site *site);

struct ptxi_findings;

/* What has been checked. */
struct ptxi_check_totals {
    uint64_t launches;   /* that were checked */
    uint64_t accesses;   /* of warps */
    uint64_t unchecked;  /* accesses and launches that were not checked though a tool was on */
    uint64_t found[PTXI_TOOLS][PTXI_FINDING_SEVERITIES]; /* distinct findings */
    uint64_t dropped;    /* distinct findings, or findings without memory for them, that are not in the collection */
    uint64_t suppressed; /* findings that a rule has removed */
};

enum { PTXI_MAX_FINDINGS = 1000 }; /* entries of a collection */

struct ptxi_findings *ptxi_findings_create(ptxi_finding_resolve *resolve); /* NULL: memory is short */
void ptxi_findings_destroy(struct ptxi_findings *f);                       /* NULL does nothing */

/* Called under the lock. `wanted`: for each finding; false drops it. `suppress`: for each new entry; true drops the
 * entry and its findings. What is dropped is counted as suppressed. Both may be NULL. */
struct ptxi_finding_filter {
    bool (*wanted)(void *user, const struct ptxi_finding *finding, const char *kernel, uint64_t launch);
    bool (*suppress)(void *user, const struct ptxi_found *found);
    void *user;
};
void ptxi_findings_set_filter(struct ptxi_findings *f, const struct ptxi_finding_filter *filter);

/* Adds a finding of a launch. Any thread, at any time; takes a lock. */
void ptxi_findings_add(struct ptxi_findings *f, const struct ptxi_finding *finding, const char *kernel,
                       uint64_t launch);
/* Counts what a launch has checked. */
void ptxi_findings_count(struct ptxi_findings *f, uint64_t launches, uint64_t accesses, uint64_t unchecked);

void ptxi_findings_totals(struct ptxi_findings *f, struct ptxi_check_totals *totals);
/* While a thread holds the collection, it is not cleared. Findings can be added. */
void ptxi_findings_hold(struct ptxi_findings *f);
void ptxi_findings_release(struct ptxi_findings *f);
/* Entry number `index`, in the order of discovery, which does not change but for its count and `written`. It lives
 * until the collection is cleared. NULL: there is none. */
struct ptxi_found *ptxi_findings_at(struct ptxi_findings *f, size_t index);
/* Marks the entry as written, unless it is. True if it was not. */
bool ptxi_findings_take(struct ptxi_findings *f, struct ptxi_found *found);
void ptxi_findings_clear(struct ptxi_findings *f);

#endif
