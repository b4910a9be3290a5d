// cudaMemcpy with each kind of memory at both ends and each direction, right or wrong.
#include "show.h"

static const char *const places[] = { "pageable", "pinned", "device", "managed" };
static const char *const kinds[] = { "HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice", "Default" };

// Sets the bytes at both ends, copies, and checks what has arrived.
static void try_copy(char *const dst[], char *const src[], int to, int from, int kind)
{
    char got[8] = {};
    cudaError_t e;

    MUST(cudaMemcpy(src[from], "source.", 8, cudaMemcpyDefault));
    MUST(cudaMemcpy(dst[to], "target.", 8, cudaMemcpyDefault));
    e = cudaMemcpy(dst[to], src[from], 7, (cudaMemcpyKind)kind);
    cudaGetLastError();
    MUST(cudaMemcpy(got, dst[to], 8, cudaMemcpyDefault));
    printf("%s to %s, %s: %s, %s\n", places[from], places[to], kinds[kind], cudaGetErrorName(e), got);
}

int main()
{
    static char pageable[2][4096];
    char *src[4] = { pageable[0] }, *dst[4] = { pageable[1] };

    for (char **p : { src, dst }) {
        MUST(cudaMallocHost(&p[1], 4096));
        MUST(cudaMalloc(&p[2], 4096));
        MUST(cudaMallocManaged(&p[3], 4096));
    }
    for (int from = 0; from < 4; from++)
        for (int to = 0; to < 4; to++)
            for (int kind = 0; kind < 5; kind++) {
                // Kernels cannot always use pageable memory, which depends on the operating system.
                bool depends = (!from && (kind == 2 || kind == 3)) || (!to && (kind == 1 || kind == 3));
                if (!depends)
                    try_copy(dst, src, to, from, kind);
            }

    SHOW(cudaMemcpy(dst[2], src[2], 16, (cudaMemcpyKind)5));
    SHOW(cudaMemcpy(dst[2], src[2], 16, (cudaMemcpyKind)-1));
    SHOW(cudaMemcpy(dst[2], src[2], 0, (cudaMemcpyKind)5));
    SHOW(cudaMemcpy(dst[2], src[2], 0, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(nullptr, src[2], 16, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(dst[2], nullptr, 16, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));
    SHOW(cudaMemcpy(dst[2], src[0], 4097, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpyAsync(dst[2], src[1], 8, cudaMemcpyHostToDevice, 0));
    SHOW(cudaMemcpyAsync(dst[1], dst[2], 8, cudaMemcpyDeviceToHost, 0));
    SHOW(cudaStreamSynchronize(0));
    printf("%s\n", dst[1]);
    SHOW(cudaMemcpyAsync(dst[2], src[1], 8, (cudaMemcpyKind)9, 0));

    // Overlapping copies within the device, and to a place that is not aligned.
    MUST(cudaMemcpy(src[2], "0123456789", 11, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpy(src[2] + 1001, src[2] + 3, 8, cudaMemcpyDeviceToDevice));
    SHOW(cudaMemcpy(pageable[0], src[2] + 1001, 8, cudaMemcpyDeviceToHost));
    printf("%s\n", pageable[0]);
    SHOW(cudaMemcpyPeer(dst[2], 0, src[2], 0, 11));
    SHOW(cudaMemcpy(pageable[0], dst[2], 11, cudaMemcpyDeviceToHost));
    printf("%s\n", pageable[0]);
    return 0;
}
