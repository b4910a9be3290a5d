/* Copies and fills of streams, which may race with launches and other copies. */
#include "api/check/check.h"

#include "api/memory/strided_copy.h"
#include "exec/check/concurrent.h"

/* The findings of the context if it looks for races, else NULL. */
static struct ptxi_findings *race_findings(ptxiContext ctx)
{
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_findings *f = ctx->sanitizer & PTXI_SANITIZER_RACE ? ctx->findings : NULL;

    pthread_mutex_unlock(&ctx->lock);
    return f;
}

void ptxi_check_rows(const struct ptxi_rows *r)
{
    struct ptxiStream_st *s = ptxi_queue_current();
    struct ptxi_findings *f = s ? race_findings(s->ctx) : NULL;
    struct ptxi_checker *x = f ? ptxi_check_checker(s->ctx) : NULL;
    const char *operation = r->src ? "a copy" : "a fill";

    for (size_t slice = 0; x && slice < r->depth; slice++) {
        if (r->src && (r->src_known || r->src_array))
            ptxi_check_copy(x, f, &(struct ptxi_copied_rows){
                .address = (uintptr_t)r->src + slice * r->src_slice, .width = r->width, .pitch = r->src_pitch,
                .rows = r->height, .operation = operation });
        if (r->dst_known || r->dst_array)
            ptxi_check_copy(x, f, &(struct ptxi_copied_rows){
                .address = (uintptr_t)r->dst + slice * r->dst_slice, .width = r->width, .pitch = r->dst_pitch,
                .rows = r->height, .write = true, .operation = operation });
    }
}

void ptxi_check_host(ptxiContext ctx, uint64_t address, size_t size, bool write)
{
    struct ptxi_findings *f = race_findings(ctx);
    struct ptxi_checker *x = f ? ptxi_check_checker(ctx) : NULL;

    if (x)
        ptxi_check_host_access(x, f, address, size, write);
}

void ptxi_check_stream_allocation(struct ptxiStream_st *s, uint64_t address, size_t size)
{
    uint64_t submitted = ptxi_queue_submitted(s);
    struct ptxi_checker *x = submitted && race_findings(s->ctx) ? ptxi_check_checker(s->ctx) : NULL;

    if (x)
        ptxi_check_allocation(x, address, size, &(struct ptxi_task){ .stream = s->id, .seq = submitted });
}
