/* PTX ISA, "Data Movement and Conversion Instructions: cvt" between integers with .sat, and cvt.pack. An 8-bit source
 * is in the low bits of a 16-bit slot. An 8-bit destination is sign-extended to its slot. */
#include "exec/engine/op_shapes.h"

/* The limits of the destination that the source can reach, as constants of the source's type. */
#define GREATER_OF(x, y) ((__int128)(x) > (__int128)(y) ? (__int128)(x) : (__int128)(y))
#define LESSER_OF(x, y) ((__int128)(x) < (__int128)(y) ? (__int128)(x) : (__int128)(y))

/* All pairs of types. The parameters are the name, the type in C, the type of the register, and the range. */
#define EACH_DESTINATION(X, ...)                                 \
    X(u8, uint8_t, uint16_t, 0, UINT8_MAX, __VA_ARGS__)          \
    X(s8, int8_t, int16_t, INT8_MIN, INT8_MAX, __VA_ARGS__)      \
    X(u16, uint16_t, uint16_t, 0, UINT16_MAX, __VA_ARGS__)       \
    X(s16, int16_t, int16_t, INT16_MIN, INT16_MAX, __VA_ARGS__)  \
    X(u32, uint32_t, uint32_t, 0, UINT32_MAX, __VA_ARGS__)       \
    X(s32, int32_t, int32_t, INT32_MIN, INT32_MAX, __VA_ARGS__)  \
    X(u64, uint64_t, uint64_t, 0, UINT64_MAX, __VA_ARGS__)       \
    X(s64, int64_t, int64_t, INT64_MIN, INT64_MAX, __VA_ARGS__)

/* x_of: converts a lane of the source to a number of the source's type */
#define CVT_SAT(dst, td, slot_d, min, max, src, ts, slot_s, least, most, x_of)      \
    OP( cvt_sat_##dst##_##src )                                                     \
    {                                                                               \
        const ts low = (ts)GREATER_OF(min, least), high = (ts)LESSER_OF(max, most); \
        const slot_s *a = PTXI_SLOT(w, i->a);                                       \
        RESULT_LANES(slot_d, r);                                                    \
                                                                                    \
        FOR_LANES {                                                                 \
            ts x = x_of(a[l]);                                                      \
                                                                                    \
            x = x > low ? x : low;                                                  \
            x = x < high ? x : high;                                                \
            r[l] = (slot_d)x;                                                       \
        }                                                                           \
        NEXT_WITH_RESULT(r);                                                        \
    }
#define AS_IT_IS(a) (a)
#define LOW_BYTE(a) ((a) & 0xff)
#define LOW_BYTE_SIGNED(a) (int16_t)((int16_t)((a) << 8) >> 8)
EACH_DESTINATION(CVT_SAT, u8, uint16_t, uint16_t, 0, UINT8_MAX, LOW_BYTE)
EACH_DESTINATION(CVT_SAT, s8, int16_t, uint16_t, INT8_MIN, INT8_MAX, LOW_BYTE_SIGNED)
EACH_DESTINATION(CVT_SAT, u16, uint16_t, uint16_t, 0, UINT16_MAX, AS_IT_IS)
EACH_DESTINATION(CVT_SAT, s16, int16_t, int16_t, INT16_MIN, INT16_MAX, AS_IT_IS)
EACH_DESTINATION(CVT_SAT, u32, uint32_t, uint32_t, 0, UINT32_MAX, AS_IT_IS)
EACH_DESTINATION(CVT_SAT, s32, int32_t, int32_t, INT32_MIN, INT32_MAX, AS_IT_IS)
EACH_DESTINATION(CVT_SAT, u64, uint64_t, uint64_t, 0, UINT64_MAX, AS_IT_IS)
EACH_DESTINATION(CVT_SAT, s64, int64_t, int64_t, INT64_MIN, INT64_MAX, AS_IT_IS)

/* --- cvt.pack: a above b, and above these the bits of c that fit --- */
#define CVT_PACK(name, bits, min, max, above)                                      \
    OP( cvt_pack_##name )                                                          \
    {                                                                              \
        const int32_t *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);            \
        RESULT_LANES(uint32_t, r);                                                 \
                                                                                   \
        FOR_LANES {                                                                \
            int32_t x = a[l] > (min) ? a[l] : (min);                               \
            int32_t y = b[l] > (min) ? b[l] : (min);                               \
            uint32_t high = (uint32_t)(x < (max) ? x : (max)) & ((1 << bits) - 1); \
            uint32_t low = (uint32_t)(y < (max) ? y : (max)) & ((1 << bits) - 1);  \
                                                                                   \
            r[l] = (above) | high << bits | low;                                   \
        }                                                                          \
        NEXT_WITH_RESULT(r);                                                       \
    }
CVT_PACK(u16, 16, 0, UINT16_MAX, 0)
CVT_PACK(s16, 16, INT16_MIN, INT16_MAX, 0)
#define ABOVE(bits) ((const uint32_t *)PTXI_SLOT(w, i->c))[l] << 2 * (bits)
CVT_PACK(u8, 8, 0, UINT8_MAX, ABOVE(8))
CVT_PACK(s8, 8, INT8_MIN, INT8_MAX, ABOVE(8))
CVT_PACK(u4, 4, 0, 15, ABOVE(4))
CVT_PACK(s4, 4, -8, 7, ABOVE(4))
CVT_PACK(u2, 2, 0, 3, ABOVE(2))
CVT_PACK(s2, 2, -2, 1, ABOVE(2))
