/* Attributes of streams, which have no effect. */
#include "api/submit/submit.h"

static const unsigned char ids[] = {
    PTXI_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    PTXI_LAUNCH_ATTRIBUTE_PRIORITY, PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
};
_Static_assert(sizeof ids == PTXI_STREAM_ATTRIBUTES, "a stream stores each attribute");

/* Returns the index of the attribute in the stream, or PTXI_STREAM_ATTRIBUTES. */
static unsigned find_attribute(int id)
{
    unsigned k = 0;

    while (k < sizeof ids && ids[k] != id)
        k++;
    return k;
}

/* The value of an attribute that has not been set. */
static ptxiLaunchAttributeValue initial_value(const struct ptxiStream_st *s, int id)
{
    ptxiLaunchAttributeValue v = { .pad = { 0 } };

    if (id == PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
        v.syncPolicy = PTXI_SYNC_POLICY_AUTO;
    else if (id == PTXI_LAUNCH_ATTRIBUTE_PRIORITY)
        v.priority = s->priority;
    else if (id == PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        v.memSyncDomainMap.remote = 1;
    return v;
}

static ptxiResult check_value(int id, const ptxiLaunchAttributeValue *v)
{
    struct ptxi_launch_shape unused = { .shared = 0 };
    bool ok;

    if (id == PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
        ok = v->syncPolicy >= PTXI_SYNC_POLICY_AUTO && v->syncPolicy <= PTXI_SYNC_POLICY_BLOCKING_SYNC;
    else if (id == PTXI_LAUNCH_ATTRIBUTE_PRIORITY)
        ok = v->priority <= PTXI_LEAST_PRIORITY && v->priority >= PTXI_GREATEST_PRIORITY;
    else
        return ptxi_launch_read_attribute(&(ptxiLaunchAttribute){ .id = (ptxiLaunchAttributeID)id, .value = *v },
                                          &unused);
    return ok ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiStreamGetAttribute(ptxiStream hStream, ptxiLaunchAttributeID attr, ptxiLaunchAttributeValue *value_out)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);
    unsigned k = find_attribute((int)attr);

    if (r)
        return r;
    if (!value_out || k == PTXI_STREAM_ATTRIBUTES)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    *value_out = s->attributes_set >> k & 1 ? s->attributes[k] : initial_value(s, (int)attr);
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamSetAttribute(ptxiStream hStream, ptxiLaunchAttributeID attr, const ptxiLaunchAttributeValue *value)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);
    unsigned k = find_attribute((int)attr);

    if (r)
        return r;
    if (!value || k == PTXI_STREAM_ATTRIBUTES)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = check_value((int)attr, value)))
        return r;
    pthread_mutex_lock(&ctx->lock);
    s->attributes[k] = *value;
    s->attributes_set |= 1u << k;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamCopyAttributes(ptxiStream dst, ptxiStream src)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *to, *from;
    ptxiResult r = ptxi_stream_enter(dst, &ctx, &to);

    if (r || (r = ptxi_stream_enter(src, &ctx, &from)) || to == from)
        return r;
    pthread_mutex_lock(&ctx->lock);
    for (unsigned k = 0; k < PTXI_STREAM_ATTRIBUTES; k++)
        to->attributes[k] = from->attributes_set >> k & 1 ? from->attributes[k] : initial_value(from, ids[k]);
    to->attributes_set = (1u << PTXI_STREAM_ATTRIBUTES) - 1;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}
