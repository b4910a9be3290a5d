#include "num/texture.h"

#include <math.h>

/* Levels are found with numbers of 10 bits: the first one is 1, the others are cut. */
struct rough {
    uint32_t mantissa; /* 512 to 1023, or 0 */
    int exponent;
};

static struct rough cut(uint32_t mantissa, int exponent)
{
    int more = mantissa ? 22 - __builtin_clz(mantissa) : 0;

    if (!mantissa)
        return (struct rough){ 0, 0 };
    return (struct rough){ more > 0 ? mantissa >> more : mantissa << -more, exponent + more };
}

/* The magnitude; NaN and subnormals count as 0. */
static struct rough rough_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= 0x7fffffff;
    if (bits < 0x00800000 || bits > 0x7f800000)
        return (struct rough){ 0, 0 };
    return (struct rough){ (bits >> 14 & 511) | 512, (int)(bits >> 23) - 127 - 9 };
}

static bool is_less(struct rough a, struct rough b)
{
    return !a.mantissa || !b.mantissa ? b.mantissa != 0 && !a.mantissa : a.exponent != b.exponent ? a.exponent < b.exponent : a.mantissa < b.mantissa;
}

static struct rough greater(struct rough a, struct rough b)
{
    return is_less(a, b) ? b : a;
}

/* The partial products lack their 6 lowest bits, for which a constant stands. */
static struct rough times_size(struct rough a, uint32_t size)
{
    struct rough s = cut(size, 0);
    uint32_t product = 7 << 6;

    if (!a.mantissa)
        return a;
    for (unsigned k = 0; k < 10; k++)
        if (s.mantissa >> k & 1)
            product += a.mantissa << k & ~63u;
    return cut(product, a.exponent + s.exponent);
}

static struct rough times(struct rough a, uint32_t mantissa, int exponent)
{
    return a.mantissa ? cut(a.mantissa * mantissa + 256, a.exponent + exponent) : a;
}

/* |a + b| if the signs are equal, |a - b| if not. */
static struct rough sum(struct rough a, struct rough b, bool differ)
{
    struct rough more = greater(a, b), less = is_less(a, b) ? a : b;
    int down = more.exponent - less.exponent;
    uint32_t m = more.mantissa << 1, l = less.mantissa && down < 31 ? less.mantissa << 1 >> down : 0;

    if (!l && !differ)
        return more;
    return differ ? cut(m - l, more.exponent - 1) : cut((m >> 1) + (l >> 1), more.exponent);
}

/* Of a vector: the greatest coordinate, 11/32 of the next one and 1/4 of the third. Of the sum or difference of two, 11/16 of that: as long is
 * the ellipse that they span, seen from between them. */
static struct rough length(const struct rough v[3], bool between)
{
    struct rough more = greater(v[0], v[1]), less = is_less(v[0], v[1]) ? v[0] : v[1];
    struct rough first = greater(more, v[2]), rest = is_less(more, v[2]) ? more : v[2];
    struct rough second = greater(less, rest), third = is_less(less, rest) ? less : rest;

    if (between)
        return sum(times(first, 704, -10), sum(times(second, 968, -12), times(third, 704, -12), false), false);
    third.exponent -= 2;
    return sum(first, sum(times(second, 704, -11), third, false), false);
}

/* 256ths of the logarithm to base 2 of 1, 1 + 1/256, ... */
static const uint8_t logarithms[256] = {
    0, 2, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 22, 23, 24, 26, 27, 28, 30, 31, 32, 34, 35, 36, 38, 39, 40, 42, 43,
    44, 45, 47, 48, 49, 50, 52, 53, 54, 55, 57, 58, 59, 60, 62, 63, 64, 65, 66, 68, 69, 70, 71, 72, 74, 75, 76, 77, 78, 79, 81, 82,
    83, 84, 85, 86, 88, 89, 90, 91, 92, 93, 94, 95, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 109, 110, 111, 112, 113, 114, 115, 116, 117,
    118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 135, 136, 137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149,
    150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 173, 174, 175, 176, 177, 178, 179,
    180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193, 194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 205, 206,
    207, 208, 209, 210, 210, 211, 212, 213, 214, 214, 215, 216, 217, 218, 218, 219, 220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229, 229, 230, 231, 232,
    233, 233, 234, 235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245, 246, 247, 248, 248, 249, 250, 251, 251, 252, 253, 253, 254, 255, 255,
};

int32_t ptxi_texture_level(const struct ptxi_steps *s, const uint32_t sizes[3])
{
    struct rough v[2][3], both[3], longest;

    for (unsigned way = 0; way < 2; way++)
        for (unsigned d = 0; d < 3; d++)
            v[way][d] = times_size(sum(rough_of(s->v[way][d]), rough_of(s->beyond[way][d]), false), sizes[d]);
    longest = greater(length(v[0], false), length(v[1], false));
    for (unsigned minus = 0; minus < 2 && !s->over_an_edge; minus++) {
        for (unsigned d = 0; d < 3; d++)
            both[d] = sum(v[0][d], v[1][d], (signbit(s->v[0][d]) != signbit(s->v[1][d])) ^ minus);
        longest = greater(longest, length(both, true));
    }
    return longest.mantissa ? (longest.exponent + 9) * 256 + logarithms[longest.mantissa >> 1 & 255] : INT16_MIN;
}
