/* Which of the engine's builds this host can run. Results do not depend on the choice. */
#ifndef PTXI_BASE_CPU_H
#define PTXI_BASE_CPU_H

enum ptxi_cpu_level {
    PTXI_CPU_PORTABLE, /* plain C for whatever the compiler targets */
    PTXI_CPU_V2,       /* x86-64-v2: SSE4.2 */
    PTXI_CPU_V3,       /* x86-64-v3: AVX2, FMA, BMI2, F16C */
    PTXI_CPU_V4,       /* x86-64-v4: AVX-512 F, BW, CD, DQ, VL */
    PTXI_CPU_LEVELS
};

/* The best level this host and its operating system support. */
enum ptxi_cpu_level ptxi_cpu_level_host(void);

/* The level to use: the host's, or the lower one that the environment variable PTXI_CPU names
 * (portable, v2, v3, v4). A level that the host lacks, or an unknown name, leaves the host's. */
enum ptxi_cpu_level ptxi_cpu_level(void);

const char *ptxi_cpu_level_name(enum ptxi_cpu_level level);
int ptxi_cpu_level_parse(const char *name); /* -1: no such level */

#endif
