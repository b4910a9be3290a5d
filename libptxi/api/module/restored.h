/* Variables of a snapshot whose module has not been loaded yet. When a module with the same text and options is loaded,
 * it gets these variables, with their addresses and contents, instead of new ones. */
#ifndef PTXI_API_MODULE_RESTORED_H
#define PTXI_API_MODULE_RESTORED_H

#include "api/module/module.h"

struct ptxi_restored {
    struct ptxi_restored *next;
    uint64_t hash;      /* ptxi_module_hash() */
    uint64_t functions; /* the address of the first function */
    uint64_t constants; /* the address of the constant bank, or 0 */
    uint32_t count;
    uint64_t globals[]; /* addresses, 0: without storage */
};

/* A hash of the text, the options and the device, which decide the module's variables. It is the same in all
 * processes. */
uint64_t ptxi_module_hash(const struct ptxiModule_st *m);

/* Gives the module the variables that were restored for it. False: there are none; the module has not changed. */
bool ptxi_restored_take(struct ptxiModule_st *m);

/* Reserves addresses for functions, anywhere (`at` 0) or there. NULL: there is no memory, or they are in use. */
char *ptxi_restored_reserve(uint64_t at, size_t bytes);
void ptxi_restored_unreserve(char *addresses, size_t bytes); /* NULL does nothing */

void ptxi_restored_free_all(ptxiContext ctx);

#endif
