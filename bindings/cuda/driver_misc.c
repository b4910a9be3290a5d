/* Driver calls that have no counterpart in ptxi.h: loading of functions, which libptxi does with their modules, and
 * callbacks of streams, which another call implements. */
#include "driver.h"

#include <stdlib.h>

/* ---- callbacks */

struct callback {
    stream_callback *function;
    ptxiStream stream;
    void *user;
};

static void run_callback(void *data)
{
    struct callback c = *(struct callback *)data;

    free(data);
    c.function(c.stream, PTXI_SUCCESS, c.user);
}

ptxiResult cuStreamAddCallback(ptxiStream hStream, stream_callback *callback, void *user, unsigned flags)
{
    struct callback *c;
    ptxiResult r;

    if (!callback || flags)
        return PTXI_ERROR_INVALID_VALUE;
    c = malloc(sizeof *c);
    if (!c)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *c = (struct callback){ callback, hStream, user };
    r = ptxiLaunchHostFunc(hStream, run_callback, c);
    if (r)
        free(c);
    return r;
}

/* ---- loading: all functions are loaded with their module */

enum { LOADED = 1, EAGER = 1 }; /* CUfunctionLoadingState, CUmoduleLoadingMode */

ptxiResult cuFuncLoad(ptxiFunction f)
{
    ptxiModule m;

    return f ? ptxiFuncGetModule(&m, f) : PTXI_ERROR_INVALID_HANDLE;
}

ptxiResult cuFuncIsLoaded(int *state, ptxiFunction f)
{
    ptxiModule m;
    ptxiResult r = ptxiFuncGetModule(&m, f);

    if (r)
        return r;
    if (!state)
        return PTXI_ERROR_INVALID_VALUE;
    *state = LOADED;
    return PTXI_SUCCESS;
}

/* No library has unified functions, which are functions that host and device share. */
ptxiResult cuLibraryGetUnifiedFunction(void **function, ptxiLibrary library, const char *symbol)
{
    unsigned count;
    ptxiResult r = ptxiLibraryGetKernelCount(&count, library);

    (void)function, (void)symbol;
    return r ? r : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult cuModuleGetLoadingMode(int *mode)
{
    if (!mode)
        return PTXI_ERROR_INVALID_VALUE;
    *mode = EAGER;
    return PTXI_SUCCESS;
}
