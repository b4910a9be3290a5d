// Managed memory: host and device use the same pointer; __managed__ variables; flags, advice and prefetch.
#include "show.h"

__managed__ int counter = 40;
__managed__ int table[4] = { 1, 2, 3, 4 };

__global__ void add(int *p, int n)
{
    if (threadIdx.x < n)
        p[threadIdx.x] += threadIdx.x;
    if (!threadIdx.x)
        counter += table[3];
}

struct Node {
    Node *next;
    int value;
};

__global__ void sum_list(const Node *n, int *sum)
{
    for (*sum = 0; n; n = n->next)
        *sum += n->value;
}

int main()
{
    int *p = nullptr, *sum;
    Node *list = nullptr;
    cudaPointerAttributes a;

    printf("before any call: %d %d\n", counter, table[2]);
    counter++;
    SHOW(cudaMallocManaged(&p, 64 * sizeof *p));
    for (int i = 0; i < 64; i++)
        p[i] = i;
    add<<<1, 64>>>(p, 64);
    MUST(cudaDeviceSynchronize());
    printf("%d %d %d\n", p[1], p[63], counter);

    MUST(cudaMallocManaged(&sum, sizeof *sum));
    for (int i = 1; i <= 10; i++) {
        Node *n;
        MUST(cudaMallocManaged(&n, sizeof *n));
        n->next = list;
        n->value = i;
        list = n;
    }
    sum_list<<<1, 1>>>(list, sum);
    MUST(cudaDeviceSynchronize());
    printf("list: %d\n", *sum);

    SHOW(cudaPointerGetAttributes(&a, p));
    printf("type %d same %d\n", a.type, a.devicePointer == a.hostPointer && a.hostPointer == p);
    SHOW(cudaPointerGetAttributes(&a, &counter));
    printf("type %d\n", a.type);
    void *address;
    size_t bytes;
    SHOW(cudaGetSymbolAddress(&address, counter));
    SHOW(cudaGetSymbolSize(&bytes, table));
    printf("same address %d, %zu bytes\n", address == (void *)&counter, bytes);

    SHOW(cudaMallocManaged(&sum, 64, cudaMemAttachHost));
    SHOW(cudaFree(sum));
    SHOW(cudaMallocManaged(&sum, 64, 0));
    SHOW(cudaMallocManaged(&sum, 64, 3));
    SHOW(cudaMallocManaged(&sum, 0));
    SHOW(cudaMallocManaged((int **)nullptr, 64));
    SHOW(cudaStreamAttachMemAsync(nullptr, p));
    SHOW(cudaStreamAttachMemAsync(nullptr, p, 0, cudaMemAttachGlobal));

    cudaMemLocation here = { cudaMemLocationTypeDevice, 0 }, host = { cudaMemLocationTypeHost, 0 };
    SHOW(cudaMemPrefetchAsync(p, 256, here, 0));
    SHOW(cudaMemPrefetchAsync(p, 256, host, 0));
    SHOW(cudaMemAdvise(p, 256, cudaMemAdviseSetReadMostly, here));
    SHOW(cudaMemAdvise(p, 256, cudaMemAdviseSetPreferredLocation, here));
    int value = -1;
    SHOW(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, p, 256));
    printf("read mostly: %d\n", value);
    SHOW(cudaMemset(p, 1, 256));
    SHOW(cudaDeviceSynchronize());
    printf("filled: %x\n", p[3]);
    SHOW(cudaFree(p));
    return 0;
}
