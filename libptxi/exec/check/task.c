#include "exec/check/task.h"

#include <pthread.h>

_Atomic bool ptxi_tasks_have_order;
_Thread_local const struct ptxi_task *ptxi_task_current;

static struct ptxi_vclock *host;
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;

struct ptxi_vclock_entry ptxi_task_entry(uint64_t stream, uint64_t seq)
{
    return (struct ptxi_vclock_entry){ ptxi_who((uint32_t)stream, PTXI_WHO_ALL, PTXI_WHO_ALL), (uint32_t)seq + 1 };
}

static bool is_unordered(const struct ptxi_unordered *u, uint64_t seq)
{
    for (uint32_t k = 0; u && k < u->count; k++)
        if (seq >= u->tasks[k].first && seq <= u->tasks[k].last)
            return true;
    return false;
}

bool ptxi_task_is_before(const struct ptxi_task *a, const struct ptxi_task *b)
{
    if (!a->stream || !b->stream)
        return true;
    if (a->stream == b->stream)
        return a->seq <= b->seq && !is_unordered(b->unordered, a->seq);
    return ptxi_vclock_has(b->known, (uint32_t)a->stream, PTXI_WHO_ALL, PTXI_WHO_ALL, (uint32_t)a->seq);
}

void ptxi_host_learns(uint64_t stream, uint64_t seq, const struct ptxi_vclock *known)
{
    struct ptxi_vclock_entry e = ptxi_task_entry(stream, seq);

    pthread_mutex_lock(&host_lock);
    ptxi_vclock_join(&host, known);
    ptxi_vclock_add(&host, &e, 1);
    pthread_mutex_unlock(&host_lock);
}

struct ptxi_vclock *ptxi_host_known(void)
{
    pthread_mutex_lock(&host_lock);
    struct ptxi_vclock *k = ptxi_vclock_ref(host);

    pthread_mutex_unlock(&host_lock);
    return k;
}
