/* What the video operations (video.def) find in imm: selectors, types and qualifiers of one form. */
#ifndef PTXI_ISA_VIDEO_H
#define PTXI_ISA_VIDEO_H

/* The part of a 32-bit register that a scalar operation reads or writes. */
enum ptxi_video_part { PTXI_PART_WORD, PTXI_PART_B0, PTXI_PART_B1, PTXI_PART_B2, PTXI_PART_B3, PTXI_PART_H0, PTXI_PART_H1 };

enum {
    /* Scalar operations: three parts. SIMD operations: a mask of the elements that are written or added up; their sources
     * come permuted. */
    PTXI_VIDEO_PART_A = 0, PTXI_VIDEO_PART_B = 3, PTXI_VIDEO_PART_D = 6, PTXI_VIDEO_PART_MASK = 7, /* shift counts, and the mask of each */
    PTXI_VIDEO_ELEMENTS = 0,
    /* types; of vset d's is a's */
    PTXI_VIDEO_SIGNED_A = 1 << 9,
    PTXI_VIDEO_SIGNED_B = 1 << 10,
    PTXI_VIDEO_SIGNED_D = 1 << 11,
    /* the second operation, one of; .add of a SIMD operation is PTXI_VIDEO_ADD */
    PTXI_VIDEO_ADD = 1 << 12,
    PTXI_VIDEO_MIN = 1 << 13,
    PTXI_VIDEO_MAX = 1 << 14,
    /* vset: when it is true, any of */
    PTXI_VIDEO_LESS = 1 << 15,
    PTXI_VIDEO_EQUAL = 1 << 16,
    PTXI_VIDEO_GREATER = 1 << 17,
    /* vmad */
    PTXI_VIDEO_SHR7 = 1 << 18,
    PTXI_VIDEO_SHR15 = 1 << 19,
    PTXI_VIDEO_PLUS_ONE = 1 << 20,
    PTXI_VIDEO_MINUS_PRODUCT = 1 << 21,
    PTXI_VIDEO_MINUS_C = 1 << 22
};

#endif
