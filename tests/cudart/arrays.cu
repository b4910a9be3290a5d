// Arrays: formats, flags, and copies between arrays and memory.
#include "show.h"

#include <cuda_fp16.h>

static void show_array(cudaArray_t a)
{
    cudaChannelFormatDesc d;
    cudaExtent e;
    unsigned flags;

    SHOW(cudaArrayGetInfo(&d, &e, &flags, a));
    printf("  bits %d %d %d %d kind %d, extent %zu %zu %zu, flags %u\n", d.x, d.y, d.z, d.w, d.f, e.width, e.height,
           e.depth, flags);
}

int main()
{
    cudaArray_t a, b, box, none;
    float host[3][4], back[3][4] = {};
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>(), c4 = cudaCreateChannelDesc<uchar4>();
    cudaChannelFormatDesc half = cudaCreateChannelDescHalf(), mixed = { 32, 16, 0, 0, cudaChannelFormatKindFloat };

    printf("half: %d %d, int2: %d %d\n", half.x, half.f, cudaCreateChannelDesc<int2>().y,
           cudaCreateChannelDesc<int2>().f);
    for (int i = 0; i < 12; i++)
        host[0][i] = i * 1.5f;
    SHOW(cudaMallocArray(&a, &f, 4, 3));
    show_array(a);
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, sizeof host[0], sizeof host[0], 3, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2DFromArray(back, sizeof back[0], a, 4, 1, 12, 2, cudaMemcpyDeviceToHost));
    show_floats("rectangle from (1, 1)", back[0], 8);
    SHOW(cudaMallocArray(&b, &f, 4, 3, cudaArraySurfaceLoadStore));
    show_array(b);
    SHOW(cudaMemcpy2DArrayToArray(b, 4, 0, a, 0, 1, 8, 2, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy2DFromArray(back, sizeof back[0], b, 4, 0, 8, 2, cudaMemcpyDeviceToHost));
    show_floats("from array to array", back[0], 6);
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, sizeof host[0], sizeof host[0] + 4, 1, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2DToArray(a, 4, 0, host, sizeof host[0], sizeof host[0], 1, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2DToArray(a, 2, 0, host, sizeof host[0], 4, 1, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, sizeof host[0], 16, 4, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, sizeof host[0], 16, 3, cudaMemcpyDeviceToHost));
    SHOW(cudaMemcpy2DToArray(a, 0, 0, host, sizeof host[0], 16, 3, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy2DToArray(nullptr, 0, 0, host, sizeof host[0], 16, 3, cudaMemcpyHostToDevice));

    SHOW(cudaMalloc3DArray(&box, &c4, make_cudaExtent(4, 3, 2)));
    show_array(box);
    unsigned words[24], got[24] = {};
    for (int i = 0; i < 24; i++)
        words[i] = i * 0x01010101;
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(words, 16, 16, 3);
    copy.dstArray = box;
    copy.extent = make_cudaExtent(4, 3, 2);
    copy.kind = cudaMemcpyHostToDevice;
    SHOW(cudaMemcpy3D(&copy));
    copy = {};
    copy.srcArray = box;
    copy.srcPos = make_cudaPos(1, 1, 1);
    copy.dstPtr = make_cudaPitchedPtr(got, 12, 12, 2);
    copy.extent = make_cudaExtent(3, 2, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    SHOW(cudaMemcpy3D(&copy));
    printf("%08x %08x %08x\n", got[0], got[3], got[5]);
    copy.srcPos.x = 2;
    SHOW(cudaMemcpy3D(&copy));

    SHOW(cudaMalloc3DArray(&none, &f, make_cudaExtent(8, 0, 5), cudaArrayLayered));
    show_array(none);
    SHOW(cudaMalloc3DArray(&none, &f, make_cudaExtent(8, 8, 6), cudaArrayCubemap));
    show_array(none);
    SHOW(cudaMalloc3DArray(&none, &f, make_cudaExtent(8, 4, 6), cudaArrayCubemap));
    SHOW(cudaMalloc3DArray(&none, &f, make_cudaExtent(8, 8, 5), cudaArrayCubemap));
    SHOW(cudaMalloc3DArray(&none, &f, make_cudaExtent(8, 0, 5)));
    SHOW(cudaMallocArray(&none, &f, 8));
    show_array(none);
    SHOW(cudaMallocArray(&none, &f, 0));
    SHOW(cudaMallocArray(&none, &f, 1 << 20));
    SHOW(cudaMallocArray(&none, &mixed, 8));
    SHOW(cudaMallocArray(&none, nullptr, 8));
    SHOW(cudaMallocArray(nullptr, &f, 8));
    SHOW(cudaMallocArray(&none, &f, 8, 8, 0x1000));
    mixed = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    SHOW(cudaMallocArray(&none, &mixed, 8));
    SHOW(cudaFreeArray(a));
    SHOW(cudaFreeArray(nullptr));
    cudaMipmappedArray_t pyramid;
    SHOW(cudaMallocMipmappedArray(&pyramid, &f, make_cudaExtent(16, 8, 0), 4));
    SHOW(cudaGetMipmappedArrayLevel(&a, pyramid, 2));
    show_array(a);
    SHOW(cudaGetMipmappedArrayLevel(&a, pyramid, 4));
    SHOW(cudaMallocMipmappedArray(&pyramid, &f, make_cudaExtent(16, 8, 0), 9));
    SHOW(cudaGetLastError());
    return 0;
}
