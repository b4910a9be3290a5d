// --default-stream per-thread: `<<<...>>>` without a stream uses the default stream of the host thread.
#include "show.h"
#include "delay.h"

#include <thread>

__global__ void set(int *p, int value)
{
    *p = value;
}

static int *word;

static void run_in_thread()
{
    int got = 0;

    // The main thread's default stream is busy. This one is another stream, so this does not wait for the gate.
    set<<<1, 1>>>(word, 5);
    SHOW(cudaStreamSynchronize(0));
    SHOW(cudaMemcpy(&got, word, sizeof got, cudaMemcpyDeviceToHost));
    printf("thread: %d\n", got);
    SHOW(cudaMemset(word, 0, sizeof *word));
}

int main()
{
    volatile int *gate = make_gate();
    cudaEvent_t event;
    int got = 0;

    MUST(cudaMalloc(&word, sizeof *word));
    MUST(cudaEventCreate(&event));
    wait_for<<<1, 1>>>(gate);
    std::thread(run_in_thread).join();
    set<<<1, 1>>>(word, 7);
    SHOW(cudaEventRecord(event));
    SHOW(cudaStreamQuery(0));
    SHOW(cudaStreamQuery(cudaStreamPerThread));
    SHOW(cudaEventQuery(event));
    *gate = 1;
    SHOW(cudaEventSynchronize(event));
    SHOW(cudaStreamQuery(cudaStreamPerThread));
    SHOW(cudaMemcpy(&got, word, sizeof got, cudaMemcpyDeviceToHost));
    printf("main: %d\n", got);

    // The legacy stream waits for the streams of threads.
    *gate = 0;
    wait_for<<<1, 1>>>(gate);
    set<<<1, 1, 0, cudaStreamLegacy>>>(word, 9);
    SHOW(cudaStreamQuery(cudaStreamLegacy));
    *gate = 1;
    SHOW(cudaStreamSynchronize(cudaStreamLegacy));
    SHOW(cudaMemcpy(&got, word, sizeof got, cudaMemcpyDeviceToHost));
    printf("legacy: %d\n", got);
    SHOW(cudaMemcpyAsync(&got, word, sizeof got, cudaMemcpyDeviceToHost));
    SHOW(cudaDeviceSynchronize());
    return 0;
}
