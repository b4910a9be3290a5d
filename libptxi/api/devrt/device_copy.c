/* Copies and fills that kernels request (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). They run later:
 * launch/pending.c. */
#include "api/devrt/device_call.h"

#include "exec/engine/engine.h"

#include <string.h>

enum { DEVICE_TO_DEVICE = 3, ANY_TO_ANY = 4 }; /* cudaMemcpyKind */

static unsigned char *byte_at(uint64_t address)
{
    return (unsigned char *)(uintptr_t)address;
}

/* Queues the rows and returns from the call. An access that the memory does not permit fails the launch. Other invalid
 * addresses are errors of the call. */
static bool queue_rows(struct ptxi_device_call *d, int error, struct ptxi_rows rows, uint64_t stream)
{
    struct ptxi_rows_fault fault;

    if (error || !rows.width || !rows.height || !rows.depth)
        return ptxi_device_return(d, error);
    rows.by_kernel = rows.dst_known = rows.src_known = true;
    rows.element = 1;
    if (!ptxi_rows_check(&rows, &fault)) {
        if (fault.kind != PTXI_FK_READ_ONLY)
            return ptxi_device_return(d, cudaErrorInvalidValue);
        ptxi_fault_access(d->call->warp, d->call->insn, fault.kind, (ptxi_lanes)1 << d->lane, fault.address, fault.size,
                   fault.write ? PTXI_AK_STORE : PTXI_AK_LOAD, NULL);
        return false;
    }
    struct ptxi_pending_work child = { .rows = rows, .site = ptxi_device_call_site(d) };
    bool queued = ptxi_pending_add(d->launch, child, stream == TAIL_STREAM);

    return ptxi_device_return(d, queued ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* The same for a copy. Its source may not be 0, which would mean a fill. */
static bool queue_copy(struct ptxi_device_call *d, int error, struct ptxi_rows rows, uint64_t stream)
{
    bool any = rows.width && rows.height && rows.depth;

    return queue_rows(d, error || rows.src || !any ? error : (int)cudaErrorInvalidValue, rows, stream);
}

static int kind_error(unsigned kind)
{
    return kind == DEVICE_TO_DEVICE || kind == ANY_TO_ANY ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

/* Rows may not overlap. */
static int pitch_error(const struct ptxi_rows *rows, bool copy)
{
    if (rows->width <= rows->dst_pitch && (!copy || rows->width <= rows->src_pitch))
        return cudaSuccess;
    return copy ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
}

/* cudaError_t (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) */
DEVICE_FUNCTION(MemcpyAsync)
{
    struct ptxi_rows row = { .dst = byte_at(arg64(d, 0)), .src = byte_at(arg64(d, 2)), .width = arg64(d, 4),
                             .height = 1, .depth = 1 };

    return queue_copy(d, kind_error(arg32(d, 6)), row, arg64(d, 7));
}

/* cudaError_t (void *to, size_t pitch, const void *from, size_t pitch, size_t width, size_t height, kind, stream) */
DEVICE_FUNCTION(Memcpy2DAsync)
{
    struct ptxi_rows rows = { .dst = byte_at(arg64(d, 0)), .dst_pitch = arg64(d, 2), .src = byte_at(arg64(d, 4)),
                              .src_pitch = arg64(d, 6), .width = arg64(d, 8), .height = arg64(d, 10),
                              .depth = 1 };
    int error = pitch_error(&rows, true);

    return queue_copy(d, error ? error : kind_error(arg32(d, 12)), rows, arg64(d, 13));
}

/* cudaError_t (void *to, int value, size_t bytes, cudaStream_t stream) */
DEVICE_FUNCTION(MemsetAsync)
{
    struct ptxi_rows row = { .dst = byte_at(arg64(d, 0)), .width = arg64(d, 3), .height = 1, .depth = 1,
                             .value = arg32(d, 2) & 0xff };

    return queue_rows(d, cudaSuccess, row, arg64(d, 5));
}

/* cudaError_t (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) */
DEVICE_FUNCTION(Memset2DAsync)
{
    struct ptxi_rows rows = { .dst = byte_at(arg64(d, 0)), .dst_pitch = arg64(d, 2), .width = arg64(d, 5),
                              .height = arg64(d, 7), .depth = 1, .value = arg32(d, 4) & 0xff };

    return queue_rows(d, pitch_error(&rows, false), rows, arg64(d, 9));
}

/* The layouts of cudaPitchedPtr and cudaMemcpy3DParms. Positions and the extent are x, y, z. */
struct pitched {
    uint64_t at, pitch, width, height;
};
struct copy_3d {
    uint64_t src_array, src_pos[3];
    struct pitched src;
    uint64_t dst_array, dst_pos[3];
    struct pitched dst;
    uint64_t extent[3];
    int kind;
};

static uint64_t begin_of(const struct pitched *p, const uint64_t *pos)
{
    return p->at + (pos[2] * p->height + pos[1]) * p->pitch + pos[0];
}

/* If the distance of slices overflows it is saturated, and the rows are in no allocation. */
static struct ptxi_rows rows_of(const struct copy_3d *p)
{
    struct ptxi_rows rows = { .dst = byte_at(begin_of(&p->dst, p->dst_pos)), .dst_pitch = p->dst.pitch,
                              .src = byte_at(begin_of(&p->src, p->src_pos)), .src_pitch = p->src.pitch,
                              .width = p->extent[0], .height = p->extent[1], .depth = p->extent[2] };

    if (__builtin_mul_overflow(p->dst.pitch, p->dst.height, &rows.dst_slice))
        rows.dst_slice = SIZE_MAX;
    if (__builtin_mul_overflow(p->src.pitch, p->src.height, &rows.src_slice))
        rows.src_slice = SIZE_MAX;
    return rows;
}

/* cudaError_t (const struct cudaMemcpy3DParms *copy, cudaStream_t stream) */
DEVICE_FUNCTION(Memcpy3DAsync)
{
    const unsigned char *from = ptxi_builtin_pointer(d->call, d->lane, arg64(d, 0), sizeof(struct copy_3d), false);
    struct copy_3d p;

    if (!from)
        return false;
    memcpy(&p, from, sizeof p);
    if (p.src_array || p.dst_array)
        return ptxi_device_return(d, cudaErrorInvalidValue);
    struct ptxi_rows rows = rows_of(&p);
    int error = pitch_error(&rows, true);

    return queue_copy(d, error ? error : kind_error((unsigned)p.kind), rows, arg64(d, 2));
}

/* cudaError_t (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream) */
DEVICE_FUNCTION(Memset3DAsync)
{
    uint64_t pitch = arg64(d, 2);
    struct ptxi_rows rows = { .dst = byte_at(arg64(d, 0)), .dst_pitch = pitch, .width = arg64(d, 9),
                              .height = arg64(d, 11), .depth = arg64(d, 13), .value = arg32(d, 8) & 0xff };

    if (__builtin_mul_overflow(pitch, arg64(d, 6), &rows.dst_slice))
        rows.dst_slice = SIZE_MAX;
    return queue_rows(d, cudaSuccess, rows, arg64(d, 15));
}
