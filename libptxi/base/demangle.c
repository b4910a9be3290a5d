/* Itanium C++ ABI, "Demangler API". The C++ runtime library is loaded when the first name needs it, so that it is not a
 * dependency of this library. */
#include "base/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *name, char *buffer, size_t *size, int *status);

static demangler *find_demangler(void)
{
    static const char name[] = "__cxa_demangle";
    void *found = dlsym(RTLD_DEFAULT, name), *library;

    if (!found && (library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL)))
        found = dlsym(library, name);
    return (demangler *)found;
}

void ptxi_demangle(const char *name, struct ptxi_str *out)
{
    demangler *demangle = strncmp(name, "_Z", 2) ? NULL : find_demangler();
    int status = -1;
    char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;

    ptxi_str_puts(out, text && !status ? text : name);
    free(text);
}
