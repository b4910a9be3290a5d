/* Selects one of the engine's builds: the highest level of instruction sets that the host supports. Results do not
 * depend on the level. These functions allocate nothing and cannot fail. */
#ifndef PTXI_BASE_CPU_H
#define PTXI_BASE_CPU_H

enum ptxi_cpu_level {
    PTXI_CPU_PORTABLE, /* plain C for the compiler's default target */
    PTXI_CPU_V2,       /* x86-64-v2: SSE4.2 */
    PTXI_CPU_V3,       /* x86-64-v3: AVX2, FMA, BMI2, F16C */
    PTXI_CPU_V4,       /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
    PTXI_CPU_LEVELS
};

/* The highest level that the host and its operating system support. */
enum ptxi_cpu_level ptxi_cpu_level_host(void);

/* The level to use: that of the host, or a lower one that the environment variable PTXI_CPU names (portable, v2, v3,
 * v4). An unknown name or a level above the host's is ignored. */
enum ptxi_cpu_level ptxi_cpu_level(void);

const char *ptxi_cpu_level_name(enum ptxi_cpu_level level);
int ptxi_cpu_level_parse(const char *name); /* -1 if there is no such level */

#endif
