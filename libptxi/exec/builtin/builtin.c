#include "exec/builtin/builtin.h"

#include <string.h>

#include "exec/builtin/kernel_functions.h"

ptxi_builtin *ptxi_builtin_find(const char *name)
{
    static const struct { const char *name; ptxi_builtin *function; } table[] = {
        { "vprintf", ptxi_builtin_vprintf },
        { "__assertfail", ptxi_builtin_assertfail },
        { "malloc", ptxi_builtin_malloc },
        { "free", ptxi_builtin_free },
        { "_Znwm", ptxi_builtin_malloc },   /* operator new(unsigned long) */
        { "_Znam", ptxi_builtin_malloc },   /* operator new[](unsigned long) */
        { "_ZdlPv", ptxi_builtin_free },    /* operator delete(void *) */
        { "_ZdaPv", ptxi_builtin_free },    /* operator delete[](void *) */
        { "_ZdlPvm", ptxi_builtin_free },   /* operator delete(void *, unsigned long) */
        { "_ZdaPvm", ptxi_builtin_free },   /* operator delete[](void *, unsigned long) */
        { "__usAtomicCAS", ptxi_builtin_cas16 },
    };

    for (unsigned k = 0; k < sizeof table / sizeof *table; k++)
        if (!strcmp(table[k].name, name))
            return table[k].function;
    return NULL;
}
