/* Names of C++ functions in the encoding of the Itanium C++ ABI, "External Names (a.k.a. Mangling)". */
#include "run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Read a <source-name>, its length and its characters. NULL if there is none. */
static const char *read_name(const char *s, const char **name, size_t *length)
{
    char *digits_end;

    if (!isdigit((unsigned char)*s))
        return NULL;
    *length = strtoul(s, &digits_end, 10);
    *name = digits_end;
    return *length && *length <= strlen(digits_end) ? digits_end + *length : NULL;
}

bool ptxi_cmd_is_function_name(const char *symbol, const char *function)
{
    const char *name = NULL, *next;
    size_t length = 0;

    if (strncmp(symbol, "_Z", 2))
        return false;
    symbol += 2;
    bool nested = *symbol == 'N';

    symbol += nested || *symbol == 'L'; /* in a namespace or class; static */
    while ((next = read_name(symbol, &name, &length)) && nested)
        symbol = next;
    return name && length == strlen(function) && !memcmp(name, function, length);
}
