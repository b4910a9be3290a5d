/* The names of results and the sentences that explain them. */
#include "ptxi.h"

#include <stddef.h>

static const struct {
    int number;
    const char *name, *text;
} results[] = {
#define RESULT(name, number, text) { number, "PTXI_" #name, text },
    PTXI_RESULTS(RESULT)
#undef RESULT
};

static int find_result(ptxiResult error)
{
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].number == (int)error)
            return (int)i;
    return -1;
}

ptxiResult ptxiGetErrorName(ptxiResult error, const char **pStr)
{
    int i = find_result(error);

    if (!pStr)
        return PTXI_ERROR_INVALID_VALUE;
    *pStr = i < 0 ? NULL : results[i].name;
    return i < 0 ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}

ptxiResult ptxiGetErrorString(ptxiResult error, const char **pStr)
{
    int i = find_result(error);

    if (!pStr)
        return PTXI_ERROR_INVALID_VALUE;
    *pStr = i < 0 ? NULL : results[i].text;
    return i < 0 ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}
