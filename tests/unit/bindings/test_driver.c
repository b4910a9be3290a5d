/* Uses libcuda.so.1 as a program for the CUDA driver does: some functions are linked, others are looked up by name. */
#include "unit/support/bits.h"

#include <string.h>

/* Declarations that match the cuda.h of the toolkit except for the names of the types. */
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct kernel *CUfunction;
typedef struct stream *CUstream;
typedef unsigned long long CUdeviceptr;
enum { SUCCESS = 0, INVALID_VALUE = 1, INVALID_DEVICE = 101, NOT_FOUND = 500, NOT_SUPPORTED = 801 };
enum { PER_THREAD = 2 };

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetErrorName(int error, const char **name);
int cuCtxCreate_v4(CUcontext *ctx, void *params, unsigned flags, int dev);
int cuCtxDestroy_v2(CUcontext ctx);
int cuCtxGetDevice_v2(int *dev, CUcontext ctx);
int cuDeviceCanAccessPeer(int *accessible, int dev, int peer);
int cuModuleLoadData(CUmodule *m, const void *image);
int cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name);
int cuMemAlloc_v2(CUdeviceptr *p, size_t bytes);
int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes);
int cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared,
                        CUstream stream, void **params, void **extra);
int cuCtxSynchronize(void);
int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, uint64_t flags, int *status);
int cuStreamGetCaptureInfo(CUstream stream, int *status, unsigned long long *id);
int cuStreamGetCaptureInfo_v2(CUstream stream, int *status, unsigned long long *id, void **graph, const void **nodes,
                              size_t *count);
int cuStreamGetCaptureInfo_v3(CUstream stream, int *status, unsigned long long *id, void **graph, const void **nodes,
                              const void **data, size_t *count);
int cuGetExportTable(const void **table, const void *id);

#define ok(call) ck_assert_int_eq(call, SUCCESS)

static const char twice[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".entry twice(.param .u64 p) { .reg .u32 %i, %v; .reg .u64 %a, %o; ld.param.u64 %a, [p]; mov.u32 %i, %tid.x; "
    "mul.wide.u32 %o, %i, 4;\n"
    "add.u64 %a, %a, %o; ld.global.u32 %v, [%a]; add.u32 %v, %v, %v; st.global.u32 [%a], %v; ret; }";

START_TEST(runs_a_kernel)
{
    unsigned x[4] = { 1, 2, 3, 4 };
    CUdeviceptr p;
    CUcontext ctx;
    CUmodule m;
    CUfunction f;
    int dev = -1;

    ok(cuInit(0));
    ok(cuCtxCreate_v4(&ctx, (void *[3]){ NULL }, 0, 0)); /* CUctxCreateParams, all zeros */
    ok(cuCtxGetDevice_v2(&dev, ctx));
    ck_assert_int_eq(dev, 0);
    ok(cuModuleLoadData(&m, twice));
    ok(cuModuleGetFunction(&f, m, "twice"));
    ok(cuMemAlloc_v2(&p, sizeof x));
    ok(cuMemcpyHtoD_v2(p, x, sizeof x));
    ok(cuCtxSynchronize());
    ok(cuLaunchKernel_ptsz(f, 1, 1, 1, 4, 1, 1, 0, NULL, (void *[]){ &p }, NULL));
    ok(cuMemcpyDtoH_v2_ptds(x, p, sizeof x));
    for (unsigned i = 0; i < 4; i++)
        ck_assert_uint_eq(x[i], 2 * (i + 1));
    ok(cuCtxDestroy_v2(ctx));
}
END_TEST

START_TEST(errors_and_devices)
{
    static const char unknown_table[16];
    const void *table;
    const char *name;
    int accessible, version;

    ok(cuInit(0));
    ok(cuDriverGetVersion(&version));
    ck_assert_int_eq(version, 13000);
    ok(cuGetErrorName(218, &name));
    ck_assert_str_eq(name, "CUDA_ERROR_INVALID_PTX");
    ok(cuGetErrorName(0, &name));
    ck_assert_str_eq(name, "CUDA_SUCCESS");
    ck_assert_int_eq(cuGetErrorName(7777, &name), INVALID_VALUE);
    ok(cuDeviceCanAccessPeer(&accessible, 0, 0));
    ck_assert_int_eq(accessible, 0);
    ck_assert_int_eq(cuDeviceCanAccessPeer(&accessible, 0, 1), INVALID_DEVICE);
    ck_assert_int_eq(cuGetExportTable(&table, unknown_table), NOT_SUPPORTED);
}
END_TEST

static void *find_function(const char *symbol, int version, uint64_t flags)
{
    void *p = (void *)symbol;
    int status = -1, r = cuGetProcAddress_v2(symbol, &p, version, flags, &status);

    ck_assert_int_eq(r, p ? SUCCESS : NOT_FOUND);
    ck_assert_int_eq(status == 0, p != NULL);
    return p;
}

/* A function that is newer than the program's version of CUDA differs from one that does not exist. */
static int status_of(const char *symbol, int version)
{
    void *p;
    int status = -1;

    cuGetProcAddress_v2(symbol, &p, version, 0, &status);
    return status;
}

START_TEST(functions_are_found_by_version)
{
    ck_assert_ptr_eq(find_function("cuMemcpyHtoD", 3020, 0), (void *)cuMemcpyHtoD_v2);
    ck_assert_ptr_eq(find_function("cuMemcpyDtoH", 7000, PER_THREAD), (void *)cuMemcpyDtoH_v2_ptds);
    ck_assert_ptr_eq(find_function("cuLaunchKernel", 7000, PER_THREAD), (void *)cuLaunchKernel_ptsz);
    ck_assert_ptr_eq(find_function("cuInit", 2000, PER_THREAD), (void *)cuInit);
    ck_assert_ptr_eq(find_function("cuCtxCreate", 13000, 0), (void *)cuCtxCreate_v4);
    ck_assert_ptr_ne(find_function("cuCtxCreate", 12000, 0), (void *)cuCtxCreate_v4);
    ck_assert_ptr_ne(find_function("cuCtxCreate", 12000, 0), find_function("cuCtxCreate", 3020, 0));
    ck_assert_ptr_ne(find_function("cuCtxGetDevice", 2000, 0), (void *)cuCtxGetDevice_v2);
    ck_assert_ptr_eq(find_function("cuGetProcAddress", 12000, 0), (void *)cuGetProcAddress_v2);
    ck_assert_ptr_eq(find_function("cuGetExportTable", 3000, 0), (void *)cuGetExportTable);
    ck_assert_ptr_null(find_function("cuNoSuchCall", 13000, 0));
    ck_assert_ptr_null(find_function("cuGraphCreate", 9000, 0));
    ck_assert_int_eq(status_of("cuGraphCreate", 10000), 0);
    ck_assert_int_eq(status_of("cuNoSuchCall", 13000), 1);
    ck_assert_int_eq(status_of("cuGraphCreate", 9000), 2);
    ck_assert_int_eq(status_of("cuMemAlloc", 1), 2);
    ck_assert_int_eq(status_of("cuStreamGetCaptureInfo", 10000), 2);
    ck_assert_ptr_eq(find_function("cuStreamGetCaptureInfo", 10010, 0), (void *)cuStreamGetCaptureInfo);
    ck_assert_ptr_eq(find_function("cuStreamGetCaptureInfo", 11030, 0), (void *)cuStreamGetCaptureInfo_v2);
    ck_assert_ptr_eq(find_function("cuStreamGetCaptureInfo", 13000, 0), (void *)cuStreamGetCaptureInfo_v3);
    ck_assert_ptr_ne(find_function("cuStreamGetCaptureInfo", 13000, PER_THREAD), (void *)cuStreamGetCaptureInfo_v3);
    ck_assert_ptr_null(find_function("cuStreamGetCaptureInfo", 10000, PER_THREAD));
    ck_assert_int_eq(cuGetProcAddress_v2(NULL, NULL, 0, 0, NULL), INVALID_VALUE);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("driver");
    TCase *t = tcase_create("driver");

    tcase_add_test(t, runs_a_kernel);
    tcase_add_test(t, errors_and_devices);
    tcase_add_test(t, functions_are_found_by_version);
    suite_add_tcase(s, t);
    return run_suite(s);
}
