#include "api/launch/param_buffer.h"

#include "api/memory/heap.h"

#include <assert.h>
#include <stdlib.h>

enum { MAX_BUFFERS = 1 << 16 /* that a grid may have and not use */ };

void ptxi_param_buffers_free(struct ptxi_launch *l)
{
    for (struct ptxi_param_buffer *b = l->buffers, *next; b; b = next) {
        next = b->next;
        ptxi_heap_free(b->block);
        free(b);
    }
}

struct ptxi_param_buffer *ptxi_param_buffer_create(struct ptxi_launch *l, size_t bytes, enum ptxi_buffer_kind kind)
{
    struct ptxi_param_buffer *b = atomic_load(&l->buffer_count) < MAX_BUFFERS ? calloc(1, sizeof *b) : NULL;

    if (b && ptxi_heap_alloc(l->ctx, bytes ? bytes : 1, PTXI_HEAP_MODULE, PTXI_MEM_RWA, 0, &b->block)) {
        free(b);
        b = NULL;
    }
    if (!b)
        return NULL;
    b->kind = kind;
    b->bytes = bytes;
    pthread_mutex_lock(&l->lock);
    b->next = l->buffers;
    l->buffers = b;
    l->buffer_count++;
    pthread_mutex_unlock(&l->lock);
    return b;
}

struct ptxi_param_buffer *ptxi_param_buffer_take(struct ptxi_launch *l, uint64_t at, enum ptxi_buffer_kind kind)
{
    struct ptxi_param_buffer *b, **link = &l->buffers;

    pthread_mutex_lock(&l->lock);
    while (*link && ((*link)->block->base != at || (*link)->kind != kind))
        link = &(*link)->next;
    b = *link;
    if (b) {
        assert(l->buffer_count);
        *link = b->next;
        l->buffer_count--;
    }
    pthread_mutex_unlock(&l->lock);
    return b;
}
