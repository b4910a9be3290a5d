/* Names of C++ as they are written in the source. */
#ifndef PTXI_BASE_DEMANGLE_H
#define PTXI_BASE_DEMANGLE_H

#include "base/str.h"

/* Appends a C++ name as it is written in the source, or the name itself if it is not mangled or if there is no C++
 * runtime library. Callers hold no lock. */
void ptxi_demangle(const char *name, struct ptxi_str *out);

#endif
