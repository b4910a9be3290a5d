/* What the tables of cases consist of. A program is a .cu file with its .ptx variants; a case is one launch of one of its kernels, all of
 * which have the parameters (const void *in, void *out, int n). */
#ifndef PTXI_CUDA_CASES_H
#define PTXI_CUDA_CASES_H

#include "ptxi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cuda_case {
    const char *kernel;
    int n;                         /* third argument of the kernel */
    unsigned grid, block, shared;
    size_t in_bytes, out_bytes;
    void (*expect)(const void *in, void *out, int n);
    /* The rest may be left out. */
    void (*fill)(void *in, size_t bytes);                              /* default: random bits */
    bool (*same)(const void *got, const void *want, size_t bytes);     /* default: every bit */
    bool out_is_input;                                                 /* out starts as a copy of in, not as zeros */
    ptxiResult result;             /* what the launch ends with; the output is compared only after success */
    bool (*custom)(ptxiModule m);  /* runs instead of all this; says what is wrong on stderr */
    bool cooperative;
};

/* Every program NAME has NAME_cases and NAME_count in expect_NAME.c. */
#define CUDA_PROGRAMS(X) X(plain) X(clang) X(classes) X(memory) X(warps) X(atomics) X(rounding) X(maths) X(output) X(cubs) X(thrusts) X(library) X(matrices) X(async) X(dynamic) X(textures)

#define CUDA_DECLARE(name) \
    extern const struct cuda_case name##_cases[]; \
    extern const size_t name##_count;
CUDA_PROGRAMS(CUDA_DECLARE)

#define CUDA_COUNT(name) const size_t name##_count = sizeof name##_cases / sizeof name##_cases[0]

uint32_t cuda_random(void);

#endif
