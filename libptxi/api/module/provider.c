#include "api/module/provider.h"

#include "exec/builtin/builtin.h"

static ptxi_provider *registered;

void ptxi_provider_register(ptxi_provider *provider)
{
    registered = provider;
}

ptxi_builtin *ptxi_provider_find(const char *name, void **user)
{
    ptxi_builtin *found = NULL;

    *user = NULL;
    if (registered)
        found = registered(name, user);
    return found ? found : ptxi_builtin_find(name);
}

bool ptxi_provider_is_registered(const char *name)
{
    void *user;

    return registered && registered(name, &user);
}
