/* Dynamic parallelism: quicksort, a queue in memory of malloc, streams of kernels, copies, and queries of the device
 * runtime. Compiled with -rdc=true, which leaves the functions of cudadevrt extern. */
#include <cuda_runtime.h>

enum { SMALL = 32 };

__device__ void insertion_sort(unsigned *v, int left, int right)
{
    for (int i = left + 1; i <= right; i++) {
        unsigned x = v[i];
        int k = i;

        for (; k > left && v[k - 1] > x; k--)
            v[k] = v[k - 1];
        v[k] = x;
    }
}

__global__ void quicksort_part(unsigned *v, int left, int right)
{
    if (right - left < SMALL) {
        insertion_sort(v, left, right);
        return;
    }
    unsigned pivot = v[(left + right) / 2];
    int l = left, r = right;

    while (l <= r) {
        while (v[l] < pivot)
            l++;
        while (v[r] > pivot)
            r--;
        if (l <= r) {
            unsigned x = v[l];

            v[l++] = v[r];
            v[r--] = x;
        }
    }
    if (left < r) {
        cudaStream_t s;

        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quicksort_part<<<1, 1, 0, s>>>(v, left, r);
        cudaStreamDestroy(s);
    }
    if (l < right)
        quicksort_part<<<1, 1, 0, cudaStreamFireAndForget>>>(v, l, right);
}

extern "C" __global__ void quicksort(const unsigned *in, unsigned *out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = in[i];
    quicksort_part<<<1, 1>>>(out, 0, n - 1);
}

/* Threads push nodes to a list. A later grid adds their values and frees them. */
struct Node {
    Node *next;
    unsigned value;
};

struct Queue {
    Node *head;
    unsigned pushed;
};

__global__ void push(Queue *q, const unsigned *in)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Node *node = (Node *)malloc(sizeof *node), *old;

    node->value = in[t];
    do {
        old = *(Node *volatile *)&q->head;
        node->next = old;
        __threadfence();
    } while (atomicCAS((unsigned long long *)&q->head, (unsigned long long)old, (unsigned long long)node) !=
             (unsigned long long)old);
    atomicAdd(&q->pushed, 1);
}

__global__ void drain(Queue *q, unsigned *out)
{
    unsigned count = 0, sum = 0, all = 0;

    for (Node *node = q->head, *next; node; node = next) {
        next = node->next;
        count++;
        sum += node->value;
        all ^= node->value;
        free(node);
    }
    out[0] = count;
    out[1] = sum;
    out[2] = all;
    out[3] = q->pushed;
    free(q);
}

extern "C" __global__ void queue(const unsigned *in, unsigned *out, int n)
{
    Queue *q = new Queue;

    q->head = nullptr;
    q->pushed = 0;
    drain<<<1, 1, 0, cudaStreamTailLaunch>>>(q, out);
    push<<<n / 64, 64>>>(q, in);
}

/* The order of grids, copies and fills in one stream, and of tail launches of children. */
__global__ void add(unsigned *v, unsigned x, unsigned times)
{
    v[threadIdx.x] = v[threadIdx.x] * times + x;
    if (threadIdx.x == 0 && x == 5)
        add<<<1, 32, 0, cudaStreamTailLaunch>>>(v, 100, 10);
}

extern "C" __global__ void order(const unsigned *in, unsigned *out, int n)
{
    if (threadIdx.x)
        return;
    cudaMemsetAsync(out, 1, n * 4, 0);
    add<<<1, 32>>>(out, 5, 2);
    add<<<1, 32>>>(out, 7, 3);
    cudaMemcpyAsync(out + 32, out, 128, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpy2DAsync(out + 64, 16, in, 32, 8, 4, cudaMemcpyDeviceToDevice, 0);
    cudaMemset2DAsync(out + 96, 16, 0xab, 8, 4, 0);
    add<<<1, 32, 0, cudaStreamTailLaunch>>>(out, 1, 1);
    cudaEvent_t e;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    cudaEventRecord(e, 0);
    cudaStreamWaitEvent(0, e, 0);
    cudaEventDestroy(e);
}

/* Copies and fills parts of arrays of 4 x 4 x 4 words. */
extern "C" __global__ void boxes(const unsigned *in, unsigned *out, int n)
{
    cudaMemcpy3DParms p = {};

    p.srcPtr = cudaPitchedPtr{ (void *)in, 16, 16, 4 };
    p.srcPos = cudaPos{ 4, 1, 0 };
    p.dstPtr = cudaPitchedPtr{ out, 16, 16, 4 };
    p.dstPos = cudaPos{ 0, 2, 1 };
    p.extent = cudaExtent{ 8, 2, 3 };
    p.kind = cudaMemcpyDeviceToDevice;
    cudaMemcpy3DAsync(&p, 0);
    cudaMemset3DAsync(cudaPitchedPtr{ out, 16, 16, 4 }, 0xcd, cudaExtent{ 4, (size_t)n, 2 }, 0);
}

__global__ void __launch_bounds__(64) limited(int *p)
{
    __shared__ int s[256];

    s[threadIdx.x] = *p;
    __syncthreads();
    *p = s[0];
}

__device__ unsigned digest(const char *text)
{
    unsigned sum = 0;

    while (*text)
        sum = sum * 31 + *text++;
    return sum;
}

/* Results of functions of the device runtime. */
extern "C" __global__ void answers(const int *in, int *out, int n)
{
    int v = -1;
    size_t z = 0;
    void *p = nullptr;
    cudaFuncAttributes a;

    out[0] = cudaGetDeviceCount(&v) * 1000 + v;
    out[1] = cudaGetDevice(&v) * 1000 + v;
    out[2] = cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0) * 1000 + v;
    out[3] = cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 1);
    out[4] = cudaGetLastError();
    out[5] = cudaGetLastError();
    out[6] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, limited, 64, 0) * 1000 + v;
    out[7] = cudaFuncGetAttributes(&a, limited);
    out[8] = (int)a.sharedSizeBytes;
    out[9] = a.maxThreadsPerBlock;
    out[10] = cudaMalloc(&p, 1000);
    out[11] = p != nullptr;
    out[12] = cudaFree(p);
    out[13] = cudaMalloc(&p, (size_t)1 << 50);
    out[14] = cudaDeviceGetLimit(&z, cudaLimitMallocHeapSize);
    out[15] = (int)z;
    limited<<<1, 65>>>(out);      /* more threads than its launch bounds */
    out[16] = cudaPeekAtLastError();
    out[17] = cudaGetLastError();
    out[18] = digest(cudaGetErrorString(cudaErrorInvalidConfiguration));
    out[19] = cudaMemcpyAsync(p, (void *)64, 4, cudaMemcpyDeviceToDevice, 0);
    cudaGetLastError();
    out[20] = digest(cudaGetErrorName(cudaErrorInvalidConfiguration));
    out[21] = digest(cudaGetErrorName(cudaSuccess));
    out[22] = digest(cudaGetErrorName((cudaError_t)12345));
    out[23] = cudaMemcpyAsync(out, in, 4, cudaMemcpyHostToDevice, 0);
    cudaGetLastError();
    (void)in;
    (void)n;
}

__global__ void faulty(int *p)
{
    p[1 << 28] = 1;
}

extern "C" __global__ void child_fails(const int *in, int *out, int n)
{
    faulty<<<1, 1>>>(out);
    (void)in;
    (void)n;
}
