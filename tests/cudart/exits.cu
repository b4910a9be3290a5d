// The program ends while work is queued: the status of exit() is kept. Output of kernels that have not ended is lost.
#include "show.h"

#include <cstdlib>

__global__ void spin(int *p)
{
    for (int i = 0; i < 1000; i++) {
        __nanosleep(1000);
        atomicAdd(p, 1);
    }
}

static void at_exit()
{
    printf("at exit: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
}

int main()
{
    int *p;
    cudaStream_t stream;

    atexit(at_exit);
    MUST(cudaMalloc(&p, sizeof *p));
    MUST(cudaMemset(p, 0, sizeof *p));
    MUST(cudaStreamCreate(&stream));
    for (int i = 0; i < 50; i++)
        spin<<<4, 32, 0, stream>>>(p);
    MUST(cudaMemcpyAsync(p, p, 4, cudaMemcpyDeviceToDevice, stream));
    printf("end of main\n");
    exit(17);
}
