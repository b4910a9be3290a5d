/* Calls of streams with other parameters than those of the driver API. */
#include "runtime.h"

#include <stdlib.h>

struct callback {
    runtime_stream_callback *function;
    ptxiStream stream;
    void *user;
};

static void run_callback(void *data)
{
    struct callback c = *(struct callback *)data;

    free(data);
    ptxi_runtime_write_output();
    c.function(c.stream, 0, c.user);
}

int ptxi_runtime_add_callback(ptxiStream stream, runtime_stream_callback *callback, void *user, unsigned flags)
{
    struct callback *c;
    int error;

    if (!callback || flags)
        return PTXI_ERROR_INVALID_VALUE;
    c = malloc(sizeof *c);
    if (!c)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *c = (struct callback){ callback, stream, user };
    error = ptxiLaunchHostFunc(stream, run_callback, c);
    if (error)
        free(c);
    return error;
}

int ptxi_runtime_copy_attributes(ptxiStream to, ptxiStream from, bool per_thread_streams)
{
    if (per_thread_streams) {
        to = per_thread(to);
        from = per_thread(from);
    }
    return ptxiStreamCopyAttributes(to, from);
}
