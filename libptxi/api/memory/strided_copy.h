/* Rows of bytes that are copied or filled, by calls of the program (copy.c) and of kernels (device_copy.c). */
#ifndef PTXI_API_MEMORY_STRIDED_COPY_H
#define PTXI_API_MEMORY_STRIDED_COPY_H

#include "api/context/api.h"

#include "exec/engine/exec.h"
#include "exec/memmap/memmap.h"

struct ptxi_rows {
    unsigned char *dst;
    const unsigned char *src;    /* NULL: fill */
    size_t dst_pitch, src_pitch; /* bytes from one row to the next */
    size_t dst_slice, src_slice; /* bytes from one slice to the next */
    size_t width, height, depth; /* bytes of a row, rows of a slice, slices: none is 0 */
    uint32_t value;
    unsigned element;            /* of a fill: the bytes of a value, which divide the width */
    bool dst_known, src_known;   /* the memory map must permit the access; else it is other memory of the program */
    bool by_kernel;              /* a kernel has asked for it, not the program */
};

/* Whether the program may copy from a region, or to it. Unlike kernels it writes constants. */
bool ptxi_rows_may_access(const struct ptxi_mem_region *region, bool write);

/* Why rows cannot be moved. */
struct ptxi_rows_fault {
    enum ptxi_fault_kind kind; /* PTXI_FK_NONE: they can */
    uint64_t address;
    uint32_t size; /* bytes; more than fit are cut */
    bool write;
};

/* Bytes from the first to the last; false: they do not fit a size_t. */
bool ptxi_rows_extent(size_t width, size_t pitch, size_t height, size_t slice, size_t depth, size_t *bytes);

/* Whether the memory map permits all of it now. */
bool ptxi_rows_check(const struct ptxi_rows *r, struct ptxi_rows_fault *fault);

/* Moves them in pieces, and checks each piece at the time of the access. After each piece `go_on`, unless it is NULL,
 * gets the number of stores of 512 bytes that a warp would have needed, at least one for each row. It may end the walk. */
typedef bool ptxi_rows_go_on(void *ctx, uint64_t stores);
ptxiResult ptxi_rows_move(const struct ptxi_rows *r, ptxi_rows_go_on *go_on, void *ctx, struct ptxi_rows_fault *fault);

#endif
