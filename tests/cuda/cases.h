/* Test cases of the CUDA programs. A program is a .cu file with its .ptx variants. A case is one launch of one kernel.
 * All kernels have the parameters (const void *in, void *out, int n). */
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
    /* The remaining fields are optional. */
    void (*fill)(void *in, size_t bytes);                              /* default: random bits */
    bool (*same)(const void *got, const void *want, size_t bytes);     /* default: all bits must be equal */
    bool out_is_input;                                                 /* out is initialized from in, not with zeros */
    ptxiResult result;             /* expected result of the launch; output is compared only on success */
    bool (*custom)(ptxiModule m);  /* replaces all of the above; prints errors to stderr */
    bool cooperative;
};

/* For each program NAME, expect_NAME.c defines NAME_cases and NAME_count. */
#define CUDA_PROGRAMS(X)                                                                                           \
    X(plain)                                                                                                       \
    X(clang) X(classes) X(memory) X(warps) X(atomics) X(rounding) X(maths) X(output) X(cubs) X(thrusts) X(library) \
        X(matrices) X(async) X(dynamic) X(textures) X(blackwell) X(blockscale)

#define CUDA_DECLARE(name) \
    extern const struct cuda_case name##_cases[]; \
    extern const size_t name##_count;
CUDA_PROGRAMS(CUDA_DECLARE)

#define CUDA_COUNT(name) const size_t name##_count = sizeof name##_cases / sizeof name##_cases[0]

uint32_t cuda_random(void);

#endif
