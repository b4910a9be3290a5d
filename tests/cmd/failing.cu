// A program of the CUDA runtime with calls that fail: `failing launch` or `failing copy`.
#include <cstdio>
#include <cstring>

__global__ void nothing() {}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "launch"))
        nothing<<<1, 2000>>>();
    if (argc > 1 && !strcmp(argv[1], "copy"))
        cudaMemcpy(nullptr, nullptr, 16, cudaMemcpyDeviceToHost);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
