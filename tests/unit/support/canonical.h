/* Positions of matrix elements in shared memory, in bytes. PTX ISA, "Canonical Layouts". */
#ifndef PTXI_TESTS_CANONICAL_H
#define PTXI_TESTS_CANONICAL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct layout {
    unsigned swizzle, leading, stride, start, base;
};

/* Offset of element (line, k). `mn_major` means M or N major. */
static unsigned place(const struct layout *x, bool mn_major, unsigned bits, unsigned line, unsigned k)
{
    static const unsigned factors[] = { 1, 8, 4, 2 };
    unsigned f = factors[x->swizzle], t = 128 / bits, at;

    if (mn_major && f == 1) /* ((T,1,m),(8,k)) : ((1,T,SBO),(1T,LBO)) */
        at = line % t * (bits / 8) + line / t * x->stride + k % 8 * 16 + k / 8 * x->leading;
    else if (mn_major) /* ((T,f,m),(8,k)) : ((1,T,LBO),(fT,SBO)) */
        at = line % t * (bits / 8) + line / t % f * 16 + line / t / f * x->leading + k % 8 * (16 * f) +
            k / 8 * x->stride;
    else if (f == 1) /* ((8,m),(T,2k)) : ((1T,SBO),(1,LBO)) */
        at = line % 8 * 16 + line / 8 * x->stride + k % t * bits / 8 + k / t * x->leading;
    else /* ((8,m),(T,2k)) : ((fT,SBO),(1,T)) */
        at = line % 8 * (16 * f) + line / 8 * x->stride + k * bits / 8;
    at += x->start;
    return at ^ (at >> 7 & (f - 1)) << 4; /* Swizzle<log2 f, 4, 3> */
}

static uint64_t descriptor(const struct layout *x, unsigned at)
{
    return (uint64_t)((x->start + at) >> 4) | (uint64_t)(x->leading >> 4) << 16 | (uint64_t)(x->stride >> 4) << 32 |
        (uint64_t)x->base << 49 |
           (uint64_t)x->swizzle << 62;
}

static void put_element(unsigned char *image, const struct layout *x, bool mn_major, unsigned bits, unsigned line,
                        unsigned k, uint32_t code)
{
    unsigned at = place(x, mn_major, bits, line, bits == 1 ? k / 8 * 8 : k);

    if (bits == 1)
        image[at] = (unsigned char)((image[at] & ~(1u << k % 8)) | code << k % 8);
    else
        memcpy(image + at, &code, bits / 8);
}

#endif
