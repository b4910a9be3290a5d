/* Conversions of integral floats to s64 and u64. cvt_to_int.c includes this file for each source type, with these
 * parameters:
 *
 *     FROM        name of the source type: f32 or f64
 *     FROM_TYPE   the type in C */

#define B64_PASTE_(a, b) a##b
#define B64_PASTE(a, b) B64_PASTE_(a, b)
#define B64_(name) B64_PASTE(name, FROM)

/* Any value, in two halves. Results for values below `min` are `low`, from `beyond` on they are `high`. */
OUT_OF_LINE void B64_(any_b64_of_)(uint64_t *restrict r, const FROM_TYPE *restrict a, double min, double beyond,
                                   uint64_t low, uint64_t high)
{
    FOR_LANES {
        double x = (double)a[l], upper = __builtin_floor(x * 0x1p-32);
        uint64_t b = integral_bits(upper) << 32 | (integral_bits(x - upper * 0x1p32) & 0xffffffff);

        b = x < min ? low : b;
        b = x < beyond ? b : high;
        r[l] = x == x ? b : (uint64_t)1 << 63;
    }
}

OUT_OF_LINE void B64_(s64_of_)(uint64_t *restrict r, const FROM_TYPE *restrict a)
{
    if (__builtin_expect(B64_(ptxi_any_beyond_)(a, SMALL_S64), 0))
        B64_(any_b64_of_)(r, a, -0x1p63, 0x1p63, (uint64_t)INT64_MIN, INT64_MAX);
    else
        FOR_LANES r[l] = S64_OF_SMALL((double)a[l]);
}

OUT_OF_LINE void B64_(any_u64_of_)(uint64_t *restrict r, const FROM_TYPE *restrict a)
{
    LANE_ARRAY(FROM_TYPE, x);

    B64_(ptxi_clamp_)(x, a, 0, SMALL_U64);
    if (__builtin_expect(B64_(ptxi_any_beyond_)(x, SMALL_U64) || B64_(ptxi_any_nan_)(a), 0))
        B64_(any_b64_of_)(r, a, 0.0, 0x1p64, 0, UINT64_MAX);
    else
        FOR_LANES r[l] = U64_OF_SMALL((double)x[l]);
}

OUT_OF_LINE void B64_(u64_of_)(uint64_t *restrict r, const FROM_TYPE *restrict a)
{
    if (__builtin_expect(B64_(ptxi_any_outside_)(a, SMALL_U64), 0))
        B64_(any_u64_of_)(r, a);
    else
        FOR_LANES r[l] = U64_OF_SMALL((double)a[l]);
}

#undef FROM
#undef FROM_TYPE
#undef B64_PASTE_
#undef B64_PASTE
#undef B64_
