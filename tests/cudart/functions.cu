// Attributes of kernels, handles of kernels, names, and parameters.
#include "show.h"

struct Big {
    char bytes[20];
};

__constant__ char constants[1000];

__global__ void plain(int *p)
{
    *p = constants[3];
}

__global__ void with_shared(int *p)
{
    __shared__ int words[300];

    words[threadIdx.x] = *p;
    __syncthreads();
    *p = words[threadIdx.x ^ 1];
}

__global__ void __launch_bounds__(96) bounded(char a, double b, Big c, int *p)
{
    *p = a + (int)b + c.bytes[3];
}

__global__ void __cluster_dims__(2, 1, 1) clustered(int *p)
{
    *p = 3;
}

static void show_attributes(const char *name, const void *f)
{
    cudaFuncAttributes a;
    cudaError_t e = cudaFuncGetAttributes(&a, f);

    printf("%s: %s\n", name, cudaGetErrorName(e));
    if (e)
        return;
    printf("  shared %zu, constant %zu, local %zu, threads %d, dynamic %d, registers %d, carveout %d\n",
           a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, a.maxDynamicSharedSizeBytes,
           a.numRegs > 0, a.preferredShmemCarveout);
    printf("  clusters: %d, %d x %d x %d, policy %d, non-portable %d\n", a.clusterDimMustBeSet, a.requiredClusterWidth,
           a.requiredClusterHeight, a.requiredClusterDepth, a.clusterSchedulingPolicyPreference,
           a.nonPortableClusterSizeAllowed);
}

int main()
{
    show_attributes("plain", (void *)plain);
    show_attributes("with_shared", (void *)with_shared);
    show_attributes("bounded", (void *)bounded);
    show_attributes("clustered", (void *)clustered);
    show_attributes("main", (void *)main);
    show_attributes("NULL", nullptr);
    SHOW(cudaFuncGetAttributes(nullptr, plain));

    SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    show_attributes("plain", (void *)plain);
    SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    SHOW(cudaFuncSetAttribute(plain, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    SHOW(cudaFuncSetAttribute(plain, (cudaFuncAttribute)0, 1));
    SHOW(cudaFuncSetAttribute(plain, (cudaFuncAttribute)99, 1));
    SHOW(cudaFuncSetAttribute((const void *)main, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
    SHOW(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferL1));
    SHOW(cudaFuncSetCacheConfig(plain, (cudaFuncCache)9));

    const char *name = nullptr;
    size_t offset, size;
    SHOW(cudaFuncGetName(&name, (const void *)plain));
    printf("%s\n", name);
    for (int i = 0; i < 5; i++)
        if (!SHOW(cudaFuncGetParamInfo((const void *)bounded, i, &offset, &size)))
            printf("parameter %d: %zu bytes at %zu\n", i, size, offset);

    // A handle can be launched in place of the host function.
    cudaKernel_t kernel;
    cudaFunction_t function;
    int *p, host[1];
    MUST(cudaMalloc(&p, sizeof *p));
    SHOW(cudaGetKernel(&kernel, plain));
    SHOW(cudaGetKernel(&kernel, (const void *)main));
    SHOW(cudaGetKernel(&kernel, clustered));
    SHOW(cudaGetFuncBySymbol(&function, (const void *)bounded));
    void *args[] = { &p };
    SHOW(cudaLaunchKernel((const void *)kernel, dim3(2), dim3(1), args, 0, 0));
    fetch(host, p, 1);
    printf("%d\n", host[0]);
    SHOW(cudaLaunchKernel((const void *)kernel, dim3(3), dim3(1), args, 0, 0));
    SHOW(cudaGetLastError());
    return 0;
}
