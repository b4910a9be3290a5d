#include "cases.h"

enum { SIDE = 64, PRODUCTS = 3, WARPS = 4, BLOCKS = 2 };

static void transposed(const void *in, void *out, int n)
{
    const uint16_t *from = in;
    uint16_t *to = out;

    for (int w = 0; w < WARPS * BLOCKS; w++)
        for (int i = 0; i < n; i++)
            to[w * 256 + i] = from[w * 256 + i % 16 * 16 + i / 16];
}

/* Fills the input with small integers in half precision. */
static void fill_halves(void *in, size_t bytes)
{
    static const uint16_t halves[] = { 0, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4200, 0xc200, 0x8000 };

    for (size_t i = 0; i < bytes / 2; i++)
        ((uint16_t *)in)[i] = halves[cuda_random() % 8];
}

static int number(uint16_t half)
{
    int magnitude = (half & 0x7fff) == 0 ? 0 : (half & 0x7fff) == 0x3c00 ? 1 : (half & 0x7fff) == 0x4000 ? 2 : 3;

    return half >> 15 ? -magnitude : magnitude;
}

static void product(const void *in, void *out, int n)
{
    float *d = out;

    for (int p = 0; p < PRODUCTS; p++) {
        const uint16_t *a = (const uint16_t *)in + p * 2 * SIDE * SIDE, *b = a + SIDE * SIDE;

        for (int row = 0; row < SIDE; row++)
            for (int column = 0; column < SIDE; column++) {
                int sum = 0;

                for (int k = 0; k < n; k++)
                    sum += number(a[row * SIDE + k]) * number(b[column * SIDE + k]);
                *d++ = (float)sum;
            }
    }
}

const struct cuda_case matrices_cases[] = {
    { "transposed", 256, BLOCKS, WARPS * 32, 0, WARPS *BLOCKS * 512, WARPS *BLOCKS * 512, transposed, .fill = NULL },
    { "product", 64, PRODUCTS, 128, 0, PRODUCTS * 2 * SIDE *SIDE * 2, PRODUCTS *SIDE *SIDE * 4, product,
      .fill = fill_halves },
    { "product", 16, PRODUCTS, 128, 0, PRODUCTS * 2 * SIDE *SIDE * 2, PRODUCTS *SIDE *SIDE * 4, product,
      .fill = fill_halves },
};
CUDA_COUNT(matrices);
