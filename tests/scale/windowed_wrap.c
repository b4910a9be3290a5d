/* windowed.c for programs that are linked with the library's objects. */
#define WINDOWED_WRAP
#include "windowed.c"
