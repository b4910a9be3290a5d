/* Names of C++ functions that a reader writes: without mangling, and as short as they are clear. */
#ifndef PTXI_BASE_CPP_NAME_H
#define PTXI_BASE_CPP_NAME_H

#include "base/str.h"

/* How well `query` names a function, given its demangled name: 0 means not at all. Among several functions, those with
 * the greatest value are meant. From the best to the worst: the whole name; the name without types of parameters; the
 * name without arguments of templates; each of them without leading namespaces and classes. Blanks and anonymous
 * namespaces do not count. */
unsigned ptxi_cpp_name_match(const char *demangled, const char *query);

#endif
