/* A hint to the processor that the thread spins. */
#ifndef PTXI_BASE_PAUSE_H
#define PTXI_BASE_PAUSE_H

static inline void ptxi_pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
