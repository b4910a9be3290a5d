/* Tests libnvrtc and libnvJitLink with NVIDIA's libraries: GPU code of NVRTC is PTX, and LTO-IR is linked. Without the
 * libraries, the test is skipped. */
#include "standins.h"

struct nvrtc_program;
#define FUNCTION(name, parameters, arguments) int nvrtc##name parameters;
#define OWN FUNCTION
#include "../../bindings/nvrtc/functions.def"
#undef FUNCTION
#undef OWN
const char *nvrtcGetErrorString(int result);

static const char whole[] = "extern \"C\" __global__ void k(int *p) { p[threadIdx.x] = 3 * p[threadIdx.x] + 1; }";
static const char caller[] = "extern \"C\" __device__ int triple(int);\n"
                             "extern \"C\" __global__ void k(int *p) { p[threadIdx.x] = triple(p[threadIdx.x]) + 1; }";
static const char callee[] = "extern \"C\" __device__ int triple(int x) { return 3 * x; }";

static struct nvrtc_program *compile(const char *source, int count, const char *const *options)
{
    struct nvrtc_program *program = NULL;

    CHECK(!nvrtcCreateProgram(&program, source, "test.cu", 0, NULL, NULL));
    CHECK(!nvrtcCompileProgram(program, count, options));
    return program;
}

typedef int get_size(struct nvrtc_program *, size_t *);
typedef int get_text(struct nvrtc_program *, char *);

static char *take(struct nvrtc_program *program, get_size *size_of, get_text *text_of, size_t *size)
{
    char *result;

    CHECK(!size_of(program, size) && *size);
    result = malloc(*size);
    CHECK(result && !text_of(program, result) && !nvrtcDestroyProgram(&program));
    return result;
}

static void test_cubin(int count, const char *const *options)
{
    size_t size;
    char *image = take(compile(whole, count, options), nvrtcGetCUBINSize, nvrtcGetCUBIN, &size);

    CHECK(strlen(image) == size - 1 && strstr(image, ".target sm_80"));
    run_image(image);
    free(image);
}

static void test_architectures(void)
{
    static const char *const forms[][3] = {
        { "-arch=sm_80" }, { "--gpu-architecture=sm_80" }, { "-arch", "sm_80" }, { "--gpu-architecture", "sm_80" },
        { "-arch=compute_80" }, { "-DX=-arch", "-arch=sm_80", "-lineinfo" },
    };

    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++)
        test_cubin(1 + !!forms[i][1] + !!forms[i][2], forms[i]);
}

static void test_failure(void)
{
    static const char *const options[] = { "-arch=sm_80" };
    struct nvrtc_program *program = NULL;

    CHECK(!nvrtcCreateProgram(&program, "foo", NULL, 0, NULL, NULL));
    CHECK(!strcmp(nvrtcGetErrorString(nvrtcCompileProgram(program, 1, options)), "NVRTC_ERROR_COMPILATION"));
    CHECK(!nvrtcDestroyProgram(&program));
}

/* Returns false if NVIDIA's nvJitLink is missing. */
static bool add_lto(struct nvJitLink *link, const char *source)
{
    static const char *const options[] = { "-arch=sm_80", "-dlto", "-rdc=true" };
    size_t size;
    char *lto = take(compile(source, 3, options), nvrtcGetLTOIRSize, nvrtcGetLTOIR, &size);
    int error = nvJitLinkAddData(link, INPUT_LTOIR, lto, size, "test.ltoir");

    free(lto);
    if (error)
        check_log(link, "is not installed");
    return !error;
}

static bool test_lto(void)
{
    static const char *const options[] = { "-arch=sm_80", "-lto", "-ptx" };
    struct nvJitLink *link = create_link(2, options);
    size_t size;
    char *ptx;

    if (!add_lto(link, caller))
        return false;
    CHECK(add_lto(link, callee));
    finish_link(&link);
    /* PTX of the whole program. */
    link = create_link(3, options);
    CHECK(add_lto(link, caller) && add_lto(link, callee) && nvJitLinkComplete(link) == SUCCESS);
    CHECK(nvJitLinkGetLinkedCubinSize(link, &size) == ERROR_INTERNAL);
    CHECK(nvJitLinkGetLinkedPtxSize(link, &size) == SUCCESS && size);
    ptx = malloc(size);
    CHECK(ptx && nvJitLinkGetLinkedPtx(link, ptx) == SUCCESS && !ptx[size - 1]);
    CHECK(nvJitLinkDestroy(&link) == SUCCESS);
    run_image(ptx);
    free(ptx);
    return true;
}

/* LTO-IR that calls PTX. */
static void test_mixed(void)
{
    static const char *const link_options[] = { "-arch=sm_80", "-lto", "-ptx" };
    static const char *const options[] = { "-arch=sm_80", "-rdc=true" };
    struct nvJitLink *link = create_link(2, link_options);
    size_t size;
    char *ptx = take(compile(callee, 2, options), nvrtcGetPTXSize, nvrtcGetPTX, &size);

    CHECK(add_lto(link, caller) && nvJitLinkAddData(link, INPUT_PTX, ptx, size, "callee.ptx") == SUCCESS);
    finish_link(&link);
    link = create_link(3, link_options);
    CHECK(add_lto(link, caller) && nvJitLinkAddData(link, INPUT_PTX, ptx, size, "callee.ptx") == SUCCESS);
    CHECK(nvJitLinkComplete(link) == ERROR_INCORRECT_INPUT_TYPE);
    check_log(link, "-ptx requires that all inputs have LTOIR");
    CHECK(nvJitLinkDestroy(&link) == SUCCESS);
    free(ptx);
}

int main(void)
{
    enum { SKIPPED = 77 };
    int major, minor;

    if (nvrtcVersion(&major, &minor)) {
        puts("tests/standins/compile skipped: NVRTC is not installed");
        return SKIPPED;
    }
    CHECK(major == 13);
    test_architectures();
    test_failure();
    if (!test_lto()) {
        puts("tests/standins/compile: NVRTC passed; LTO skipped: nvJitLink is not installed");
        return SKIPPED;
    }
    test_mixed();
    return 0;
}
