/* Kernels that copy and fill memory (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). What they ask for is done later: children.c. */
#include "api/device_call.h"

#include "exec/engine.h"
#include "exec/memmap.h"

#include <string.h>

enum { DEVICE_TO_DEVICE = 3, ANY_TO_ANY = 4 }; /* cudaMemcpyKind */

static bool covered(uint64_t at, size_t pitch, size_t width, size_t height)
{
    struct ptxi_mem_region region;
    size_t bytes;

    if (__builtin_mul_overflow(pitch, height - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes))
        return false;
    return ptxi_memmap_covers(ptxi_state.memmap, at, bytes, &region) && !(region.flags & PTXI_MEM_FREED);
}

static int queue_rows(struct ptxi_launch *l, struct ptxi_child rows, uint64_t stream)
{
    bool copy = rows.value < 0;

    if (!rows.width || !rows.height)
        return cudaSuccess;
    if (!covered(rows.dst, rows.dst_pitch, rows.width, rows.height) || (copy && !covered(rows.src, rows.src_pitch, rows.width, rows.height)))
        return cudaErrorInvalidValue;
    return ptxi_children_add(l, rows, stream == TAIL_STREAM) ? cudaSuccess : cudaErrorMemoryAllocation;
}

static int kind_error(unsigned kind)
{
    return kind == DEVICE_TO_DEVICE || kind == ANY_TO_ANY ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

/* Rows may not overlap. */
static int pitch_error(const struct ptxi_child *rows)
{
    bool copy = rows->value < 0;

    if (rows->width <= rows->dst_pitch && (!copy || rows->width <= rows->src_pitch))
        return cudaSuccess;
    return copy ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue;
}

/* cudaError_t (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) */
DEVICE_FUNCTION(MemcpyAsync)
{
    struct ptxi_child row = { .dst = pointer(d, 0), .src = pointer(d, 2), .width = pointer(d, 4), .height = 1, .value = -1 };
    int error = kind_error(arg(d, 6));

    return ptxi_device_answer(d, error ? error : queue_rows(d->launch, row, pointer(d, 7)));
}

/* cudaError_t (void *to, size_t pitch, const void *from, size_t pitch, size_t width, size_t height, kind, stream) */
DEVICE_FUNCTION(Memcpy2DAsync)
{
    struct ptxi_child rows = { .dst = pointer(d, 0), .dst_pitch = pointer(d, 2), .src = pointer(d, 4), .src_pitch = pointer(d, 6),
                               .width = pointer(d, 8), .height = pointer(d, 10), .value = -1 };
    int error = pitch_error(&rows);

    error = error ? error : kind_error(arg(d, 12));
    return ptxi_device_answer(d, error ? error : queue_rows(d->launch, rows, pointer(d, 13)));
}

/* cudaError_t (void *to, int value, size_t bytes, cudaStream_t stream) */
DEVICE_FUNCTION(MemsetAsync)
{
    struct ptxi_child row = { .dst = pointer(d, 0), .width = pointer(d, 3), .height = 1, .value = (int)(arg(d, 2) & 0xff) };

    return ptxi_device_answer(d, queue_rows(d->launch, row, pointer(d, 5)));
}

/* cudaError_t (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) */
DEVICE_FUNCTION(Memset2DAsync)
{
    struct ptxi_child rows = { .dst = pointer(d, 0), .dst_pitch = pointer(d, 2), .width = pointer(d, 5), .height = pointer(d, 7),
                               .value = (int)(arg(d, 4) & 0xff) };
    int error = pitch_error(&rows);

    return ptxi_device_answer(d, error ? error : queue_rows(d->launch, rows, pointer(d, 9)));
}

/* The rows of one slice and of the `depth` - 1 behind it, which lie so many bytes apart. */
struct slices {
    struct ptxi_child rows;
    size_t dst_apart, src_apart;
    uint64_t depth;
};

static int queue_slices(struct ptxi_launch *l, struct slices s, uint64_t stream)
{
    int error = cudaSuccess;

    for (uint64_t z = 0; z < s.depth && !error; z++) {
        error = queue_rows(l, s.rows, stream);
        s.rows.dst += s.dst_apart;
        s.rows.src += s.src_apart;
    }
    return error;
}

/* Layouts of cudaPitchedPtr and of cudaMemcpy3DParms; positions and the extent: x, y, z. */
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

static struct slices slices_of(const struct copy_3d *p)
{
    return (struct slices){ .rows = { .dst = begin_of(&p->dst, p->dst_pos), .dst_pitch = p->dst.pitch, .src = begin_of(&p->src, p->src_pos),
                                      .src_pitch = p->src.pitch, .width = p->extent[0], .height = p->extent[1], .value = -1 },
                            .dst_apart = p->dst.pitch * p->dst.height, .src_apart = p->src.pitch * p->src.height, .depth = p->extent[2] };
}

/* cudaError_t (const struct cudaMemcpy3DParms *copy, cudaStream_t stream) */
DEVICE_FUNCTION(Memcpy3DAsync)
{
    const unsigned char *from = ptxi_builtin_pointer(d->call, d->lane, pointer(d, 0), sizeof(struct copy_3d), false);
    struct copy_3d p;

    if (!from)
        return false;
    memcpy(&p, from, sizeof p);
    if (p.src_array || p.dst_array)
        return ptxi_device_answer(d, cudaErrorInvalidValue);
    struct slices s = slices_of(&p);
    int error = pitch_error(&s.rows);

    error = error ? error : kind_error((unsigned)p.kind);
    return ptxi_device_answer(d, error ? error : queue_slices(d->launch, s, pointer(d, 2)));
}

/* cudaError_t (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream) */
DEVICE_FUNCTION(Memset3DAsync)
{
    uint64_t pitch = pointer(d, 2);
    struct slices s = { .rows = { .dst = pointer(d, 0), .dst_pitch = pitch, .width = pointer(d, 9), .height = pointer(d, 11),
                                  .value = (int)(arg(d, 8) & 0xff) },
                        .dst_apart = pitch * pointer(d, 6), .depth = pointer(d, 13) };

    return ptxi_device_answer(d, queue_slices(d->launch, s, pointer(d, 15)));
}
