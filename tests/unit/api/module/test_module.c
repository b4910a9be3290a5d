/* Tests modules: errors of loading, functions and their parameters, variables, and limits of registers. */
#include "unit/support/launch_fixture.h"

#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.1\n.target sm_90\n.address_size 64\n"

START_TEST(load_errors_are_explained)
{
    static const char bad[] = HEAD "// a comment\n.visible .entry k()\n{\n    .reg .b32 %r<3>;\n    add.u33 %r1, %r2, "
                                   "1;\n"
                                   "    sub.f32 %r1, %r1;\n    ret;\n}\n";
    ptxiModule m;
    ptxiDiagnostic d = { .size = sizeof d };
    char errors[1000] = "", infos[1000] = "x";
    ptxiJitOption o[] = { PTXI_JIT_ERROR_LOG_BUFFER, PTXI_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, PTXI_JIT_INFO_LOG_BUFFER,
                          PTXI_JIT_INFO_LOG_BUFFER_SIZE_BYTES, PTXI_JIT_FILE_NAME, PTXI_JIT_WALL_TIME };
    void *v[] = { errors, (void *)sizeof errors, infos, (void *)sizeof infos, "bad.ptx", NULL };
    float ms;

    ck_result(ptxiModuleLoadDataEx(&m, bad, 6, o, v), PTXI_ERROR_INVALID_PTX);
    ck_assert_ptr_nonnull(strstr(errors, "bad.ptx:8:"));
    ck_assert_ptr_nonnull(strstr(errors, "add.u33 %r1, %r2, 1;\n"));
    ck_assert_uint_eq((uintptr_t)v[1], strlen(errors) + 1);
    ck_assert_str_eq(infos, "");
    ck_assert_uint_eq((uintptr_t)v[3], 0);
    memcpy(&ms, &v[5], sizeof ms);
    ck_assert(ms > 0 && ms < 10000);
    ok(ptxiGetLastDiagnostic(0, &d));
    ck_assert_int_eq(d.severity, PTXI_SEVERITY_ERROR);
    ck_assert_str_eq(d.file, "bad.ptx");
    ck_assert_uint_eq(d.line, 8);
    ck_assert_uint_ge(d.column, 5);
    ck_assert_ptr_nonnull(strstr(errors, d.message));
    ck_assert_ptr_nonnull(strstr(errors, d.text));
    unsigned second_error = 0;
    for (unsigned i = 1; ptxiGetLastDiagnostic(i, &d) == PTXI_SUCCESS; i++)
        second_error |= d.severity == PTXI_SEVERITY_ERROR && d.line == 9;
    ck_assert_uint_eq(second_error, 1);
    d.size = 1;
    ck_result(ptxiGetLastDiagnostic(0, &d), PTXI_ERROR_INVALID_VALUE);
    /* a log that is too small is truncated */
    memset(errors, 'x', sizeof errors);
    v[1] = (void *)10;
    ck_result(ptxiModuleLoadDataEx(&m, bad, 6, o, v), PTXI_ERROR_INVALID_PTX);
    ck_assert_uint_eq(strlen(errors), 9);
    ck_assert_int_eq(errors[10], 'x');
    ok(ptxiModuleLoadData(&m, kernels));
    d.size = sizeof d;
    ck_result(ptxiGetLastDiagnostic(0, &d), PTXI_ERROR_NOT_FOUND);
}
END_TEST

START_TEST(invalid_modules_are_refused)
{
    ptxiModule m;
    ptxiJitOption unknown = (ptxiJitOption)99, strict = PTXI_JIT_STRICT_TARGET;
    void *value = (void *)1;

    ck_result(ptxiModuleLoadData(&m, "hello"), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiModuleLoadData(&m, ""), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiModuleLoadData(&m, "\177ELF"), PTXI_ERROR_INVALID_IMAGE);
    ck_result(ptxiModuleLoadData(&m, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiModuleLoadData(NULL, kernels), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiModuleLoad(&m, "/nonexistent"), PTXI_ERROR_FILE_NOT_FOUND);
    ck_result(ptxiModuleLoad(&m, "/"), PTXI_ERROR_FILE_NOT_FOUND);
    ck_result(ptxiModuleLoadDataEx(&m, kernels, 1, &unknown, &value), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiModuleLoadDataEx(&m, ".version 9.0\n.target sm_120\n.address_size 64\n", 1, &strict, &value),
              PTXI_ERROR_NO_BINARY_FOR_GPU);
    ok(ptxiModuleLoadData(&m, ".version 9.0\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }"));
    ok(ptxiModuleUnload(m));
    ck_result(ptxiModuleUnload(NULL), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(functions_are_found)
{
    ptxiFunction f, all[64];
    ptxiModule m;
    unsigned n;
    const char *name;
    size_t at, size;

    ck_result(ptxiModuleGetFunction(&f, module, "zz"), PTXI_ERROR_NOT_FOUND);
    ck_result(ptxiModuleGetFunction(&f, module, ""), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiModuleGetFunction(&f, module, "vprintf"), PTXI_ERROR_NOT_FOUND);
    ck_result(ptxiModuleGetFunction(&f, NULL, "k"), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiModuleGetFunctionCount(&n, module));
    ck_assert_uint_eq(n, 14);
    ok(ptxiModuleEnumerateFunctions(all, 64, module));
    ok(ptxiFuncGetName(&name, all[0]));
    ck_assert_str_eq(name, "store");
    ok(ptxiFuncGetName(&name, all[n - 1]));
    ck_assert_str_eq(name, "clustered");
    ok(ptxiFuncGetModule(&m, all[3]));
    ck_assert_ptr_eq(m, module);
    static const size_t offsets[] = { 0, 8, 16, 22 }, sizes[] = { 1, 8, 6, 2 };

    f = kernel("uneven");
    for (size_t i = 0; i < 4; i++) {
        ok(ptxiFuncGetParamInfo(f, i, &at, &size));
        ck_assert_uint_eq(at, offsets[i]);
        ck_assert_uint_eq(size, sizes[i]);
    }
    ck_result(ptxiFuncGetParamInfo(f, 4, &at, &size), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiFuncGetParamInfo(f, 1, &at, NULL));
}
END_TEST

START_TEST(parameters_are_described)
{
    static const struct {
        const char *name, *type;
        size_t offset, bytes, align, count;
    } want[] = { { "a", "u8", 0, 1, 1, 0 }, { "b", "u64", 8, 8, 8, 0 }, { "c", "b8", 16, 6, 4, 6 },
                 { "d", "u16", 22, 2, 2, 0 } };
    ptxiFunction f = kernel("uneven");
    ptxiParam p = { .size = sizeof p };
    char *text;

    for (size_t i = 0; i < 4; i++) {
        ok(ptxiFuncGetParam(f, i, &p));
        ck_assert_str_eq(p.name, want[i].name);
        ck_assert_str_eq(p.type, want[i].type);
        ck_assert_ptr_null(p.space);
        ck_assert_uint_eq(p.offset, want[i].offset);
        ck_assert_uint_eq(p.bytes, want[i].bytes);
        ck_assert_uint_eq(p.align, want[i].align);
        ck_assert_uint_eq(p.count, want[i].count);
    }
    ck_result(ptxiFuncGetParam(f, 4, &p), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiFuncGetParam(f, 0, NULL), PTXI_ERROR_INVALID_VALUE);
    p = (ptxiParam){ .size = offsetof(ptxiParam, name) - 1 };
    ck_result(ptxiFuncGetParam(f, 0, &p), PTXI_ERROR_INVALID_VALUE);
    p = (ptxiParam){ .size = offsetof(ptxiParam, name), .name = "kept" };
    ok(ptxiFuncGetParam(f, 2, &p));
    ck_assert_uint_eq(p.count, 6);
    ck_assert_str_eq(p.name, "kept");

    ok(ptxiFuncGetSignature(f, &text));
    ck_assert_str_eq(text, "uneven(.u8 a, .u64 b, .align 4 .b8 c[6], .u16 d)");
    ptxiFree(text);
    ok(ptxiFuncGetSignature(kernel("nothing"), &text));
    ck_assert_str_eq(text, "nothing()");
    ptxiFree(text);
    ck_result(ptxiFuncGetSignature(f, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiFuncGetSignature(NULL, &text), PTXI_ERROR_INVALID_HANDLE);
}
END_TEST

static const char *function_name(ptxiFunction f)
{
    const char *name = "none";

    ptxiFuncGetName(&name, f);
    return name;
}

#define EMPTY(name) ".visible .entry " name "() { ret; }\n"
START_TEST(functions_are_found_by_their_names_in_cpp)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n" EMPTY("plain") EMPTY("_Z4racePi")
        EMPTY("_Z5scaleIfEvPT_") EMPTY("_Z5scaleIiEvPT_") EMPTY("_ZN1a4raceEPf");
    static const struct { const char *name, *found[3]; } cases[] = {
        { "plain", { "plain" } }, { "_Z4racePi", { "_Z4racePi" } }, { "race", { "_Z4racePi" } },
        { "race(int *)", { "_Z4racePi" } }, { "race(float *)", { "_ZN1a4raceEPf" } },
        { "a::race", { "_ZN1a4raceEPf" } },
        { "scale", { "_Z5scaleIfEvPT_", "_Z5scaleIiEvPT_" } }, { "scale<int>", { "_Z5scaleIiEvPT_" } },
        { "scale<double>", { NULL } }, { "rac", { NULL } },
    };
    ptxiModule m;

    ok(ptxiModuleLoadData(&m, text));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ptxiFunction found[3] = { NULL };
        unsigned count = 2, expected = 0;

        ok(ptxiModuleFindFunctions(found, &count, m, cases[i].name));
        for (; cases[i].found[expected]; expected++)
            ck_assert_str_eq(function_name(found[expected]), cases[i].found[expected]);
        ck_assert_msg(count == expected && !found[count], "%s: %u", cases[i].name, count);
    }
    ptxiFunction one;
    unsigned count = 1;
    char *name;

    ok(ptxiModuleFindFunctions(&one, &count, m, "scale"));
    ck_assert_uint_eq(count, 2); /* only the first has room */
    ok(ptxiFuncGetSourceName(one, &name));
    ck_assert_str_eq(name, "void scale<float>(float*)");
    ptxiFree(name);
    ck_result(ptxiFuncGetSourceName(one, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiModuleFindFunctions(NULL, &count, m, "scale"), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiModuleFindFunctions(&one, NULL, m, "scale"), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiModuleFindFunctions(&one, &count, m, ""), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiModuleUnload(m));
}
END_TEST
#undef EMPTY

START_TEST(variables_have_addresses)
{
    ptxiDevicePtr p, q;
    size_t size;
    uint32_t v, got[2];
    void *params[] = { &mem };

    ok(ptxiModuleGetGlobal(&p, &size, module, "counter"));
    ck_assert_uint_eq(size, 4);
    ok(ptxiMemcpyDtoH(&v, p, 4));
    ck_bits32(v, 7);
    ck_result(ptxiMemcpyDtoH(got, p, 5), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemFree(p), PTXI_ERROR_INVALID_VALUE);
    ok(run("count", 10, 100, NULL));
    ok(ptxiMemcpyDtoH(&v, p, 4));
    ck_bits32(v, 1007);
    ok(ptxiModuleGetGlobal(&q, NULL, module, "place"));
    ck_assert_uint_eq(*(uint64_t *)(uintptr_t)q, p);
    ok(ptxiModuleGetGlobal(&q, &size, module, "table"));
    ck_assert_uint_eq(size, 16);
    ok(run("constants", 1, 1, params));
    ok(ptxiMemcpyDtoH(got, mem, 8));
    ck_bits32(got[0], 30);
    ck_bits32(got[1], 1007);
    v = 31;
    ok(ptxiMemcpyHtoD(q + 8, &v, 4)); /* the host may write constants */
    ok(run("constants", 1, 1, params));
    ok(ptxiMemcpyDtoH(got, mem, 4));
    ck_bits32(got[0], 31);
    ck_result(ptxiModuleGetGlobal(&q, &size, module, "nope"), PTXI_ERROR_NOT_FOUND);
    ck_result(ptxiModuleGetGlobal(&q, &size, module, NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* The memory of a variable, small or large, is zeroed when it is reused. */
START_TEST(variables_begin_as_zero)
{
    static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n.global .b8 small[1000];\n.global .b8 "
                               "large[100000];\n";
    static const char *const names[] = { "small", "large" };

    for (int k = 0; k < 2; k++) {
        ptxiDevicePtr first = 0, p;
        bool again = false;
        size_t size;

        for (int i = 0; i < 10000 && !again; i++) {
            ptxiModule m;

            ok(ptxiModuleLoadData(&m, text));
            ok(ptxiModuleGetGlobal(&p, &size, m, names[k]));
            for (size_t at = 0; at < size; at += 999)
                ck_assert_int_eq(((unsigned char *)(uintptr_t)p)[at], 0);
            again = p == first;
            first = first ? first : p;
            ok(ptxiMemsetD8(p, 0xaa, size));
            ok(ptxiModuleUnload(m));
            ((unsigned char *)(uintptr_t)p)[999] = 0xbb; /* as an unchecked kernel may do */
        }
        ck_assert(again);
    }
}
END_TEST

/* A kernel with more live values than operands can name is reported as unsupported and not launched. */
START_TEST(too_many_registers)
{
    enum { REGISTERS = 20000 };
    ptxiModule m;
    ptxiFunction f;
    char *text, *unsupported;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b64 %%d<%d>;\n",
            REGISTERS);
    for (int k = 0; k < REGISTERS; k++)
        fprintf(out, "mov.u64 %%d%d, %%clock64;\n", k);
    for (int k = 1; k < REGISTERS; k++)
        fprintf(out, "xor.b64 %%d0, %%d0, %%d%d;\n", k);
    fprintf(out, "st.global.u64 [%%d0], %%d0; ret; }\n");
    fclose(out);
    ok(ptxiModuleLoadData(&m, text));
    free(text);
    ok(ptxiModuleGetUnsupported(m, &unsupported));
    ck_assert_msg(strstr(unsupported, "more registers than can be addressed"), "%s", unsupported);
    ptxiFree(unsupported);
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), PTXI_ERROR_NOT_SUPPORTED);
}
END_TEST

/* Constants have no such limit, whatever their width, for all lanes and for some. */
START_TEST(many_constants)
{
    enum { ROUNDS = 20000 };
    uint32_t got[64];
    void *params[] = { &mem };
    ptxiModule m;
    ptxiFunction f;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                 ".reg .b16 %%h; .reg .b32 %%r<4>; .reg .b64 %%d<3>; .reg .pred %%odd;\n"
                 "mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%r0; and.b32 %%r2, %%r0, 1; setp.ne.u32 %%odd, %%r2, 0; "
                 "mov.u64 %%d1, 0; mov.u16 %%h, 0;\n");
    for (uint32_t k = 0; k < ROUNDS; k++)
        fprintf(out, "xor.b32 %%r1, %%r1, 0x%x; @%%odd add.u32 %%r1, %%r1, 0x%x; add.u64 %%d1, %%d1, 0x%llx; "
                     "add.u16 %%h, %%h, 0x%x; mul.lo.u32 %%r1, %%r1, 5;\n",
                k * 2654435761u, k + 77777, (unsigned long long)k << 33 | k, k);
    fprintf(out, "ld.param.u64 %%d0, [p]; mul.wide.u32 %%d2, %%r0, 4; add.u64 %%d0, %%d0, %%d2; "
                 "shr.u64 %%d2, %%d1, 31; cvt.u32.u64 %%r2, %%d2; cvt.u32.u64 %%r3, %%d1;\n"
                 "add.u32 %%r1, %%r1, %%r2; add.u32 %%r1, %%r1, %%r3; cvt.u32.u16 %%r2, %%h; add.u32 %%r1, %%r1, %%r2; "
                 "st.global.u32 [%%d0], %%r1; ret; }\n");
    fclose(out);
    ok(ptxiModuleLoadData(&m, text));
    free(text);
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(got, mem, sizeof got));
    for (uint32_t t = 0; t < 64; t++) {
        uint32_t r = t;
        uint64_t d = 0;
        uint16_t h = 0;

        for (uint32_t k = 0; k < ROUNDS; k++) {
            r = ((r ^ k * 2654435761u) + (t & 1 ? k + 77777 : 0)) * 5;
            d += (uint64_t)k << 33 | k;
            h = (uint16_t)(h + k);
        }
        ck_bits32_at(got[t], r + (uint32_t)(d >> 31) + (uint32_t)d + h, "thread %u", t);
    }
    ok(ptxiModuleUnload(m));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("module");
    TCase *t = tcase_create("module");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, load_errors_are_explained);
    tcase_add_test(t, invalid_modules_are_refused);
    tcase_add_test(t, functions_are_found);
    tcase_add_test(t, parameters_are_described);
    tcase_add_test(t, functions_are_found_by_their_names_in_cpp);
    tcase_add_test(t, variables_have_addresses);
    tcase_add_test(t, variables_begin_as_zero);
    tcase_add_test(t, too_many_registers);
    tcase_add_test(t, many_constants);
    suite_add_tcase(s, t);
    return run_suite(s);
}
