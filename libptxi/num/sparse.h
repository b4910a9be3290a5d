/* Selects two of four elements. PTX ISA, "Data Movement and Conversion Instructions: spcompress".
 *
 * The manual leaves open which of equal elements is selected; here it is the first one. Indices are ascending. */
#ifndef PTXI_NUM_SPARSE_H
#define PTXI_NUM_SPARSE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { PTXI_SPARSE_ABS = 1, PTXI_SPARSE_MIN = 2 }; /* 0: the greatest elements */

/* A type of elements. */
struct ptxi_num_sparse_type {
    bool is_float;
    uint32_t sign; /* the sign bit; 0: it has none */
    uint32_t top;  /* of floats: the largest magnitude that is not a NaN */
};
static const struct ptxi_num_sparse_type ptxi_num_sparse_f32 = { true, 0x80000000, 0x7f800000 };

/* The higher the key, the sooner the element is selected. NaNs always are. -0 is less than 0. */
static inline int64_t ptxi_num_sparse_key(struct ptxi_num_sparse_type t, uint32_t code, unsigned how)
{
    int64_t magnitude = code & (t.sign - 1), value = magnitude; /* bits above the sign do not count */

    if (t.is_float && magnitude > t.top)
        return INT64_MAX;
    if (code & t.sign)
        value = t.is_float ? -magnitude - 1 : magnitude - t.sign;
    if (how & PTXI_SPARSE_ABS)
        value = t.is_float ? magnitude : llabs(value);
    return how & PTXI_SPARSE_MIN ? -value : value;
}

/* The indices of the two highest keys of four, ascending. */
static inline void ptxi_num_sparse_choose(const int64_t *key, unsigned *at)
{
    unsigned first = 0, second;

    for (unsigned k = 1; k < 4; k++)
        first = key[k] > key[first] ? k : first;
    second = first == 0;
    for (unsigned k = second + 1; k < 4; k++)
        second = k != first && key[k] > key[second] ? k : second;
    at[0] = first < second ? first : second;
    at[1] = first < second ? second : first;
}

/* Element n of a string of bits in registers; 2 to 32 bits wide. */
static inline uint32_t ptxi_num_sparse_get(const uint32_t *v, unsigned n, unsigned bits)
{
    return v[n * bits / 32] >> n * bits % 32 & (UINT32_MAX >> (32 - bits));
}

/* Sets an element that is 0. */
static inline void ptxi_num_sparse_set(uint32_t *v, unsigned n, unsigned bits, uint32_t value)
{
    v[n * bits / 32] |= value << n * bits % 32;
}

/* Compresses `groups` groups of four elements. */
static inline void ptxi_num_sparse_compress(struct ptxi_num_sparse_type t, unsigned how, const uint32_t *data,
                                            unsigned groups, unsigned bits, unsigned index_bits, uint32_t *meta,
                                            uint32_t *cdata)
{
    for (unsigned g = 0; g < groups; g++) {
        int64_t key[4];
        unsigned at[2];

        for (unsigned k = 0; k < 4; k++)
            key[k] = ptxi_num_sparse_key(t, ptxi_num_sparse_get(data, 4 * g + k, bits), how);
        ptxi_num_sparse_choose(key, at);
        for (unsigned k = 0; k < 2; k++) {
            ptxi_num_sparse_set(meta, 2 * g + k, index_bits, at[k]);
            ptxi_num_sparse_set(cdata, 2 * g + k, bits, ptxi_num_sparse_get(data, 4 * g + at[k], bits));
        }
    }
}

#endif
