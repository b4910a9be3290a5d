// Events: order, queries, times, flags, and their errors.
#include "show.h"
#include "delay.h"

__global__ void set(int *p, int value)
{
    *p = value;
}

int main()
{
    volatile int *gate = make_gate();
    cudaEvent_t first, last, untimed, e;
    cudaStream_t a, b;
    int *word, *value;
    float ms = -1;

    MUST(cudaMalloc(&word, sizeof *word));
    MUST(cudaMallocHost(&value, sizeof *value));
    MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    SHOW(cudaEventCreate(&first));
    SHOW(cudaEventCreateWithFlags(&last, cudaEventBlockingSync));
    SHOW(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SHOW(cudaEventCreateWithFlags(&e, cudaEventInterprocess));
    SHOW(cudaEventCreateWithFlags(&e, 64));
    SHOW(cudaEventCreate(nullptr));
    SHOW(cudaGetLastError());

    // An event that was never recorded is complete, but has no time.
    SHOW(cudaEventQuery(first));
    SHOW(cudaEventSynchronize(first));
    SHOW(cudaStreamWaitEvent(b, first));
    SHOW(cudaEventElapsedTime(&ms, first, last));
    SHOW(cudaGetLastError());

    SHOW(cudaEventRecord(first, a));
    wait_for<<<1, 1, 0, a>>>(gate);
    set<<<1, 1, 0, a>>>(word, 3);
    SHOW(cudaEventRecord(last, a));
    SHOW(cudaEventRecord(untimed, a));
    SHOW(cudaStreamWaitEvent(b, last, 0));
    SHOW(cudaMemcpyAsync(value, word, sizeof *value, cudaMemcpyDefault, b));
    SHOW(cudaEventQuery(last));
    SHOW(cudaEventElapsedTime(&ms, first, last));
    SHOW(cudaPeekAtLastError());
    *gate = 1;
    SHOW(cudaEventSynchronize(last));
    SHOW(cudaStreamSynchronize(b));
    printf("value %d\n", *value);
    SHOW(cudaEventElapsedTime(&ms, first, last));
    printf("time is not negative: %d\n", ms >= 0);
    SHOW(cudaEventElapsedTime(&ms, last, first));
    printf("time is not positive: %d\n", ms <= 0);
    SHOW(cudaEventElapsedTime(&ms, first, first));
    printf("no time: %g\n", ms);
    SHOW(cudaEventElapsedTime(&ms, first, untimed));
    SHOW(cudaEventElapsedTime(nullptr, first, last));
    SHOW(cudaEventRecordWithFlags(first, a, cudaEventRecordExternal));
    SHOW(cudaEventRecordWithFlags(first, a, 8));
    SHOW(cudaStreamWaitEvent(b, first, 8));

    // An event may be recorded again, and destroyed while it is pending.
    *gate = 0;
    wait_for<<<1, 1, 0, a>>>(gate);
    SHOW(cudaEventRecord(first, a));
    SHOW(cudaEventQuery(first));
    SHOW(cudaEventDestroy(first));
    *gate = 1;
    SHOW(cudaStreamSynchronize(a));
    SHOW(cudaEventQuery(nullptr));
    SHOW(cudaEventSynchronize(nullptr));
    SHOW(cudaEventDestroy(nullptr));
    SHOW(cudaEventRecord(nullptr, a));
    SHOW(cudaGetLastError());
    return 0;
}
