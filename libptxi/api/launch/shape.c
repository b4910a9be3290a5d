/* The sizes of a launch: what the program requests, and what the kernel permits. */
#include "api/launch/launch.h"
#include "api/stream/event.h"

#include <limits.h>
#include <string.h>

/* ---- launch attributes */

/* Three zeros mean that there are no clusters. */
static ptxiResult read_cluster(const unsigned *value, unsigned *cluster)
{
    bool none = !value[0] && !value[1] && !value[2];

    memcpy(cluster, value, 3 * sizeof *cluster);
    return none || (value[0] && value[1] && value[2]) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_CLUSTER_SIZE;
}

static ptxiResult check_value(bool valid)
{
    return valid ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxi_launch_read_attribute(const ptxiLaunchAttribute *a, struct ptxi_launch_shape *s)
{
    enum { MAX_CARVEOUT = 100, MAX_POLICY = 2, DOMAINS = 4, NVLINK_SCHEDULING = 16 };
    const unsigned *value = (const unsigned *)(const void *)&a->value;

    switch ((int)a->id) {
    case PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE:
        s->cooperative = a->value.cooperative != 0;
        return PTXI_SUCCESS;
    case PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        s->early = a->value.programmaticStreamSerializationAllowed != 0;
        return PTXI_SUCCESS;
    case PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: return read_cluster(value, s->cluster);
    case PTXI_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: return read_cluster(value, s->preferred);
    case PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: return PTXI_ERROR_INVALID_VALUE; /* an attribute of streams */
    case PTXI_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return check_value(*value <= MAX_POLICY);
    case PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return check_value(*value <= 1);
    case PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        return check_value((*value & 255) < DOMAINS && (*value >> 8 & 255) < DOMAINS);
    case PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return check_value(*value <= MAX_CARVEOUT);
    case PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return ptxi_event_check_launch_attribute(a->value.programmaticEvent.event, a->value.programmaticEvent.flags);
    case PTXI_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return ptxi_event_check_launch_attribute(a->value.launchCompletionEvent.event,
                                                 a->value.launchCompletionEvent.flags);
    case PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW:
        s->window = (struct ptxi_window){ a->value.clusterWindow.first, a->value.clusterWindow.count };
        s->gridid = a->value.clusterWindow.gridid;
        return check_value(s->window.count && s->window.first + s->window.count >= s->window.count);
    case PTXI_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return PTXI_ERROR_NOT_SUPPORTED;
    default: /* hints for performance */
        return check_value((unsigned)a->id <= PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT ||
                           (int)a->id == NVLINK_SCHEDULING);
    }
}

ptxiResult ptxi_launch_read_config(const ptxiLaunchConfig *c, struct ptxi_launch_shape *s)
{
    ptxiResult r = PTXI_SUCCESS;

    if (!c || (c->numAttrs && !c->attrs))
        return PTXI_ERROR_INVALID_VALUE;
    *s = (struct ptxi_launch_shape){
        .grid = { c->gridDimX, c->gridDimY, c->gridDimZ }, .block = { c->blockDimX, c->blockDimY, c->blockDimZ },
        .shared = c->sharedMemBytes,
    };
    for (unsigned i = 0; !r && i < c->numAttrs; i++)
        r = ptxi_launch_read_attribute(&c->attrs[i], s);
    return r;
}

/* ---- sizes */

unsigned ptxi_launch_max_cluster(const struct ptxiFunction_st *f)
{
    return f->nonportable_cluster ? PTXI_MAX_CLUSTER_CTAS : PTXI_PORTABLE_CLUSTER;
}

ptxiResult ptxi_launch_cluster(const struct ptxiFunction_st *f, struct ptxi_launch_shape *s, unsigned most)
{
    enum { MAX_SIDE = 1024 };
    const struct ptxi_func *k = f->func;
    bool own = k->cluster[0] != 0, requested = s->cluster[0] != 0;
    bool set = f->cluster[0] > 0 && f->cluster[1] > 0 && f->cluster[2] > 0;
    unsigned size = 1;

    for (int i = 0; i < 3; i++) {
        unsigned fixed = 0;

        if (own)
            fixed = k->cluster[i] ? k->cluster[i] : 1;
        else if (set)
            fixed = (unsigned)f->cluster[i];
        if ((own || set) && requested && s->cluster[i] != fixed)
            return PTXI_ERROR_INVALID_CLUSTER_SIZE;
        if (!requested)
            s->cluster[i] = fixed;
    }
    if (!s->cluster[0])
        return k->explicit_cluster || s->preferred[0] ? PTXI_ERROR_INVALID_CLUSTER_SIZE : PTXI_SUCCESS;
    for (int i = 0; i < 3; i++) {
        unsigned n = s->cluster[i];

        if (k->blocks_are_clusters && n <= PTXI_MAX_CLUSTER_CTAS)
            s->grid[i] *= n;
        if (n < 1 || n > MAX_SIDE || s->grid[i] % n)
            return PTXI_ERROR_INVALID_CLUSTER_SIZE;
        if (s->preferred[0] && (s->preferred[i] % n || !s->preferred[i] || s->grid[i] % s->preferred[i]))
            return PTXI_ERROR_INVALID_CLUSTER_SIZE;
        size *= n;
    }
    if (size > most || (k->maxclusterrank && size > k->maxclusterrank) ||
        (size > 1 && f->module->profile->sm < 90))
        return PTXI_ERROR_INVALID_CLUSTER_SIZE;
    return PTXI_SUCCESS;
}

bool ptxi_launch_is_grid(const unsigned *grid)
{
    static const unsigned most[3] = { INT_MAX, PTXI_MAX_GRID_YZ, PTXI_MAX_GRID_YZ };
    bool is = true;

    for (int i = 0; i < 3; i++)
        is &= grid[i] >= 1 && grid[i] <= most[i];
    return is;
}

ptxiResult ptxi_launch_check_shape(const struct ptxiFunction_st *f, const struct ptxi_code *code,
                                   const struct ptxi_launch_shape *s)
{
    static const unsigned block_most[3] = { PTXI_MAX_CTA_THREADS, PTXI_MAX_CTA_THREADS, PTXI_MAX_CTA_Z };
    const struct ptxi_func *k = f->func;
    uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];

    if (!ptxi_launch_is_grid(s->grid))
        return PTXI_ERROR_INVALID_VALUE;
    for (int i = 0; i < 3; i++) {
        if (s->block[i] < 1 || s->block[i] > block_most[i])
            return PTXI_ERROR_INVALID_VALUE;
        if (k->reqntid[0] && s->block[i] != (k->reqntid[i] ? k->reqntid[i] : 1))
            return PTXI_ERROR_INVALID_VALUE;
    }
    if (code->local_bytes > PTXI_MAX_LOCAL_VARIABLES)
        return PTXI_ERROR_INVALID_VALUE;
    if (code->shared_bytes > f->module->profile->block_shared)
        return PTXI_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (threads > ptxi_launch_max_threads(k) || s->shared > (unsigned)ptxi_launch_max_dynamic_shared(f, code))
        return PTXI_ERROR_INVALID_VALUE;
    if (s->cooperative) {
        uint64_t ctas = (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
        const struct ptxi_profile *p = f->module->profile;

        if (ctas > (uint64_t)p->multiprocessors * ptxi_occupancy_blocks(p, code, (unsigned)threads, s->shared, -1))
            return PTXI_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return PTXI_SUCCESS;
}
