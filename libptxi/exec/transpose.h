/* Rows and columns exchanged, in vector registers. */
#ifndef PTXI_EXEC_TRANSPOSE_H
#define PTXI_EXEC_TRANSPOSE_H

#include <stdint.h>

typedef uint16_t row16 __attribute__((vector_size(16)));
typedef uint32_t row32 __attribute__((vector_size(16)));

#define LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)

/* 8x8: rows k and k + 4 side by side, three times. */
static inline void transpose_16(row16 *to, const row16 *from)
{
    row16 a[8], b[8];

    for (int k = 0; k < 4; k++) {
        a[2 * k] = LOW(from[k], from[k + 4]);
        a[2 * k + 1] = HIGH(from[k], from[k + 4]);
    }
    for (int k = 0; k < 4; k++) {
        b[2 * k] = LOW(a[k], a[k + 4]);
        b[2 * k + 1] = HIGH(a[k], a[k + 4]);
    }
    for (int k = 0; k < 4; k++) {
        to[2 * k] = LOW(b[k], b[k + 4]);
        to[2 * k + 1] = HIGH(b[k], b[k + 4]);
    }
}
#undef LOW
#undef HIGH

/* 4x4; rows of the source and of the result are so many vectors apart. */
static inline void transpose_32(row32 *to, int to_step, const row32 *from, int from_step)
{
    row32 a = __builtin_shufflevector(from[0], from[from_step], 0, 4, 1, 5), b = __builtin_shufflevector(from[0], from[from_step], 2, 6, 3, 7);
    row32 c = __builtin_shufflevector(from[2 * from_step], from[3 * from_step], 0, 4, 1, 5);
    row32 d = __builtin_shufflevector(from[2 * from_step], from[3 * from_step], 2, 6, 3, 7);

    to[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    to[to_step] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    to[2 * to_step] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    to[3 * to_step] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

#endif
