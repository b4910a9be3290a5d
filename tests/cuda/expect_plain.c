/* Expected results of plain.h. The host's compiler compiles the same functions. */
#include "cases.h"

#include "plain.h"

enum { THREADS = 1000 };   /* four blocks of 256 threads; the last one is partial */

#define EXPECT(name, ins, outs) \
    static void name##_expect(const void *in, void *out, int n) \
    { \
        for (int t = 0; t < n; t++) \
            name##_one((const uint32_t *)in + t * ins, (uint64_t *)out + t * outs); \
    }
PLAIN(EXPECT)

#define CASE(name, ins, outs)          \
    { .kernel = #name,                 \
      .n = THREADS,                    \
      .grid = 4,                       \
      .block = 256,                    \
      .in_bytes = THREADS * ins * 4,   \
      .out_bytes = THREADS * outs * 8, \
      .expect = name##_expect },
const struct cuda_case plain_cases[] = { PLAIN(CASE) };
CUDA_COUNT(plain);
const struct cuda_case clang_cases[] = { PLAIN_COMMON(CASE) };
CUDA_COUNT(clang);
