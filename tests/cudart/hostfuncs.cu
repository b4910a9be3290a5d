// Host functions in streams: order, arguments, calls of the runtime within them, and the older callbacks.
#include "show.h"
#include "delay.h"

__global__ void add(int *p, int value)
{
    *p += value;
}

static int *word;
static int seen[8], count;

static void note(void *arg)
{
    seen[count++] = *word * 100 + (int)(long)arg;
}

// Host functions must not call the runtime.
static void call_runtime(void *)
{
    void *p;

    printf("in a host function: cudaMalloc: %s\n", cudaGetErrorName(cudaMalloc(&p, 16)));
    printf("in a host function: cudaStreamQuery: %s\n", cudaGetErrorName(cudaStreamQuery(0)));
    printf("in a host function: cudaGetDevice: %s\n", cudaGetErrorName(cudaGetDevice((int *)&p)));
}

static void callback(cudaStream_t stream, cudaError_t status, void *arg)
{
    printf("callback: %s, argument %ld, stream %s\n", cudaGetErrorName(status), (long)arg, stream ? "given" : "NULL");
}

int main()
{
    volatile int *gate = make_gate();
    cudaStream_t a, b;

    MUST(cudaMallocManaged(&word, sizeof *word));
    *word = 0;
    MUST(cudaStreamCreate(&a));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    wait_for<<<1, 1, 0, a>>>(gate);
    add<<<1, 1, 0, a>>>(word, 1);
    SHOW(cudaLaunchHostFunc(a, note, (void *)7));
    add<<<1, 1, 0, a>>>(word, 1);
    SHOW(cudaLaunchHostFunc(a, note, (void *)8));
    SHOW(cudaStreamQuery(a));
    *gate = 1;
    SHOW(cudaStreamSynchronize(a));
    show_ints("seen", seen, count);
    // Callbacks and host functions that print wait until the result of the call is printed.
    *gate = 0;
    wait_for<<<1, 1, 0, a>>>(gate);
    SHOW(cudaStreamAddCallback(a, callback, (void *)5, 0));
    *gate = 1;
    SHOW(cudaStreamSynchronize(a));
    *gate = 0;
    wait_for<<<1, 1>>>(gate);
    SHOW(cudaStreamAddCallback(nullptr, callback, (void *)6, 0));
    *gate = 1;
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaStreamAddCallback(a, callback, nullptr, 1));
    SHOW(cudaStreamAddCallback(a, nullptr, nullptr, 0));
    SHOW(cudaLaunchHostFunc(a, nullptr, nullptr));
    SHOW(cudaGetLastError());
    *gate = 0;
    wait_for<<<1, 1, 0, b>>>(gate);
    SHOW(cudaLaunchHostFunc(b, call_runtime, nullptr));
    *gate = 1;
    SHOW(cudaStreamSynchronize(b));
    SHOW(cudaGetLastError());

    // A host function of a stream without other work runs, too, and other streams do not wait for it.
    count = 0;
    SHOW(cudaLaunchHostFunc(b, note, (void *)1));
    SHOW(cudaDeviceSynchronize());
    show_ints("seen", seen, count);
    return 0;
}
