#include "exec/engine/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fill.h"

enum {
    SMALLEST_CLASS_SHIFT = 10, /* frames of size class c have 1 << (SMALLEST_CLASS_SHIFT + c) bytes */
    CLASS_COUNT = sizeof ((struct ptxi_warp *)0)->free_frames / sizeof(struct ptxi_frame *)
};

void ptxi_frame_fill_constants(struct ptxi_frame *frame, const struct ptxi_code *code)
{
    for (uint32_t k = 0; k < code->const_count; k++) {
        const struct ptxi_const *c = &code->consts[k];
        unsigned char *p = PTXI_SLOT(frame, c->slot);

        assert(c->slot < code->frame_units);
        for (int l = 0; l < PTXI_LANES; l++) {
            if (c->bytes == 2)
                ((uint16_t *)p)[l] = (uint16_t)c->value;
            else if (c->bytes == 4)
                ((uint32_t *)p)[l] = (uint32_t)c->value;
            else if (c->bytes == 8)
                ((uint64_t *)p)[l] = c->value;
        }
        if (!c->bytes)
            *(ptxi_lanes *)p = c->value ? PTXI_ALL_LANES : 0;
    }
}

void ptxi_frame_fill_unwritten(struct ptxi_frame *frame)
{
    const struct ptxi_code *code = frame->code;

    for (uint32_t k = 0; k < code->unwritten_count; k++) {
        assert(code->unwritten[k].first + code->unwritten[k].units <= code->frame_units);
        ptxi_fill(PTXI_SLOT(frame, code->unwritten[k].first), (size_t)code->unwritten[k].units * PTXI_UNIT);
    }
}

/* Memory of the host's allocator is cleared once. Slots may hold values of earlier calls, but no data of the process.
 */
static struct ptxi_frame *allocate(unsigned class)
{
    size_t bytes = (size_t)1 << (SMALLEST_CLASS_SHIFT + class);
    struct ptxi_frame *f = aligned_alloc(64, bytes);

    return f ? memset(f, 0, bytes) : NULL;
}

struct ptxi_frame *ptxi_frame_create(struct ptxi_warp *w, const struct ptxi_code *code)
{
    size_t bytes = sizeof(struct ptxi_frame) + (size_t)code->frame_units * PTXI_UNIT;
    unsigned class = 0;
    struct ptxi_frame *f;

    while (((size_t)1 << (SMALLEST_CLASS_SHIFT + class)) < bytes)
        class++;
    if (class >= CLASS_COUNT)
        return NULL;
    f = w->free_frames[class];
    if (f)
        w->free_frames[class] = f->parent;
    else
        f = allocate(class);
    if (f) {
        assert(!f->splits);
        f->size_class = class;
        f->code = code;
        ptxi_frame_fill_constants(f, code);
        ptxi_frame_fill_unwritten(f);
    }
    return f;
}

size_t ptxi_frame_bytes(const struct ptxi_frame *frame)
{
    return (size_t)1 << (SMALLEST_CLASS_SHIFT + frame->size_class);
}

void ptxi_frame_unref(struct ptxi_warp *w, struct ptxi_frame *frame)
{
    assert(frame->splits);
    while (frame && !--frame->splits) {
        struct ptxi_frame *parent = frame->parent;

        if (!parent)
            return; /* the kernel's frame belongs to the CTA context */
        assert(frame->size_class < CLASS_COUNT && parent->splits);
        frame->parent = w->free_frames[frame->size_class];
        w->free_frames[frame->size_class] = frame;
        frame = parent;
    }
}

void ptxi_warp_free_frames(struct ptxi_warp *w)
{
    for (int c = 0; c < CLASS_COUNT; c++)
        while (w->free_frames[c]) {
            struct ptxi_frame *f = w->free_frames[c];

            w->free_frames[c] = f->parent;
            free(f);
        }
}

void ptxi_local_fill(struct ptxi_warp *w, ptxi_lanes lanes, uint64_t at, uint64_t bytes)
{
    uint64_t end = at + bytes;

    if (ptxi_fill_byte)
        w->local_written = end > w->local_written ? (uint32_t)end : w->local_written;
    else
        end = end < w->local_written ? end : w->local_written;
    for (; end > at && lanes; lanes &= lanes - 1)
        ptxi_fill_few(w->local + ptxi_first_lane(lanes) * w->local_stride + at, ptxi_fill_byte, end - at);
}
