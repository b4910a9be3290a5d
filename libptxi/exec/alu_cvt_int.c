/* PTX ISA, "Data Movement and Conversion Instructions: cvt" between integers, with .sat. An 8-bit source is in the low bits of a
 * 16-bit slot; an 8-bit destination fills one, extended by its sign. */
#include "exec/lanes.h"

/* The part of a destination's range that the source can reach, as a constant of the source's type. */
#define GREATER(x, y) ((__int128)(x) > (__int128)(y) ? (__int128)(x) : (__int128)(y))
#define LESSER(x, y) ((__int128)(x) < (__int128)(y) ? (__int128)(x) : (__int128)(y))

/* All pairs of types: name, type of C, type of the register, range. */
#define EACH_DESTINATION(X, ...)                                 \
    X(u8, uint8_t, uint16_t, 0, UINT8_MAX, __VA_ARGS__)          \
    X(s8, int8_t, int16_t, INT8_MIN, INT8_MAX, __VA_ARGS__)      \
    X(u16, uint16_t, uint16_t, 0, UINT16_MAX, __VA_ARGS__)       \
    X(s16, int16_t, int16_t, INT16_MIN, INT16_MAX, __VA_ARGS__)  \
    X(u32, uint32_t, uint32_t, 0, UINT32_MAX, __VA_ARGS__)       \
    X(s32, int32_t, int32_t, INT32_MIN, INT32_MAX, __VA_ARGS__)  \
    X(u64, uint64_t, uint64_t, 0, UINT64_MAX, __VA_ARGS__)       \
    X(s64, int64_t, int64_t, INT64_MIN, INT64_MAX, __VA_ARGS__)

#define CVT_SAT(dst, td, slot_d, min, max, src, ts, slot_s, least, most)            \
    OP( cvt_sat_##dst##_##src )                                                     \
    {                                                                               \
        const ts low = (ts)GREATER(min, least), high = (ts)LESSER(max, most);       \
        const slot_s *a = PTXI_SLOT(w, i->a);                                       \
        RESULT_LANES(slot_d, r);                                                    \
                                                                                    \
        FOR_LANES {                                                                 \
            ts x = (ts)a[l];                                                        \
                                                                                    \
            x = x > low ? x : low;                                                  \
            x = x < high ? x : high;                                                \
            r[l] = (slot_d)x;                                                       \
        }                                                                           \
        NEXT_WITH_RESULT(r);                                                        \
    }
EACH_DESTINATION(CVT_SAT, u8, uint8_t, uint16_t, 0, UINT8_MAX)
EACH_DESTINATION(CVT_SAT, s8, int8_t, uint16_t, INT8_MIN, INT8_MAX)
EACH_DESTINATION(CVT_SAT, u16, uint16_t, uint16_t, 0, UINT16_MAX)
EACH_DESTINATION(CVT_SAT, s16, int16_t, int16_t, INT16_MIN, INT16_MAX)
EACH_DESTINATION(CVT_SAT, u32, uint32_t, uint32_t, 0, UINT32_MAX)
EACH_DESTINATION(CVT_SAT, s32, int32_t, int32_t, INT32_MIN, INT32_MAX)
EACH_DESTINATION(CVT_SAT, u64, uint64_t, uint64_t, 0, UINT64_MAX)
EACH_DESTINATION(CVT_SAT, s64, int64_t, int64_t, INT64_MIN, INT64_MAX)
