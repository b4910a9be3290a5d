/* printf in a kernel. */
#include <cstdio>

extern "C" __global__ void hello(const char *name, double scale)
{
    int t = threadIdx.x;

    printf("block %d thread %d: hello, %s\n", blockIdx.x, t, name);
    if (t == 2)
        printf("  %5d|%-5d|%05d|%+d|%x|%#X|%llu|%c|%%\n", 42, 42, 42, 42, 255u, 255u, 1ull << 40, 'p');
    if (t == 3)
        printf("  %f|%8.3f|%-10.2e|%g|%a\n", scale, scale, scale, scale * 1e10, scale);
}
