// Copies of rectangles and boxes between memory with pitches: directions, offsets, and invalid pitches and extents.
#include "show.h"

static void show_rows(const char *label, const char *p, int pitch, int rows)
{
    printf("%s\n", label);
    for (int y = 0; y < rows; y++)
        printf("  %.*s\n", pitch, p + y * pitch);
}

int main()
{
    char host[4][9], back[4][9];
    char *device, *other;
    size_t pitch, other_pitch;

    MUST(cudaMallocPitch(&device, &pitch, 8, 4));
    MUST(cudaMallocPitch(&other, &other_pitch, 700, 4));
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 9; x++)
            host[y][x] = 'a' + y * 6 + x % 6;
    memset(back, '.', sizeof back);
    SHOW(cudaMemset2D(device, pitch, '-', 8, 4));
    SHOW(cudaMemcpy2D(device, pitch, host, 9, 5, 3, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(other + 1, other_pitch, device, pitch, 8, 4, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy2D(back, 9, other + 1, other_pitch, 8, 4, cudaMemcpyDeviceToHost));
    show_rows("through two rectangles", back[0], 9, 4);
    SHOW(cudaMemcpy2D(back, 9, host, 9, 9, 2, cudaMemcpyHostToHost));
    SHOW(cudaMemcpy2D(back[2], 9, device, pitch, 3, 2, cudaMemcpyDefault));
    show_rows("default", back[0], 9, 4);
    SHOW(cudaMemcpy2DAsync(back, 9, device, pitch, 2, 4, cudaMemcpyDeviceToHost, 0));
    SHOW(cudaStreamSynchronize(0));
    show_rows("async", back[0], 9, 4);

    SHOW(cudaMemcpy2D(device, 4, host, 9, 5, 3, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, pitch, host, 4, 5, 3, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, pitch, host, 4, 5, 1, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, pitch, host, 9, 0, 3, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, pitch, host, 9, 5, 0, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, pitch, host, 9, 5, 3, (cudaMemcpyKind)7));
    SHOW(cudaMemcpy2D(nullptr, pitch, host, 9, 5, 3, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy2D(device, (size_t)1 << 40, host, 9, 5, 3, cudaMemcpyHostToDevice));
    SHOW(cudaMemset2D(device, 4, 1, 5, 3));
    SHOW(cudaMemset2D(device, pitch, 1, 0, 3));
    SHOW(cudaMemset2D(nullptr, pitch, 1, 5, 3));

    // A box of 4 x 3 x 2 bytes, copied to the middle of another one.
    cudaPitchedPtr box;
    char slices[4][5][8];
    MUST(cudaMalloc3D(&box, make_cudaExtent(8, 5, 4)));
    SHOW(cudaMemset3D(box, '-', make_cudaExtent(8, 5, 4)));
    SHOW(cudaMemset3D(box, '+', make_cudaExtent(2, 1, 4)));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 9, 9, 2);
    copy.srcPos = make_cudaPos(1, 0, 0);
    copy.dstPtr = box;
    copy.dstPos = make_cudaPos(2, 2, 1);
    copy.extent = make_cudaExtent(4, 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    SHOW(cudaMemcpy3D(&copy));
    copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(slices, 8, 8, 5);
    copy.extent = make_cudaExtent(8, 5, 4);
    copy.kind = cudaMemcpyDeviceToHost;
    SHOW(cudaMemcpy3DAsync(&copy, 0));
    SHOW(cudaStreamSynchronize(0));
    show_rows("box", slices[0][0], 8, 20);
    copy.kind = cudaMemcpyHostToHost;
    SHOW(cudaMemcpy3D(&copy));
    copy.kind = cudaMemcpyDeviceToHost;
    copy.extent.depth = 0;
    SHOW(cudaMemcpy3D(&copy));
    copy.extent = make_cudaExtent(9, 1, 1);
    copy.dstPtr.pitch = 8;
    SHOW(cudaMemcpy3D(&copy));
    copy = {};
    SHOW(cudaMemcpy3D(&copy));
    SHOW(cudaMemcpy3D(nullptr));
    return 0;
}
