/* The imm field of video operations (video.def): selectors, types and qualifiers of the form. */
#ifndef PTXI_ISA_VIDEO_H
#define PTXI_ISA_VIDEO_H

/* The part of a 32-bit register that a scalar operation reads or writes. */
enum ptxi_video_part { PTXI_PART_WORD, PTXI_PART_B0, PTXI_PART_B1, PTXI_PART_B2, PTXI_PART_B3, PTXI_PART_H0,
                      PTXI_PART_H1 };

enum {
    /* Scalar operations: the parts of a, b and d, as shift counts, and the mask of each. */
    PTXI_VIDEO_PART_A = 0,
    PTXI_VIDEO_PART_B = 3,
    PTXI_VIDEO_PART_D = 6,
    PTXI_VIDEO_PART_MASK = 7,
    /* SIMD operations: shift of the mask of the elements that are written or added. The compiler permutes the
     * sources. */
    PTXI_VIDEO_ELEMENTS = 0,
    /* Types. In vset the type of d is that of a. */
    PTXI_VIDEO_SIGNED_A = 1 << 9,
    PTXI_VIDEO_SIGNED_B = 1 << 10,
    PTXI_VIDEO_SIGNED_D = 1 << 11,
    /* The second operation, one of these. PTXI_VIDEO_ADD is also .add of a SIMD operation. */
    PTXI_VIDEO_ADD = 1 << 12,
    PTXI_VIDEO_MIN = 1 << 13,
    PTXI_VIDEO_MAX = 1 << 14,
    /* vset: any of these results of the comparison gives true. */
    PTXI_VIDEO_LESS = 1 << 15,
    PTXI_VIDEO_EQUAL = 1 << 16,
    PTXI_VIDEO_GREATER = 1 << 17,
    /* vmad. */
    PTXI_VIDEO_SHR7 = 1 << 18,
    PTXI_VIDEO_SHR15 = 1 << 19,
    PTXI_VIDEO_PLUS_ONE = 1 << 20,
    PTXI_VIDEO_MINUS_PRODUCT = 1 << 21,
    PTXI_VIDEO_MINUS_C = 1 << 22
};

#endif
