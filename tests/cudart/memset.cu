// cudaMemset and its forms: values, sizes, kinds of memory, and errors.
#include "show.h"

int main()
{
    unsigned char *device, *pinned, *managed, host[16] = {};
    cudaStream_t stream;

    MUST(cudaMalloc(&device, 4096));
    MUST(cudaMallocHost(&pinned, 4096));
    MUST(cudaMallocManaged(&managed, 4096));
    MUST(cudaStreamCreate(&stream));
    SHOW(cudaMemset(device, 0x1ff, 16));
    SHOW(cudaMemset(device + 3, -2, 5));
    SHOW(cudaMemset(device + 4, 7, 0));
    fetch(host, device, 16);
    for (int i = 0; i < 16; i++)
        printf("%02x ", host[i]);
    printf("\n");
    SHOW(cudaMemset(pinned, 5, 10));
    SHOW(cudaMemset(managed, 6, 10));
    SHOW(cudaMemsetAsync(managed + 1, 9, 1, stream));
    SHOW(cudaDeviceSynchronize());
    printf("%d %d %d\n", pinned[9], managed[0], managed[1]);
    SHOW(cudaMemset(nullptr, 5, 10));
    SHOW(cudaMemset(nullptr, 5, 0));
    SHOW(cudaMemset(device, 5, 4097));
    SHOW(cudaMemset(device, 5, (size_t)1 << 45));
    SHOW(cudaMemset2DAsync(device, 64, 8, 4, 3, stream));
    SHOW(cudaStreamSynchronize(stream));
    fetch(host, device + 128, 5);
    printf("%d %d\n", host[3], host[4]);
    SHOW(cudaMemset2D(device, 64, 8, 65, 1));
    SHOW(cudaMemset2D(device, 64, 8, 65, 2));
    SHOW(cudaMemset2D(device, 0, 8, 0, 0));
    cudaPitchedPtr box = make_cudaPitchedPtr(device, 16, 16, 4);
    SHOW(cudaMemset3DAsync(box, 3, make_cudaExtent(8, 2, 3), stream));
    SHOW(cudaStreamSynchronize(stream));
    fetch(host, device + 2 * 64 + 16, 9);
    printf("%d %d\n", host[7], host[8]);
    SHOW(cudaMemset3D(box, 3, make_cudaExtent(17, 2, 3)));
    SHOW(cudaMemset3D(box, 3, make_cudaExtent(16, 5, 3)));
    SHOW(cudaMemset3D(box, 3, make_cudaExtent(0, 2, 3)));
    box.ptr = nullptr;
    SHOW(cudaMemset3D(box, 3, make_cudaExtent(8, 2, 3)));
    return 0;
}
