// cudaPointerGetAttributes for each kind of memory.
#include "show.h"

__device__ int variable;
__managed__ int managed_variable;

static void show_pointer(const char *what, const void *p)
{
    cudaPointerAttributes a;

    memset(&a, 0x77, sizeof a);
    cudaError_t e = cudaPointerGetAttributes(&a, p);
    printf("%s: %s, type %d, device %d, device pointer %s, host pointer %s\n", what, cudaGetErrorName(e), a.type,
           a.device, a.devicePointer == p ? "the same" : a.devicePointer ? "another" : "NULL",
           a.hostPointer == p ? "the same" : a.hostPointer ? "another" : "NULL");
}

int main()
{
    static char registered[8192] __attribute__((aligned(4096)));
    char *device, *managed, *pinned, *async;
    void *address;
    int local;

    show_pointer("stack", &local);
    MUST(cudaMalloc(&device, 1000));
    MUST(cudaMallocManaged(&managed, 1000));
    MUST(cudaMallocHost(&pinned, 1000));
    MUST(cudaHostRegister(registered, sizeof registered, 0));
    MUST(cudaMallocAsync(&async, 1000, 0));
    show_pointer("device", device);
    show_pointer("device, inner", device + 999);
    show_pointer("managed", managed);
    show_pointer("managed, inner", managed + 100);
    show_pointer("pinned", pinned);
    show_pointer("pinned, inner", pinned + 500);
    show_pointer("registered", registered);
    show_pointer("registered, inner", registered + 5000);
    show_pointer("async", async);
    MUST(cudaGetSymbolAddress(&address, variable));
    show_pointer("variable", address);
    show_pointer("host shadow of a variable", &variable);
    show_pointer("managed variable", &managed_variable);
    show_pointer("function", (void *)main);
    show_pointer("NULL", nullptr);
    MUST(cudaFree(device));
    show_pointer("freed", device);
    MUST(cudaHostUnregister(registered));
    show_pointer("unregistered", registered);
    MUST(cudaFreeHost(pinned));
    SHOW(cudaPointerGetAttributes(nullptr, managed));
    SHOW(cudaGetLastError());
    return 0;
}
