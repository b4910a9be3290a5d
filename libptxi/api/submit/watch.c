/* Waits that another thread can end, but not those that began after it was told to. */
#include "api/submit/watch.h"

#include <poll.h>
#include <pthread.h>

#include "api/context/context.h"
#include "api/handle/handle.h"

/* Protects the members of all watches. Never held during a wait. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns whether the descriptor has a message, or a signal comes now. */
static bool has_message(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    return fd >= 0 && poll(&p, 1, 0);
}

ptxiResult ptxi_watch_begin(ptxiWatch *w, ptxiContext ctx)
{
    ptxiResult r = PTXI_ERROR_NOT_READY;

    pthread_mutex_lock(&lock);
    if (!has_message(w->fd)) {
        w->ctx = ctx;
        w->number++;
        r = PTXI_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

void ptxi_watch_end(ptxiWatch *w, ptxiContext outer)
{
    pthread_mutex_lock(&lock);
    w->ctx = outer;
    pthread_mutex_unlock(&lock);
}

ptxiResult ptxiWatchBegin(ptxiWatch *watch, ptxiContext ctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    return watch && ctx ? ptxi_watch_begin(watch, ctx) : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiWatchEnd(ptxiWatch *watch, ptxiContext outer)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!watch)
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_watch_end(watch, outer);
    return PTXI_SUCCESS;
}

ptxiResult ptxiWatchGetWait(const ptxiWatch *watch, unsigned long long *number)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!watch || !number)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *number = watch->ctx ? watch->number : 0;
    pthread_mutex_unlock(&lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiWatchInterrupt(ptxiWatch *watch, unsigned long long number)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!watch)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock); /* so that the wait does not end, and no other begins, before the interrupt */
    if (watch->ctx && watch->number == number)
        r = ptxiCtxInterrupt(watch->ctx);
    pthread_mutex_unlock(&lock);
    return r;
}
