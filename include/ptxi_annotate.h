/* Annotations for the checks of libptxi (doc/reference/checking.md), in device code.
 *
 * Define PTXI_ANNOTATE when you compile a program for libptxi. Without it the annotations are empty. With it a GPU's
 * assembler ignores them, with a warning about each.
 *
 * PTXI_INTENDED_RACE(statement): accesses to memory of the statement race on purpose, and are not checked for races.
 * Only accesses that the compiler leaves between two pragmas are meant, so the statement should contain no loops, and
 * no calls that are not inlined. Do not annotate locks and flags: the checks learn from them what is ordered.
 *
 *     PTXI_INTENDED_RACE(best[i] = candidate);
 */
#ifndef PTXI_ANNOTATE_H
#define PTXI_ANNOTATE_H

#if defined PTXI_ANNOTATE && defined __CUDA_ARCH__
#define PTXI_INTENDED_RACE(statement)                                        \
    do {                                                                     \
        asm volatile(".pragma \"ptxi.intended_race.begin\";" ::: "memory"); \
        statement;                                                           \
        asm volatile(".pragma \"ptxi.intended_race.end\";" ::: "memory");   \
    } while (0)
#else
#define PTXI_INTENDED_RACE(statement) do { statement; } while (0)
#endif

#endif
