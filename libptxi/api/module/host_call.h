/* A host function that is bound to a declaration, and calls of it by kernels. */
#ifndef PTXI_API_MODULE_HOST_CALL_H
#define PTXI_API_MODULE_HOST_CALL_H

#include "ptxi.h"

#include "base/arena.h"
#include "exec/builtin/builtin.h"

#include <ffi.h>
#include <stdatomic.h>

/* Lives as long as bindings refer to it. */
struct ptxi_host {
    _Atomic unsigned refs;
    struct ptxi_arena arena;   /* of its types */
    ptxiHostFunction function; /* either this or the callback */
    ptxiHostCallback callback;
    void *user;
    const char *name;
    ffi_cif cif;
    ffi_type *ret, **params;
    unsigned count;
    unsigned arg_words, ret_words; /* of the declaration */
    size_t ret_bytes;              /* of the declaration */
};

void ptxi_host_unref(struct ptxi_host *h); /* NULL does nothing */

/* Calls it for the lanes of a warp, one after the other. `host` is a struct ptxi_host. */
bool ptxi_host_call(struct ptxi_builtin_call *call, void *host);

#endif
