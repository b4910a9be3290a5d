#include "base/cpu.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_name[PTXI_CPU_LEVELS] = { "portable", "v2", "v3", "v4" };

#if defined __x86_64__

/* Reads CPUID directly, because __builtin_cpu_supports of clang 14 does not have lzcnt, movbe and f16c. */
#include <cpuid.h>

#define BIT(n) (1u << (n))

enum {
    L1C_V2 = BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23), /* sse3 ssse3 cx16 sse4.1 sse4.2 popcnt */
    L1C_V3 = BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29),         /* fma movbe osxsave avx f16c */
    L7B_V3 = BIT(3) | BIT(5) | BIT(8),                                /* bmi1 avx2 bmi2 */
    EXTC_V2 = BIT(0),                                                 /* lahf */
    EXTC_V3 = BIT(5),                                                 /* lzcnt */
    XCR0_YMM = 0x06,                                                  /* the system saves xmm and ymm registers */
    XCR0_ZMM = 0xe6,                                                  /* the system also saves mask and zmm registers */
};
#define L7B_V4 (BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)) /* avx512 f dq cd bw vl */

static uint32_t saved_state(void)
{
    uint32_t lo, hi;

    __asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return lo;
}

enum ptxi_cpu_level ptxi_cpu_level_host(void)
{
    unsigned a, b, c, d, leaf1c = 0, leaf7b = 0, extc = 0;

    if (__get_cpuid(1, &a, &b, &c, &d))
        leaf1c = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
        leaf7b = b;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        extc = c;
    if ((leaf1c & L1C_V2) != L1C_V2 || (extc & EXTC_V2) != EXTC_V2)
        return PTXI_CPU_PORTABLE;
    if ((leaf1c & L1C_V3) != L1C_V3 || (leaf7b & L7B_V3) != L7B_V3 || (extc & EXTC_V3) != EXTC_V3)
        return PTXI_CPU_V2;

    uint32_t state = saved_state();

    if ((state & XCR0_YMM) != XCR0_YMM)
        return PTXI_CPU_V2;
    if ((leaf7b & L7B_V4) != L7B_V4 || (state & XCR0_ZMM) != XCR0_ZMM)
        return PTXI_CPU_V3;
    return PTXI_CPU_V4;
}

#else

enum ptxi_cpu_level ptxi_cpu_level_host(void)
{
    return PTXI_CPU_PORTABLE;
}

#endif

enum ptxi_cpu_level ptxi_cpu_level(void)
{
    enum ptxi_cpu_level host = ptxi_cpu_level_host();
    const char *want = getenv("PTXI_CPU");
    int level = want ? ptxi_cpu_level_parse(want) : -1;

    return level >= 0 && level < (int)host ? (enum ptxi_cpu_level)level : host;
}

const char *ptxi_cpu_level_name(enum ptxi_cpu_level level)
{
    assert(level < PTXI_CPU_LEVELS);
    return level_name[level];
}

int ptxi_cpu_level_parse(const char *name)
{
    for (int i = 0; i < PTXI_CPU_LEVELS; i++)
        if (!strcmp(name, level_name[i]))
            return i;
    return -1;
}
