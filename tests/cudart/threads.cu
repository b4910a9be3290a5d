// Many host threads launch, copy and allocate at once, in streams of their own and in the default stream.
#include "show.h"

#include <thread>
#include <vector>

__device__ int total;

__global__ void work(int *p, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = p[i] * 3 + value;
    if (!threadIdx.x)
        atomicAdd(&total, value);
}

enum { THREADS = 8, ROUNDS = 20, N = 500 };

static int check(int thread)
{
    cudaStream_t stream = 0;
    std::vector<int> host(N);
    int *p, expected = thread, wrong = 0, device = -1;

    MUST(cudaGetDevice(&device));
    if (thread % 2)
        MUST(cudaStreamCreate(&stream));
    for (int &x : host)
        x = thread;
    MUST(cudaMalloc(&p, N * sizeof *p));
    MUST(cudaMemcpyAsync(p, host.data(), N * sizeof *p, cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < ROUNDS; i++) {
        work<<<1, 64, 0, stream>>>(p, N, i);
        expected = (int)(expected * 3u + i);
    }
    MUST(cudaMemcpyAsync(host.data(), p, N * sizeof *p, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    for (int x : host)
        wrong += x != expected;
    MUST(cudaFree(p));
    if (stream)
        MUST(cudaStreamDestroy(stream));
    // The last error of this thread does not reach others.
    cudaMalloc((void **)nullptr, 1);
    return wrong + device + (cudaGetLastError() != cudaErrorInvalidValue);
}

int main()
{
    std::vector<std::thread> threads;
    int results[THREADS], sum;

    for (int i = 0; i < THREADS; i++)
        threads.emplace_back([&results, i] { results[i] = check(i); });
    for (std::thread &t : threads)
        t.join();
    show_ints("wrong", results, THREADS);
    MUST(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    printf("total %d\n", sum);
    SHOW(cudaGetLastError());
    return 0;
}
