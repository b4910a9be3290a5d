/* Tests loading and linking of fat binaries, and of files that contain them. */
#include "unit/support/binary_file.h"
#include "unit/support/context.h"

struct wrapper { /* __fatBinC_Wrapper_t of fatbinary_section.h */
    unsigned magic, version;
    const void *data;
    const void *parts;
};

enum { MAGIC = 0x466243b1 };

#define TEXT(body) ".version 9.0\n.target sm_90\n.address_size 64\n" body

/* Opens a context of this device. */
static void open_device(const char *device)
{
    ok(ptxiInit(0));
    ok(ptxiDeviceSetProfile(0, device));
    ok(ptxiCtxCreate(&ctx, 0, 0));
}

/* Runs a kernel with 4 threads and checks what the last one has stored. */
static void run(ptxiFunction f, unsigned words, unsigned last)
{
    ptxiDevicePtr p;

    ok(ptxiMemAlloc(&p, 4 * words));
    ok(ptxiLaunchKernel(f, 1, 1, 1, words, 1, 1, 0, NULL, (void *[]){ &p }, NULL));
    ok(ptxiCtxSynchronize());
    ck_assert_uint_eq(((unsigned *)(uintptr_t)p)[words - 1], last);
    ok(ptxiMemFree(p));
}

static void run_module(ptxiModule m, const char *kernel, unsigned words, unsigned last)
{
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, m, kernel));
    run(f, words, last);
    ok(ptxiModuleUnload(m));
}

static void last_message_has(const char *text)
{
    ptxiDiagnostic d = { .size = sizeof d };

    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert_msg(strstr(d.message, text), "'%s' in '%s'", text, d.message);
}

/* ---- one fat binary */

/* The kernel stores the target that it was compiled for. */
static const struct device_case {
    const char *file, *device;
    unsigned value; /* 10 * sm, + 1 for the suffix a, + 2 for f */
} device_cases[] = {
    { "fatbin/plain.fatbin", "sm_90", 900 },   { "fatbin/plain.fatbin", "sm_120", 900 },
#if defined(HAVE_LZ4) && defined(HAVE_ZSTD)
    { "fatbin/lz4.fatbin", "sm_90", 900 },     { "fatbin/zstd.fatbin", "sm_90", 900 },
    { "fatbin/named.fatbin", "sm_90", 900 },   { "fatbin/targets.fatbin", "sm_75", 750 },
    { "fatbin/targets.fatbin", "sm_86", 800 }, { "fatbin/targets.fatbin", "sm_90", 901 },
    { "fatbin/targets.fatbin", "sm_100", 1001 }, { "fatbin/targets.fatbin", "sm_103", 1002 },
    { "fatbin/targets.fatbin", "sm_120", 1202 },
    { "fatbin/targets.fatbin", "sm_70", 750 }, /* for no such device: runs with the profile of its target */
    { "fatbin/specific.fatbin", "sm_80", 901 },
#endif
};

START_TEST(every_way_to_load)
{
    const struct device_case *x = &device_cases[_i];
    struct file f = read_binary(x->file);
    struct wrapper w = { MAGIC, 1, f.data, NULL };
    char path[4096];
    ptxiFunction function;
    ptxiLibrary library;
    ptxiKernel kernel;
    ptxiModule m;

    open_device(x->device);
    ok(ptxiModuleLoadData(&m, f.data));
    run_module(m, "target", 1, x->value);
    ok(ptxiModuleLoadFatBinary(&m, f.data));
    run_module(m, "target", 1, x->value);
    ok(ptxiModuleLoadFatBinary(&m, &w));
    run_module(m, "target", 1, x->value);
    snprintf(path, sizeof path, "%s/%s", TEST_DIR, x->file);
    ok(ptxiModuleLoad(&m, path));
    run_module(m, "target", 1, x->value);
    ok(ptxiLibraryLoadData(&library, &w, NULL, NULL, 0, NULL, NULL, 0));
    ok(ptxiLibraryGetKernel(&kernel, library, "target"));
    ok(ptxiKernelGetFunction(&function, kernel));
    run(function, 1, x->value);
    ok(ptxiLibraryUnload(library));
    ok(ptxiLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    ok(ptxiLibraryGetKernel(&kernel, library, "target"));
    ok(ptxiKernelGetFunction(&function, kernel));
    run(function, 1, x->value);
    ok(ptxiLibraryUnload(library));
    free(f.data);
    close_context();
}
END_TEST

static ptxiResult load_strictly(ptxiModule *m, const void *image)
{
    ptxiJitOption strict = PTXI_JIT_STRICT_TARGET;
    void *on = (void *)1;

    return ptxiModuleLoadDataEx(m, image, 1, &strict, &on);
}

START_TEST(strict_targets)
{
    struct file f = read_binary("fatbin/plain.fatbin");
    ptxiModule m;

    ok(load_strictly(&m, f.data));
    close_context();
    open_device("sm_80");
    ck_result(load_strictly(&m, f.data), PTXI_ERROR_NO_BINARY_FOR_GPU);
    last_message_has("no PTX for this device: the image contains PTX for sm_90");
    free(f.data);
}
END_TEST

START_TEST(messages_name_the_text)
{
    struct file f = make_fatbin(TEXT(".visible .entry k() { add.u32 %r1; }\n"), 90);
    ptxiDiagnostic d = { .size = sizeof d };
    ptxiJitOption name = PTXI_JIT_FILE_NAME;
    void *value = (void *)(uintptr_t)"a.out";
    char log[200];
    ptxiModule m;

    ck_result(ptxiModuleLoadData(&m, f.data), PTXI_ERROR_INVALID_PTX);
    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert_str_eq(d.file, "<fatbin>.1.sm_90.ptx");
    ck_assert_uint_eq(d.line, 4);
    ck_result(ptxiModuleLoadDataEx(&m, f.data, 1, &name, &value), PTXI_ERROR_INVALID_PTX);
    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert_str_eq(d.file, "a.out.1.sm_90.ptx");
    free(f.data);
    f = read_binary("fatbin/sass.fatbin");
    ck_result(ptxiModuleLoadDataEx(&m, f.data, 2,
                               (ptxiJitOption[]){ PTXI_JIT_ERROR_LOG_BUFFER, PTXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES },
                               (void *[]){ log, (void *)(uintptr_t)sizeof log }), PTXI_ERROR_NO_BINARY_FOR_GPU);
    ck_assert(strstr(log, "SASS for sm_90"));
    ck_assert(strstr(log, "-gencode arch=compute_90,code=compute_90"));
    free(f.data);
}
END_TEST

/* ---- images without PTX, damaged images */

START_TEST(images_without_ptx)
{
    static const struct {
        const char *file, *message;
        size_t offset; /* 80: the cubin in the fat binary */
    } images[] = {
        { "fatbin/sass.fatbin", "no PTX for any device: the image contains SASS for sm_90", 0 },
        { "fatbin/nvvm.fatbin", "no PTX for any device: the image contains NVVM IR for sm_90", 0 },
        { "fatbin/sass.fatbin", "no PTX for any device: the image contains SASS for sm_90", 80 },
    };

    for (unsigned i = 0; i < sizeof images / sizeof *images; i++) {
        struct file f = read_binary(images[i].file);
        struct wrapper w = { MAGIC, 1, f.data, NULL };
        ptxiLibrary library;
        ptxiModule m;

        ck_result(ptxiModuleLoadData(&m, f.data + images[i].offset), PTXI_ERROR_NO_BINARY_FOR_GPU);
        last_message_has(images[i].message);
        ck_result(ptxiLibraryLoadData(&library, f.data + images[i].offset, NULL, NULL, 0, NULL, NULL, 0),
              PTXI_ERROR_NO_BINARY_FOR_GPU);
        ck_result(ptxiModuleLoadFatBinary(&m, images[i].offset ? f.data + 80 : (void *)&w), PTXI_ERROR_NO_BINARY_FOR_GPU);
        free(f.data);
    }
}
END_TEST

START_TEST(damaged_images)
{
    struct file f = read_binary("fatbin/plain.fatbin");
    const void *parts[] = { "\x50\xed", NULL };
    ptxiModule m;

    ck_result(ptxiModuleLoadFatBinary(&m, &(struct wrapper){ MAGIC, 1, NULL, NULL }), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiModuleLoadFatBinary(&m, &(struct wrapper){ MAGIC, 1, "text", NULL }), PTXI_ERROR_INVALID_IMAGE);
    last_message_has("not a fat binary");
    ck_result(ptxiModuleLoadFatBinary(&m, &(struct wrapper){ MAGIC, 2, NULL, parts }), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiModuleLoadFatBinary(&m, &(struct wrapper){ MAGIC, 2, NULL, NULL }), PTXI_ERROR_NO_BINARY_FOR_GPU);
    ck_result(ptxiModuleLoadFatBinary(&m, "\x50\xed\x55"), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiModuleLoadFatBinary(&m, ""), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiModuleLoadFatBinary(&m, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiModuleLoadFatBinary(NULL, f.data), PTXI_ERROR_INVALID_VALUE);
    memset(f.data + 8, 0xff, 8);
    ck_result(ptxiModuleLoadData(&m, f.data), PTXI_ERROR_INVALID_IMAGE);
    last_message_has("truncated");
    free(f.data);
}
END_TEST

#ifndef HAVE_ZSTD
START_TEST(a_missing_library_is_named)
{
    struct file f = read_binary("fatbin/zstd.fatbin");
    ptxiModule m;

    ck_result(ptxiModuleLoadData(&m, f.data), PTXI_ERROR_NOT_SUPPORTED);
    last_message_has("--with-zstd");
    free(f.data);
}
END_TEST
#endif

/* ---- programs of several parts */

#define FILL TEXT(".extern .func (.param .b32 r) f(.param .b32 a);\n" \
    ".visible .entry fill(.param .u64 p) { .reg .b64 %p; .reg .b32 %i, %v; .param .b32 r, a; ld.param.u64 %p, [p];\n" \
    "  mov.u32 %i, %tid.x; st.param.b32 [a], %i; call (r), f, (a); ld.param.b32 %v, [r];\n" \
    "  mad.wide.u32 %p, %i, 4, %p; st.global.u32 [%p], %v; ret; }\n")
#define TRIPLE TEXT(".visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %v; ld.param.b32 %v, [a];\n" \
    "  mul.lo.u32 %v, %v, 3; st.param.b32 [r], %v; ret; }\n")

static void load_parts(const void *linked, const void *const *parts)
{
    struct wrapper w = { MAGIC, 2, linked, parts };
    ptxiModule m;

    ok(ptxiModuleLoadFatBinary(&m, &w));
    run_module(m, "fill", 4, 9);
}

/* nvcc -rdc=true. A part for newer devices is left out, and so is NVIDIA's device runtime, which would not load. */
START_TEST(parts_are_linked)
{
    struct file fill = make_fatbin(FILL, 90), triple = make_fatbin(TRIPLE, 80), newer = make_fatbin(TRIPLE, 121);
    struct file runtime = make_fatbin(TEXT(".extern .func __cuda_syscall_cnpv2GetDevice\nbad\n"), 75);
    struct file sass = read_binary("fatbin/sass.fatbin");

    load_parts(sass.data, (const void *[]){ fill.data, triple.data, NULL });
    load_parts(NULL, (const void *[]){ newer.data, triple.data, fill.data, runtime.data, NULL });
    free(fill.data);
    free(triple.data);
    free(newer.data);
    free(runtime.data);
    free(sass.data);
}
END_TEST

/* nvcc -dlto can embed the PTX of the whole program. Its parts are not needed then. */
START_TEST(a_linked_program_comes_before_its_parts)
{
    struct file whole = make_fatbin(TEXT(".visible .entry fill(.param .u64 p) { .reg .b64 %p; ld.param.u64 %p, [p];\n"
                                         "  st.global.u32 [%p+12], 9; ret; }\n"), 90);
    struct file fill = make_fatbin(FILL, 90);

    load_parts(whole.data, (const void *[]){ fill.data, NULL });
    free(whole.data);
    free(fill.data);
}
END_TEST

START_TEST(a_program_for_newer_devices)
{
    struct file fill = make_fatbin(FILL, 100), triple = make_fatbin(TRIPLE, 100);

    load_parts(NULL, (const void *[]){ fill.data, triple.data, NULL });
    free(fill.data);
    free(triple.data);
}
END_TEST

START_TEST(unresolved_functions)
{
    struct file fill = make_fatbin(FILL, 90);
    struct wrapper w = { MAGIC, 2, NULL, (const void *[]){ fill.data, NULL } };
    ptxiFunction f;
    ptxiModule m;

    ok(ptxiModuleLoadFatBinary(&m, &w));
    ok(ptxiModuleGetFunction(&f, m, "fill"));
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &(ptxiDevicePtr){ 0 } }, NULL),
          PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
    free(fill.data);
}
END_TEST

/* ---- the linker */

#ifdef HAVE_ZSTD
static ptxiResult link_files(const char *const *names, const ptxiJitInputType *types, ptxiModule *m)
{
    ptxiResult r = PTXI_SUCCESS;
    ptxiLinkState s;
    void *image;

    ok(ptxiLinkCreate(0, NULL, NULL, &s));
    for (unsigned i = 0; names[i] && !r; i++) {
        struct file f = read_binary(names[i]);

        r = ptxiLinkAddData(s, types[i], f.data, f.size, names[i], 0, NULL, NULL);
        free(f.data);
    }
    if (!r && !(r = ptxiLinkComplete(s, &image, NULL)))
        r = ptxiModuleLoadData(m, image);
    ok(ptxiLinkDestroy(s));
    return r;
}

START_TEST(files_are_linked)
{
    ptxiModule m;

    ok(link_files((const char *[]){ "fatbin/part1.elf", "fatbin/part2.elf", NULL },
                  (ptxiJitInputType[]){ PTXI_JIT_INPUT_OBJECT, PTXI_JIT_INPUT_OBJECT }, &m));
    run_module(m, "fill", 4, 9);
    ok(link_files((const char *[]){ "fatbin/parts.ar", "fatbin/zstd.fatbin", NULL },
                  (ptxiJitInputType[]){ PTXI_JIT_INPUT_LIBRARY, PTXI_JIT_INPUT_FATBINARY }, &m));
    run_module(m, "fill", 4, 9);
}
END_TEST

START_TEST(a_file_is_linked_by_name)
{
    char path[4096];
    ptxiLinkState s;
    ptxiModule m;
    void *image;

    snprintf(path, sizeof path, "%s/fatbin/programs.elf", TEST_DIR);
    ok(ptxiLinkCreate(0, NULL, NULL, &s));
    ok(ptxiLinkAddFile(s, PTXI_JIT_INPUT_OBJECT, path, 0, NULL, NULL));
    ok(ptxiLinkComplete(s, &image, NULL));
    ok(ptxiModuleLoadData(&m, image));
    ok(ptxiLinkDestroy(s));
    run_module(m, "fill", 4, 9);
    ok(ptxiModuleLoad(&m, path));
    run_module(m, "target", 1, 900);
}
END_TEST
#endif

START_TEST(types_are_checked)
{
    struct file f = read_binary("fatbin/plain.fatbin"), sass = read_binary("fatbin/sass.fatbin");
    ptxiLinkState s;

    ok(ptxiLinkCreate(0, NULL, NULL, &s));
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_PTX, f.data, f.size, "x", 0, NULL, NULL), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_CUBIN, f.data, f.size, "x", 0, NULL, NULL), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_NVVM, f.data, f.size, "x", 0, NULL, NULL), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_FATBINARY, f.data, f.size - 1, "x", 0, NULL, NULL),
          PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_FATBINARY, TRIPLE, sizeof TRIPLE, "x", 0, NULL, NULL),
          PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiLinkAddData(s, PTXI_JIT_INPUT_FATBINARY, sass.data, sass.size, "x", 0, NULL, NULL),
          PTXI_ERROR_NO_BINARY_FOR_GPU);
    last_message_has("x: no PTX for any device");
    ok(ptxiLinkAddData(s, PTXI_JIT_INPUT_FATBINARY, f.data, f.size, "x", 0, NULL, NULL));
    ok(ptxiLinkDestroy(s));
    free(f.data);
    free(sass.data);
}
END_TEST

#define LENGTH(array) (int)(sizeof array / sizeof *array)

int main(void)
{
    Suite *s = suite_create("binary");
    TCase *t = tcase_create("binary"), *devices = tcase_create("devices");

    tcase_add_loop_test(devices, every_way_to_load, 0, LENGTH(device_cases));
    suite_add_tcase(s, devices);
    tcase_add_checked_fixture(t, open_context, close_context);
    tcase_add_test(t, strict_targets);
    tcase_add_test(t, messages_name_the_text);
    tcase_add_test(t, images_without_ptx);
    tcase_add_test(t, damaged_images);
#ifndef HAVE_ZSTD
    tcase_add_test(t, a_missing_library_is_named);
#else
    tcase_add_test(t, files_are_linked);
    tcase_add_test(t, a_file_is_linked_by_name);
#endif
    tcase_add_test(t, parts_are_linked);
    tcase_add_test(t, a_linked_program_comes_before_its_parts);
    tcase_add_test(t, a_program_for_newer_devices);
    tcase_add_test(t, unresolved_functions);
    tcase_add_test(t, types_are_checked);
    suite_add_tcase(s, t);
    return run_suite(s);
}
