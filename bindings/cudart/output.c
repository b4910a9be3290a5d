/* Output of printf() in kernels. CUDA Programming Guide, "Formatted Output": it is kept in a buffer, which is written
 * to stdout at launches, at calls that wait, and before callbacks. Programs rely on this order of their own output and
 * that of kernels. */
#include "runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When the buffer has this size, it is written at once. A GPU discards output then. */
enum { MAX_BUFFERED = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer;                /* MAX_BUFFERED bytes; NULL: not allocated */
static size_t used;                 /* bytes in the buffer */
static _Atomic bool pending;        /* used is not 0 */

static void write_buffer(void)
{
    fwrite(buffer, 1, used, stdout);
    used = 0;
    atomic_store(&pending, false);
}

/* Called by a worker, with the text of one printf(). */
static void append(void *user, const char *text, size_t bytes)
{
    (void)user;
    pthread_mutex_lock(&lock);
    if (!buffer)
        buffer = malloc(MAX_BUFFERED);
    if (buffer && bytes > MAX_BUFFERED - used)
        write_buffer();
    if (!buffer || bytes > MAX_BUFFERED) {
        fwrite(text, 1, bytes, stdout);
    } else {
        memcpy(buffer + used, text, bytes);
        used += bytes;
        atomic_store(&pending, true);
    }
    pthread_mutex_unlock(&lock);
}

void ptxi_runtime_buffer_output(ptxiContext context)
{
    ptxiCtxSetOutput(context, append, NULL);
}

void ptxi_runtime_write_output(void)
{
    if (!atomic_load(&pending))
        return;
    pthread_mutex_lock(&lock);
    if (used)
        write_buffer();
    pthread_mutex_unlock(&lock);
}
