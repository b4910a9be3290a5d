// cudaGetDriverEntryPoint: functions of the driver for the runtime's state, versions and flags, and what is not found.
#include "show.h"

#include <cuda.h>

static const char *status_name(cudaDriverEntryPointQueryResult r)
{
    static const char *const names[] = { "found", "symbol not found", "version not sufficient" };

    return (unsigned)r < 3 ? names[r] : "not set";
}

static void *find(const char *name, unsigned version, unsigned long long flags = cudaEnableDefault)
{
    void *f = (void *)1;
    cudaDriverEntryPointQueryResult r = (cudaDriverEntryPointQueryResult)9;
    cudaError_t e = cudaGetDriverEntryPointByVersion(name, &f, version, flags, &r);

    printf("%s %u %llu: %s, %s, %s\n", name, version, flags, cudaGetErrorName(e), status_name(r), f ? "set" : "NULL");
    return f;
}

int main()
{
    auto get_current = (CUresult (*)(CUcontext *))find("cuCtxGetCurrent", 13000);
    auto alloc = (CUresult (*)(CUdeviceptr *, size_t))find("cuMemAlloc", 12000);
    auto alloc_v1 = find("cuMemAlloc", 3000);
    CUcontext c = nullptr;
    CUdeviceptr p = 0;

    printf("versions differ: %d\n", (void *)alloc != alloc_v1);
    MUST(cudaFree(nullptr));
    CUresult result = get_current(&c);
    printf("current: %d %s\n", result, c ? "set" : "NULL");
    result = alloc(&p, 64);
    printf("allocate: %d %d\n", result, p != 0);
    SHOW(cudaMemset((void *)p, 0, 64));
    SHOW(cudaFree((void *)p));
    find("cuNoSuchFunction", 13000);
    find("", 13000);
    find("cuMemAlloc", 1);
    find("cuGraphCreate", 9000);
    find("cuStreamSynchronize", 13000, cudaEnablePerThreadDefaultStream);
    find("cuStreamSynchronize", 13000, cudaEnableLegacyStream);
    find("cuStreamSynchronize", 13000, 8);
    find("cudaMalloc", 13000);
    void *f = nullptr;
    SHOW(cudaGetDriverEntryPointByVersion("cuInit", &f, 13000, 0, nullptr));
    SHOW(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &f, 13000, 0, nullptr));
    SHOW(cudaGetLastError());
    return 0;
}
