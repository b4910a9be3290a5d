/* Tests libnvJitLink without libraries of NVIDIA: links of PTX, options, and errors. */
#include "standins.h"

#include <unistd.h>

static const char kernel[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) triple (.param .b32 x);\n"
    ".visible .entry k(.param .u64 p) {\n"
    "    .reg .u64 %a, %o; .reg .u32 %i, %v;\n"
    "    ld.param.u64 %a, [p]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;\n"
    "    ld.global.u32 %v, [%a];\n"
    "    { .param .b32 x; .param .b32 r; st.param.b32 [x], %v; call (r), triple, (x); ld.param.b32 %v, [r]; }\n"
    "    add.u32 %v, %v, 1; st.global.u32 [%a], %v; ret;\n}\n";
static const char function[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .func (.param .b32 r) triple (.param .b32 x) {\n"
    "    .reg .u32 %v; ld.param.b32 %v, [x]; mul.lo.u32 %v, %v, 3; st.param.b32 [r], %v; ret;\n}\n";
static const char *const options[] = { "-arch=sm_90", "-O3", "-lineinfo", "-ftz=false", "-Xptxas=-v" };

static void test_link(int type)
{
    struct nvJitLink *link = create_link(5, options);

    CHECK(nvJitLinkAddData(link, type, kernel, sizeof kernel, "kernel.ptx") == SUCCESS);
    CHECK(nvJitLinkAddData(link, type, function, strlen(function), NULL) == SUCCESS);
    finish_link(&link);
}

/* The image of a link can be an input of the next one. */
static void test_two_links(void)
{
    struct nvJitLink *first = create_link(1, options), *second = create_link(1, options);
    char image[4096];
    size_t size = 0;

    CHECK(nvJitLinkAddData(first, INPUT_PTX, function, sizeof function, "function.ptx") == SUCCESS);
    CHECK(nvJitLinkComplete(first) == SUCCESS && nvJitLinkGetLinkedCubinSize(first, &size) == SUCCESS);
    CHECK(size <= sizeof image && nvJitLinkGetLinkedCubin(first, image) == SUCCESS);
    CHECK(nvJitLinkDestroy(&first) == SUCCESS);
    CHECK(nvJitLinkAddData(second, INPUT_CUBIN, image, size, "image") == SUCCESS);
    CHECK(nvJitLinkAddData(second, INPUT_PTX, kernel, sizeof kernel, "kernel.ptx") == SUCCESS);
    finish_link(&second);
}

static void test_file(void)
{
    char name[] = "/tmp/ptxi-link-XXXXXX";
    struct nvJitLink *link = create_link(1, options);
    int file = mkstemp(name);

    CHECK(file >= 0 && write(file, function, strlen(function)) == (ssize_t)strlen(function) && !close(file));
    CHECK(nvJitLinkAddData(link, INPUT_ANY, kernel, sizeof kernel, "kernel.ptx") == SUCCESS);
    CHECK(nvJitLinkAddFile(link, INPUT_PTX, name) == SUCCESS);
    unlink(name);
    CHECK(nvJitLinkAddFile(link, INPUT_PTX, name) == ERROR_INVALID_INPUT);
    check_log(link, "no such file");
    finish_link(&link);
}

static void check_options(const char *first, const char *second, int error, const char *text)
{
    const char *const both[] = { first, second };
    struct nvJitLink *link = NULL;

    CHECK(nvJitLinkCreate(&link, second ? 2 : 1, both) == error && link);
    if (text)
        check_log(link, text);
    CHECK(nvJitLinkComplete(link) != SUCCESS);
    CHECK(nvJitLinkDestroy(&link) == SUCCESS);
}

static void test_options(void)
{
    unsigned major = 0, minor = 0;

    check_options("-O3", NULL, ERROR_MISSING_ARCH, NULL);
    check_options("-arch=sm_90", "-O1", ERROR_UNRECOGNIZED_OPTION, "unrecognized option: -O1");
    check_options("-arch=sm_90", "-ftz", ERROR_UNRECOGNIZED_OPTION, "unrecognized option: -ftz");
    check_options("-arch=sm_90", "", ERROR_UNRECOGNIZED_OPTION, "unrecognized option: ");
    check_options("-arch=sm_90", "-ptx", ERROR_INCOMPATIBLE_OPTIONS, "-ptx requires -lto");
    check_options("-arch=compute_90", NULL, ERROR_INCOMPATIBLE_OPTIONS, "virtual arch requires -ptx");
    check_options("-arch=sm_999", NULL, ERROR_UNRECOGNIZED_ARCH, "unrecognized architecture");
    check_options("-arch=sm_9\n", NULL, ERROR_UNRECOGNIZED_ARCH, "unrecognized architecture");
    check_options("-arch=90", NULL, ERROR_UNRECOGNIZED_ARCH, "unrecognized architecture");
    check_options("-arch=sm_90", "-lto", SUCCESS, NULL); /* no input has LTO-IR */
    CHECK(nvJitLinkVersion(&major, &minor) == SUCCESS && major == 13);
}

static void check_input(int type, const char *data, size_t size, int error, const char *text)
{
    struct nvJitLink *link = create_link(1, options);

    CHECK(nvJitLinkAddData(link, type, data, size, "input") == error);
    check_log(link, text);
    CHECK(nvJitLinkComplete(link) == SUCCESS); /* without the input */
    CHECK(nvJitLinkAddData(link, INPUT_PTX, function, sizeof function, NULL) == ERROR_INTERNAL);
    CHECK(nvJitLinkComplete(link) == ERROR_INTERNAL);
    CHECK(nvJitLinkDestroy(&link) == SUCCESS);
}

static void test_inputs(void)
{
    static const char wrong[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { foo.bar; }\n";
    static const char cubin[20] = { 127, 'E', 'L', 'F', [18] = (char)190 };
    static const char lto[20] = "\xed\x43\x4e\x7f";
    static const char fatbin[20] = "\x50\xed\x55\xba";
    static const char archive[20] = "!<arch>\n";

    check_input(INPUT_PTX, wrong, sizeof wrong, ERROR_PTX_COMPILE, "foo");
    check_input(INPUT_PTX, "garbage", 7, ERROR_INCORRECT_INPUT_TYPE, "input");
    check_input(INPUT_ANY, "garbage", 7, ERROR_UNRECOGNIZED_INPUT, "input");
    check_input(INPUT_PTX, "", 0, ERROR_INVALID_INPUT, "no data");
    check_input(INPUT_OBJECT, function, sizeof function, ERROR_INCORRECT_INPUT_TYPE, "type");
    check_input(INPUT_NONE, function, sizeof function, ERROR_INCORRECT_INPUT_TYPE, "type");
    check_input(99, function, sizeof function, ERROR_INCORRECT_INPUT_TYPE, "type");
    check_input(INPUT_CUBIN, cubin, sizeof cubin, ERROR_INVALID_INPUT, "GPU code");
    check_input(INPUT_LTOIR, lto, sizeof lto, ERROR_LTO_NOT_ENABLED, "-lto");
    for (size_t size = 1; size <= sizeof fatbin; size++) {
        struct nvJitLink *link = create_link(1, options);

        CHECK(nvJitLinkAddData(link, INPUT_ANY, fatbin, size, NULL) != SUCCESS);
        CHECK(nvJitLinkAddData(link, INPUT_ANY, cubin, size, NULL) != SUCCESS);
        CHECK(nvJitLinkAddData(link, INPUT_ANY, archive, size, NULL) != SUCCESS);
        CHECK(nvJitLinkDestroy(&link) == SUCCESS);
    }
}

static void test_errors(void)
{
    struct nvJitLink *link = NULL;
    size_t size = 1;

    CHECK(nvJitLinkCreate(NULL, 1, options) == ERROR_NULL_INPUT);
    CHECK(nvJitLinkCreate(&link, 1, NULL) == ERROR_NULL_INPUT);
    CHECK(nvJitLinkDestroy(NULL) == ERROR_NULL_INPUT && nvJitLinkDestroy(&link) == ERROR_NULL_INPUT);
    CHECK(nvJitLinkComplete(NULL) == ERROR_NULL_INPUT);
    link = create_link(1, options);
    CHECK(nvJitLinkAddData(link, INPUT_PTX, NULL, 1, NULL) == ERROR_NULL_INPUT);
    CHECK(nvJitLinkGetLinkedCubinSize(link, &size) == ERROR_INTERNAL && !size);
    CHECK(nvJitLinkGetLinkedPtxSize(link, &size) == ERROR_INVALID_INPUT);
    CHECK(nvJitLinkGetInfoLogSize(link, &size) == SUCCESS && !size);
    CHECK(nvJitLinkAddData(link, INPUT_PTX, kernel, sizeof kernel, "kernel.ptx") == SUCCESS);
    CHECK(nvJitLinkComplete(link) == ERROR_INTERNAL);
    check_log(link, "'triple' is undefined");
    CHECK(nvJitLinkGetLinkedCubinSize(link, &size) == ERROR_INTERNAL);
    CHECK(nvJitLinkDestroy(&link) == SUCCESS);
}

/* LTO-IR needs NVIDIA's library. */
static void test_missing_library(void)
{
    const char *const lto_options[] = { "-arch=sm_90", "-lto" };
    static const char lto[20] = "\xed\x43\x4e\x7f";
    struct nvJitLink *link = create_link(2, lto_options);

    setenv("PTXI_NVJITLINK", "/nonexistent", 1);
    CHECK(nvJitLinkAddData(link, INPUT_LTOIR, lto, sizeof lto, "input") == ERROR_INTERNAL);
    check_log(link, "PTXI_NVJITLINK");
    CHECK(nvJitLinkDestroy(&link) == SUCCESS);
}

int main(void)
{
    test_link(INPUT_PTX);
    test_link(INPUT_ANY);
    test_two_links();
    test_file();
    test_options();
    test_inputs();
    test_errors();
    test_missing_library();
    return 0;
}
