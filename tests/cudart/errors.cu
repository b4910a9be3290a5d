// Names and texts of all errors.
#include "show.h"

int main()
{
    for (int i = -1; i <= 1100; i++) {
        const char *name = cudaGetErrorName((cudaError_t)i), *text = cudaGetErrorString((cudaError_t)i);

        if (strcmp(name, "unrecognized error code"))
            printf("%d %s: %s\n", i, name, text);
    }
    printf("unknown: %s: %s\n", cudaGetErrorName((cudaError_t)12345), cudaGetErrorString((cudaError_t)12345));
    return 0;
}
