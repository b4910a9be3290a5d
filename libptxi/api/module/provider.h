/* The functions that the library itself provides for kernels: printf, malloc, the device runtime. */
#ifndef PTXI_API_MODULE_PROVIDER_H
#define PTXI_API_MODULE_PROVIDER_H

#include "exec/sched/workers.h"

/* Finds the function of that name, or returns NULL. `*user` is to be passed to each call of the function. */
typedef ptxi_builtin *ptxi_provider(const char *name, void **user);

/* Adds the functions of a higher floor. ptxiInit() does this, before there are modules. */
void ptxi_provider_register(ptxi_provider *provider);

/* Whether a function of this name is one of the registered provider. */
bool ptxi_provider_is_registered(const char *name);

/* Looks in the registered provider, then among the functions of exec/builtin. */
ptxi_provider ptxi_provider_find;

#endif
