/* Matrix product with tiles in shared memory. The sizes are not multiples of the tile.
 *
 *     ./sgemm [sgemm.ptx]
 *
 * Each element of the result is a sequence of fused multiply-adds, so the same sequence in C gives the same bits. */
#include "sample.h"

#include <math.h>
#include <string.h>

enum { M = 75, N = 131, K = 50, TILE = 16 };

static float a[M * K], b[K * N], c[M * N], want[M * N];

static void fill(float *v, int n, unsigned seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        v[i] = (float)(seed >> 8) * 0x1p-24f - 0.5f;
    }
}

static ptxiDevicePtr to_device(const void *host, size_t bytes)
{
    ptxiDevicePtr p;

    MUST(ptxiMemAlloc(&p, bytes));
    MUST(ptxiMemcpyHtoD(p, host, bytes));
    return p;
}

int main(int argc, char **argv)
{
    ptxiDevice device;
    ptxiContext context;
    ptxiModule module;
    ptxiFunction sgemm;
    int m = M, n = N, k = K;

    fill(a, M * K, 1);
    fill(b, K * N, 2);
    MUST(ptxiInit(0));
    MUST(ptxiDeviceGet(&device, 0));
    MUST(ptxiCtxCreate(&context, 0, device));
    MUST(ptxiModuleLoad(&module, PTX_PATH(argc, argv, "sgemm.ptx")));
    MUST(ptxiModuleGetFunction(&sgemm, module, "sgemm"));

    ptxiDevicePtr da = to_device(a, sizeof a), db = to_device(b, sizeof b), dc = to_device(c, sizeof c);
    void *params[] = { &m, &n, &k, &da, &db, &dc };
    MUST(ptxiLaunchKernel(sgemm, (N + TILE - 1) / TILE, (M + TILE - 1) / TILE, 1, TILE, TILE, 1, 0, NULL, params,
                          NULL));
    MUST(ptxiMemcpyDtoH(c, dc, sizeof c));

    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int x = 0; x < K; x++)
                want[i * N + j] = fmaf(a[i * K + x], b[x * N + j], want[i * N + j]);
    int right = memcmp(c, want, sizeof c) == 0;
    printf("C[0][0] = %.6f, C[%d][%d] = %.6f\n", c[0], M - 1, N - 1, c[M * N - 1]);
    printf("%d x %d x %d: %s\n", M, N, K, right ? "all bits equal to C" : "WRONG");

    MUST(ptxiMemFree(da));
    MUST(ptxiMemFree(db));
    MUST(ptxiMemFree(dc));
    MUST(ptxiModuleUnload(module));
    MUST(ptxiCtxDestroy(context));
    return !right;
}
