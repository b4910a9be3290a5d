/* Properties of a device: one row of profile.def. */
#ifndef PTXI_API_CONTEXT_PROFILE_H
#define PTXI_API_CONTEXT_PROFILE_H

#include "ptxi.h"

#include <stdbool.h>

struct ptxi_profile {
    const char *name; /* "sm_90" */
    unsigned sm;      /* 90 */
    const char *card;
    unsigned multiprocessors;
    unsigned threads, blocks, regs, shared;     /* per multiprocessor; shared in bytes */
    unsigned block_regs, block_shared;           /* maximum of a block */
    unsigned reserved;                           /* bytes of shared memory that the system takes in each block */
    unsigned l2;                                 /* bytes */
    unsigned clock, memory_clock;                /* kHz */
    unsigned bus, fp64_ratio;
    unsigned integrated;                         /* 1: shares its memory with the host */
};

enum {
    PTXI_DEFAULT_SHARED = 48 << 10, /* bytes of dynamic shared memory that need no attribute */
    PTXI_MAX_CTA_Z = 64,            /* blockDimZ */
    PTXI_MAX_GRID_YZ = 65535        /* gridDimY, gridDimZ */
};

const struct ptxi_profile *ptxi_profile_default(void);               /* sm_90 */
/* Finds a profile by a name with or without a suffix a or f. NULL: unknown. */
const struct ptxi_profile *ptxi_profile_find(const char *name);
const struct ptxi_profile *ptxi_profile_at(unsigned index);          /* NULL past the last */
/* The profile of exactly this number, or the closest older one that has a row. */
const struct ptxi_profile *ptxi_profile_for_sm(unsigned sm);

/* False: no such attribute. */
bool ptxi_profile_attribute(const struct ptxi_profile *p, int attribute, int *value);

#endif
