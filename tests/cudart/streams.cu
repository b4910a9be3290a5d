// Streams: flags, priorities, queries, order within and between streams, and the legacy default stream.
#include "show.h"
#include "delay.h"

__global__ void append(int *log, int *n, int value)
{
    log[atomicAdd(n, 1)] = value;
}

int main()
{
    cudaStream_t a, b, free_running, high;
    int *log, *n, host[8] = {}, least, greatest, priority;
    unsigned flags = 9;
    unsigned long long id_a, id_b;
    volatile int *gate = make_gate();

    MUST(cudaMallocManaged(&log, 64));
    MUST(cudaMalloc(&n, sizeof *n));
    MUST(cudaMemset(n, 0, sizeof *n));
    SHOW(cudaStreamCreate(&a));
    SHOW(cudaStreamCreateWithFlags(&b, cudaStreamDefault));
    SHOW(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
    SHOW(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    printf("priorities %d to %d\n", least, greatest);
    SHOW(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -100));
    SHOW(cudaStreamGetPriority(high, &priority));
    printf("priority %d\n", priority);
    SHOW(cudaStreamGetFlags(high, &flags));
    printf("flags %u\n", flags);
    SHOW(cudaStreamGetFlags(nullptr, &flags));
    printf("flags %u\n", flags);
    SHOW(cudaStreamGetFlags(cudaStreamPerThread, &flags));
    printf("flags %u\n", flags);
    SHOW(cudaStreamGetPriority(nullptr, &priority));
    printf("priority %d\n", priority);
    SHOW(cudaStreamGetId(a, &id_a));
    SHOW(cudaStreamGetId(b, &id_b));
    printf("ids differ: %d\n", id_a != id_b);
    int device = -1;
    SHOW(cudaStreamGetDevice(a, &device));
    printf("device %d\n", device);

    // The null stream waits for blocking streams, and these wait for the null stream.
    wait_for<<<1, 1, 0, a>>>(gate);
    append<<<1, 1, 0, a>>>(log, n, 1);
    append<<<1, 1>>>(log, n, 2);
    append<<<1, 1, 0, b>>>(log, n, 3);
    SHOW(cudaStreamQuery(a));
    SHOW(cudaStreamQuery(nullptr));
    SHOW(cudaStreamQuery(b));
    SHOW(cudaStreamQuery(free_running));
    SHOW(cudaGetLastError());
    append<<<1, 1, 0, free_running>>>(log, n, 0);
    SHOW(cudaStreamSynchronize(free_running));
    *gate = 1;
    SHOW(cudaStreamSynchronize(b));
    SHOW(cudaStreamQuery(a));
    MUST(cudaMemcpy(host, log, 16, cudaMemcpyDeviceToHost));
    show_ints("order", host, 4);

    SHOW(cudaStreamCreate(nullptr));
    SHOW(cudaStreamCreateWithFlags(&a, 2));
    SHOW(cudaStreamCreateWithPriority(&b, 7, 0));
    SHOW(cudaStreamDestroy(nullptr));
    SHOW(cudaStreamDestroy(cudaStreamLegacy));
    SHOW(cudaStreamDestroy(cudaStreamPerThread));
    SHOW(cudaStreamSynchronize(cudaStreamLegacy));
    SHOW(cudaStreamSynchronize(cudaStreamPerThread));
    SHOW(cudaGetLastError());

    // A stream may be destroyed while it has work. The work is completed.
    *gate = 0;
    wait_for<<<1, 1, 0, high>>>(gate);
    append<<<1, 1, 0, high>>>(log, n, 5);
    SHOW(cudaStreamDestroy(high));
    *gate = 1;
    SHOW(cudaDeviceSynchronize());
    printf("log %d\n", log[4]);

    // Attributes
    cudaStreamAttrValue v = {};
    SHOW(cudaStreamGetAttribute(free_running, cudaLaunchAttributeSynchronizationPolicy, &v));
    printf("policy %d\n", v.syncPolicy);
    v.syncPolicy = cudaSyncPolicyYield;
    SHOW(cudaStreamSetAttribute(free_running, cudaLaunchAttributeSynchronizationPolicy, &v));
    v.syncPolicy = cudaSyncPolicyAuto;
    SHOW(cudaStreamCopyAttributes(a, free_running));
    SHOW(cudaStreamGetAttribute(a, cudaLaunchAttributeSynchronizationPolicy, &v));
    printf("policy %d\n", v.syncPolicy);
    return 0;
}
