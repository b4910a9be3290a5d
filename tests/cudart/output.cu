// printf of kernels: formats, the order with the host's output, and what flushes it. The output is a file here.
#include "show.h"

__global__ void print(const char *what)
{
    printf("  device: %s, block %d, thread %d\n", what, blockIdx.x, threadIdx.x);
}

__global__ void formats()
{
    printf("  %d %5d|%-5d|%05d %x %#o %lld %zu\n", -3, 42, 42, 42, 255, 8, 1LL << 40, (size_t)7);
    printf("  %f %.2e %g %10.3f|%s|%c %%\n", 1.5, 12345.678, 1e-7, 3.14159, "text", 'c');
    printf("  %p %8.3s|%+d % d\n", (void *)0x1234, "abcdef", 5, 6);
    int n = printf("  three %d %d %d\n", 1, 2, 3);
    printf("  returned %d\n", n);
    printf("  nothing to print: %d\n", printf(""));
}

__global__ void from_threads()
{
    if (threadIdx.x % 16 == 3)
        printf("  thread %d\n", threadIdx.x);
}

int main()
{
    char *text;
    cudaStream_t stream;
    cudaEvent_t event;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreate(&event));
    MUST(cudaMallocManaged(&text, 64));
    strcpy(text, "managed");
    printf("before the launch\n");
    print<<<1, 2>>>(text);
    printf("after the launch\n");
    MUST(cudaDeviceSynchronize());
    printf("after cudaDeviceSynchronize\n");
    print<<<2, 1, 0, stream>>>(text);
    MUST(cudaStreamSynchronize(stream));
    printf("after cudaStreamSynchronize\n");
    print<<<1, 1, 0, stream>>>(text);
    MUST(cudaEventRecord(event, stream));
    MUST(cudaEventSynchronize(event));
    printf("after cudaEventSynchronize\n");
    formats<<<1, 1>>>();
    MUST(cudaDeviceSynchronize());
    from_threads<<<1, 64>>>();
    MUST(cudaMemset(text, 0, 8));
    MUST(cudaMemcpy(text, "other", 6, cudaMemcpyHostToDevice));
    MUST(cudaDeviceSynchronize());
    printf("end of main\n");
    print<<<1, 1>>>(text);
    MUST(cudaDeviceReset());
    printf("after cudaDeviceReset\n");
    return 0;
}
