/* Rows of bytes that calls of the program (copy.c) and of kernels (device_copy.c) copy or fill. */
#ifndef PTXI_API_MEMORY_STRIDED_COPY_H
#define PTXI_API_MEMORY_STRIDED_COPY_H

#include "api/context/context.h"

#include "exec/sched/workers.h"
#include "exec/memmap/memmap.h"

struct ptxi_rows {
    unsigned char *dst;
    const unsigned char *src;    /* NULL: fill */
    size_t dst_pitch, src_pitch; /* bytes from one row to the next */
    size_t dst_slice, src_slice; /* bytes from one slice to the next */
    size_t width, height, depth; /* bytes per row, rows per slice, slices; not 0 */
    uint32_t value;
    unsigned element;            /* of a fill: bytes of the value, a divisor of the width */
    /* The memory map must permit the access. Otherwise it is other memory of the program. */
    bool dst_known, src_known;
    bool dst_array, src_array;   /* texels of an array, which kernels cannot address */
    bool by_kernel;              /* a kernel has requested it, not the program */
};

/* True if the program may copy from a region, or to it. Unlike kernels it may write constants. */
bool ptxi_rows_may_access(const struct ptxi_mem_region *region, bool write);

/* The reason why rows cannot be moved. */
struct ptxi_rows_fault {
    enum ptxi_fault_kind kind; /* PTXI_FK_NONE: they can be moved */
    uint64_t address;
    uint32_t size; /* bytes, saturated */
    bool write;
};

/* Sets the number of bytes from the first to the last. False if it does not fit a size_t. */
bool ptxi_rows_extent(size_t width, size_t pitch, size_t height, size_t slice, size_t depth, size_t *bytes);

/* True if the memory map permits all accesses now. */
bool ptxi_rows_check(const struct ptxi_rows *r, struct ptxi_rows_fault *fault);

/* Moves the rows in pieces, and checks each piece at the time of the access. After each piece it calls `go_on`, unless
 * that is NULL, with the number of stores of 512 bytes that a warp would have needed, at least one for each row. False
 * ends the copy. */
typedef bool ptxi_rows_go_on(void *ctx, uint64_t stores);
ptxiResult ptxi_rows_move(const struct ptxi_rows *r, ptxi_rows_go_on *go_on, void *ctx, struct ptxi_rows_fault *fault);

#endif
