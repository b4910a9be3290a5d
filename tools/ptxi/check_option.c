/* The options of sanitizers, which `ptxi run` and `ptxi exec` share. They become variables of the environment, which
 * the library reads and checks. */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool set(const char *variable, const char *value)
{
    if (!setenv(variable, value, 1))
        return true;
    ptxi_cmd_error("%s: %s", variable, strerror(errno));
    return false;
}

bool ptxi_cmd_check_option(int option, const char *value)
{
    switch (option) {
    case CMD_OPT_CHECK: return set("PTXI_CHECK", value ? value : "all");
    case CMD_OPT_CHECK_FORMAT: return set("PTXI_CHECK_FORMAT", value);
    case CMD_OPT_CHECK_OUTPUT: return set("PTXI_CHECK_OUTPUT", value);
    case CMD_OPT_CHECK_RULES: return set("PTXI_CHECK_RULES", value);
    case CMD_OPT_GEN_SUPPRESSIONS:
        return set("PTXI_CHECK_FORMAT", "rules") && (!value || set("PTXI_CHECK_OUTPUT", value)) &&
               (getenv("PTXI_CHECK") || set("PTXI_CHECK", "all"));
    default: return false;
    }
}

bool ptxi_cmd_check_found(void)
{
    ptxiCheckSummary s = { .size = sizeof s };

    return ptxiCtxGetCheckSummary(NULL, &s) == PTXI_SUCCESS && s.errors + s.warnings > 0;
}
