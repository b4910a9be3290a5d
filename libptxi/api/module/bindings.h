/* The bindings of a module's functions without a body: to host functions, or to functions that the library provides.
 * Each change makes new ones, so that a launch keeps those that it was created with. */
#ifndef PTXI_API_MODULE_BINDINGS_H
#define PTXI_API_MODULE_BINDINGS_H

#include "api/module/host_call.h"
#include "api/module/module.h"

struct ptxi_bindings {
    _Atomic unsigned refs;
    uint64_t id;
    uint32_t count;
    struct ptxi_host **hosts; /* by function, references or NULL */
    struct ptxi_binding at[]; /* by function */
};

/* The module's current bindings, with a reference for the caller. NULL if there is no memory. */
struct ptxi_bindings *ptxi_bindings_of(ptxiModule m);
struct ptxi_bindings *ptxi_bindings_current(ptxiModule m); /* without a reference; under the module's lock */

/* New bindings with one reference and the same hosts as `from`, which may be NULL. NULL if there is no memory. */
struct ptxi_bindings *ptxi_bindings_copy(ptxiModule m, const struct ptxi_bindings *from);

/* Takes the reference to `h`. NULL binds the function that the library provides under that name, if there is one. */
void ptxi_bindings_set(ptxiModule m, struct ptxi_bindings *b, uint32_t function, struct ptxi_host *h);

void ptxi_bindings_unref(struct ptxi_bindings *b); /* NULL does nothing */

#endif
