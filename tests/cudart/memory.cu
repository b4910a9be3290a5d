// Device memory: alignment, pitch, 3D allocations, and the errors of allocating and freeing.
#include "show.h"

#include <cstdint>

__global__ void write_slices(cudaPitchedPtr p, int width, int height, int depth)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;

    if (x < width && y < height && z < depth)
        *((char *)p.ptr + (z * p.ysize + y) * p.pitch + x) = z * 16 + y * 4 + x;
}

int main()
{
    void *p = (void *)1, *q;
    size_t pitch = 0, free_bytes, total;
    cudaPitchedPtr box;
    char host[2][3][4];

    SHOW(cudaMalloc(&p, 100));
    printf("aligned: %d\n", (uintptr_t)p % 256 == 0);
    SHOW(cudaMalloc(&q, 1));
    printf("distinct: %d\n", p != q);
    SHOW(cudaFree(q));
    SHOW(cudaFree(p));
    SHOW(cudaFree(p));
    SHOW(cudaFree(nullptr));
    SHOW(cudaFree(host));
    p = (void *)1;
    SHOW(cudaMalloc(&p, 0));
    printf("of 0 bytes: %s\n", p ? "not NULL" : "NULL");
    p = (void *)1;
    SHOW(cudaMalloc(&p, (size_t)1 << 50));
    printf("after a failure: %s\n", p == (void *)1 ? "unchanged" : "changed");
    SHOW(cudaMalloc(&p, SIZE_MAX));
    SHOW(cudaMalloc((void **)nullptr, 100));
    SHOW(cudaGetLastError());

    SHOW(cudaMallocPitch(&p, &pitch, 100, 10));
    printf("pitch: %zu\n", pitch);
    SHOW(cudaFree(p));
    SHOW(cudaMallocPitch(&p, &pitch, 513, 10));
    printf("pitch: %zu\n", pitch);
    SHOW(cudaFree(p));
    SHOW(cudaMallocPitch(&p, &pitch, 0, 10));
    SHOW(cudaMallocPitch(&p, &pitch, 10, 0));
    SHOW(cudaMallocPitch(&p, nullptr, 10, 10));

    SHOW(cudaMalloc3D(&box, make_cudaExtent(4, 3, 2)));
    printf("box: pitch %zu xsize %zu ysize %zu\n", box.pitch, box.xsize, box.ysize);
    write_slices<<<1, dim3(4, 3, 2)>>>(box, 4, 3, 2);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(host, 4, 4, 3);
    copy.extent = make_cudaExtent(4, 3, 2);
    copy.kind = cudaMemcpyDeviceToHost;
    SHOW(cudaMemcpy3D(&copy));
    printf("box: %d %d %d\n", host[0][0][3], host[1][0][0], host[1][2][3]);
    SHOW(cudaFree(box.ptr));
    SHOW(cudaMalloc3D(&box, make_cudaExtent(0, 3, 2)));
    printf("box of width 0: %s\n", box.ptr ? "not NULL" : "NULL");

    SHOW(cudaMemGetInfo(&free_bytes, &total));
    printf("free < total: %d\n", free_bytes > 0 && free_bytes <= total);
    SHOW(cudaMemGetInfo(nullptr, nullptr));

    // The inner pointer of an allocation cannot be freed.
    MUST(cudaMalloc(&p, 1000));
    SHOW(cudaFree((char *)p + 256));
    SHOW(cudaFree(p));
    SHOW(cudaFreeHost(nullptr));
    MUST(cudaMalloc(&p, 1000));
    SHOW(cudaFreeHost(p));
    SHOW(cudaFree(p));
    return 0;
}
