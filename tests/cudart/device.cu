// Properties and attributes of the device that every device of compute capability 9.0 has, and errors.
#include "show.h"

#define PROPERTY(member) printf("%s %lld\n", #member, (long long)p.member)
#define ATTRIBUTE(name) (value = -1, SHOW(cudaDeviceGetAttribute(&value, name, 0)), printf("  %d\n", value))

int main()
{
    cudaDeviceProp p;
    int value = -1, count = -1;
    unsigned flags = 99;

    SHOW(cudaGetDeviceCount(&count));
    printf("devices: %d\n", count);
    SHOW(cudaGetDevice(&value));
    printf("device %d\n", value);
    SHOW(cudaGetDeviceProperties(&p, 0));
    printf("name %d memory %d processors %d\n", p.name[0] != 0, p.totalGlobalMem > 0, p.multiProcessorCount > 0);
    PROPERTY(major);
    PROPERTY(minor);
    PROPERTY(warpSize);
    PROPERTY(sharedMemPerBlock);
    PROPERTY(sharedMemPerBlockOptin);
    PROPERTY(sharedMemPerMultiprocessor);
    PROPERTY(reservedSharedMemPerBlock);
    PROPERTY(regsPerBlock);
    PROPERTY(regsPerMultiprocessor);
    PROPERTY(maxThreadsPerBlock);
    PROPERTY(maxThreadsPerMultiProcessor);
    PROPERTY(maxBlocksPerMultiProcessor);
    PROPERTY(maxThreadsDim[0]);
    PROPERTY(maxThreadsDim[2]);
    PROPERTY(maxGridSize[0]);
    PROPERTY(maxGridSize[1]);
    PROPERTY(totalConstMem);
    PROPERTY(memPitch);
    PROPERTY(textureAlignment);
    PROPERTY(texturePitchAlignment);
    PROPERTY(surfaceAlignment);
    PROPERTY(maxTexture1D);
    PROPERTY(maxTexture2D[0]);
    PROPERTY(maxTexture2D[1]);
    PROPERTY(maxTexture3D[2]);
    PROPERTY(maxTexture1DLayered[1]);
    PROPERTY(maxTexture2DLinear[2]);
    PROPERTY(maxTextureCubemap);
    PROPERTY(maxSurface2D[0]);
    PROPERTY(maxSurfaceCubemapLayered[1]);
    PROPERTY(unifiedAddressing);
    PROPERTY(managedMemory);
    PROPERTY(concurrentManagedAccess);
    PROPERTY(canMapHostMemory);
    PROPERTY(cooperativeLaunch);
    PROPERTY(clusterLaunch);
    PROPERTY(concurrentKernels);
    PROPERTY(streamPrioritiesSupported);
    PROPERTY(computePreemptionSupported);
    PROPERTY(globalL1CacheSupported);
    PROPERTY(localL1CacheSupported);
    PROPERTY(memoryPoolsSupported);
    PROPERTY(hostRegisterSupported);
    PROPERTY(integrated);

    ATTRIBUTE(cudaDevAttrMaxThreadsPerBlock);
    ATTRIBUTE(cudaDevAttrComputeCapabilityMajor);
    ATTRIBUTE(cudaDevAttrKernelExecTimeout);
    ATTRIBUTE(cudaDevAttrComputeMode);
    ATTRIBUTE(cudaDevAttrMemSyncDomainCount);
    ATTRIBUTE(cudaDevAttrCooperativeLaunch);
    ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    ATTRIBUTE((cudaDeviceAttr)0);
    ATTRIBUTE((cudaDeviceAttr)5000);
    SHOW(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0));
    SHOW(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
    SHOW(cudaGetDeviceProperties(&p, 99));
    SHOW(cudaGetDeviceProperties(&p, -1));
    SHOW(cudaSetDevice(99));
    SHOW(cudaSetDevice(-1));
    SHOW(cudaSetDevice(0));
    SHOW(cudaGetDevice(nullptr));
    SHOW(cudaGetDeviceCount(nullptr));
    SHOW(cudaGetDeviceFlags(&flags));
    printf("flags %u\n", flags);
    SHOW(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    SHOW(cudaGetDeviceFlags(&flags));
    printf("flags %u\n", flags);
    SHOW(cudaSetDeviceFlags(0x4000));
    memset(&p, 0, sizeof p);
    SHOW(cudaChooseDevice(&value, &p));
    printf("device %d\n", value);
    int version = 0;
    SHOW(cudaRuntimeGetVersion(&version));
    printf("runtime %d\n", version / 1000);
    SHOW(cudaDriverGetVersion(&version));
    printf("driver is new enough: %d\n", version >= 13000);
    int list[] = { 0 };
    SHOW(cudaSetValidDevices(list, 1));
    SHOW(cudaSetValidDevices(list, 100));
    list[0] = 50;
    SHOW(cudaSetValidDevices(list, 1));
    SHOW(cudaInitDevice(0, 0, 0));
    SHOW(cudaInitDevice(99, 0, 0));
    SHOW(cudaInitDevice(0, 0, 9));
    char id[64] = {};
    SHOW(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    SHOW(cudaDeviceGetByPCIBusId(&value, id));
    printf("device %d\n", value);
    SHOW(cudaDeviceGetByPCIBusId(&value, "nonsense"));
    SHOW(cudaGetLastError());
    return 0;
}
