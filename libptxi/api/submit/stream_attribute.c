/* Attributes of streams, which have no effect. */
#include "api/submit/submit.h"

#include <string.h>

/* Layout of CUaccessPolicyWindow. */
struct access_policy_window {
    void *base;
    size_t bytes;
    float hit_ratio;
    int hit_property, miss_property;
};

static const struct {
    unsigned char id, bytes; /* bytes of the value */
} stored[] = {
    { PTXI_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, sizeof(struct access_policy_window) },
    { PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, sizeof(int) },
    { PTXI_LAUNCH_ATTRIBUTE_PRIORITY, sizeof(int) },
    { PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, sizeof(unsigned char[2]) },
    { PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, sizeof(int) },
};
_Static_assert(sizeof stored / sizeof *stored == PTXI_STREAM_ATTRIBUTES, "a stream stores each attribute");

/* Returns the index of the attribute in the stream, or PTXI_STREAM_ATTRIBUTES. */
static unsigned find_attribute(int id)
{
    unsigned k = 0;

    while (k < PTXI_STREAM_ATTRIBUTES && stored[k].id != id)
        k++;
    return k;
}

/* The value of an attribute that has not been set. */
static ptxiLaunchAttributeValue initial_value(const struct ptxiStream_st *s, int id)
{
    ptxiLaunchAttributeValue v = { .pad = { 0 } };

    if (id == PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
        v.syncPolicy = -1;
    else if (id == PTXI_LAUNCH_ATTRIBUTE_PRIORITY)
        v.priority = s->priority;
    else if (id == PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        v.memSyncDomainMap.remote = 1;
    return v;
}

static ptxiResult check_value(int id, const ptxiLaunchAttributeValue *v)
{
    struct ptxi_launch_shape unused = { .shared = 0 };

    if (id == PTXI_LAUNCH_ATTRIBUTE_PRIORITY)
        return PTXI_SUCCESS;
    if (id == PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
        return v->syncPolicy >= PTXI_SYNC_POLICY_AUTO && v->syncPolicy <= PTXI_SYNC_POLICY_BLOCKING_SYNC
               ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    return ptxi_launch_read_attribute(&(ptxiLaunchAttribute){ .id = (ptxiLaunchAttributeID)id, .value = *v }, &unused);
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
    ptxiLaunchAttributeValue v = s->attributes_set >> k & 1 ? s->attributes[k] : initial_value(s, (int)attr);

    memcpy(value_out, &v, stored[k].bytes);
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

static int clamp_priority(int priority)
{
    if (priority > PTXI_LEAST_PRIORITY)
        return PTXI_LEAST_PRIORITY;
    return priority < PTXI_GREATEST_PRIORITY ? PTXI_GREATEST_PRIORITY : priority;
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
    if (attr == PTXI_LAUNCH_ATTRIBUTE_PRIORITY)
        s->attributes[k].priority = clamp_priority(value->priority);
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
        to->attributes[k] = from->attributes_set >> k & 1 ? from->attributes[k] : initial_value(from, stored[k].id);
    to->attributes_set = (1u << PTXI_STREAM_ATTRIBUTES) - 1;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}
