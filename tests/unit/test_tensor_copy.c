/* Copies of boxes of tensors, against a reference that visits element by element. PTX ISA, "Tensors", "Data Movement and Conversion
 * Instructions: cp.async.bulk.tensor". */
#include "unit/context.h"

#include <stdio.h>
#include <string.h>

/* Tensors of words, the i-th of which is i + 1; boxes of up to 4 KiB. */
enum { TENSOR = 16384, BOX = 4096, THREADS = 32, RANKS = 5 };

static const struct shape {
    uint32_t rank;
    uint64_t dim[RANKS], stride[RANKS - 1]; /* bytes */
    uint32_t box[RANKS], step[RANKS];
    int32_t at[RANKS];
    ptxiTensorMapSwizzle swizzle;
} shapes[] = {
    { 1, { 100 }, { 0 }, { 32 }, { 1 }, { 17 }, 0 },
    { 1, { 100 }, { 0 }, { 32 }, { 1 }, { 90 }, 0 },
    { 1, { 100 }, { 0 }, { 32 }, { 1 }, { -30 }, 0 },
    { 1, { 100 }, { 0 }, { 32 }, { 1 }, { 1000 }, 0 },
    { 2, { 20, 6 }, { 96 }, { 8, 4 }, { 1, 1 }, { 4, 1 }, 0 },
    { 2, { 20, 6 }, { 96 }, { 8, 4 }, { 1, 1 }, { -2, -1 }, 0 },
    { 2, { 20, 6 }, { 96 }, { 8, 4 }, { 1, 1 }, { 15, 4 }, 0 },
    { 2, { 20, 16 }, { 96 }, { 8, 7 }, { 1, 3 }, { 2, 5 }, 0 },
    { 2, { 64, 40 }, { 256 }, { 8, 32 }, { 1, 1 }, { 3, 2 }, PTXI_TENSOR_MAP_SWIZZLE_32B },
    { 2, { 64, 40 }, { 256 }, { 16, 32 }, { 1, 1 }, { 3, 2 }, PTXI_TENSOR_MAP_SWIZZLE_64B },
    { 2, { 64, 40 }, { 256 }, { 32, 32 }, { 1, 1 }, { 3, 20 }, PTXI_TENSOR_MAP_SWIZZLE_128B },
    { 3, { 8, 5, 7 }, { 32, 160 }, { 4, 3, 4 }, { 1, 1, 1 }, { 2, 3, 5 }, 0 },
    { 4, { 8, 5, 4, 3 }, { 32, 160, 640 }, { 8, 2, 2, 2 }, { 1, 1, 2, 1 }, { 0, 4, -1, 2 }, 0 },
    { 5, { 8, 3, 3, 3, 3 }, { 32, 96, 288, 864 }, { 4, 2, 2, 2, 2 }, { 1, 1, 1, 1, 1 }, { -1, 2, 1, 0, 2 }, 0 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static ptxiDevicePtr tensor, box;

static void set_up(void)
{
    static uint32_t words[TENSOR / 4];

    open_context();
    ok(ptxiMemAlloc(&tensor, TENSOR));
    ok(ptxiMemAlloc(&box, BOX));
    for (uint32_t k = 0; k < TENSOR / 4; k++)
        words[k] = k + 1;
    ok(ptxiMemcpyHtoD(tensor, words, TENSOR));
    ok(ptxiMemsetD32(box, 0xdead, BOX / 4));
}

static ptxiResult encode(ptxiTensorMap *map, const struct shape *s, ptxiTensorMapDataType type)
{
    return ptxiTensorMapEncodeTiled(map, type, s->rank, (void *)(uintptr_t)tensor, s->dim, s->stride, s->box, s->step, 0, s->swizzle, 0, 0);
}

static uint32_t taken(const struct shape *s, unsigned d)
{
    return d ? (s->box[d] + s->step[d] - 1) / s->step[d] : s->box[0];
}

static uint32_t box_words(const struct shape *s)
{
    uint32_t n = 1;

    for (unsigned d = 0; d < s->rank; d++)
        n *= taken(s, d);
    return n;
}

/* Which word of the tensor the n-th element of the box is; -1: it lies beyond. */
static int64_t element(const struct shape *s, uint32_t n)
{
    int64_t bytes = 0;

    for (unsigned d = 0; d < s->rank; d++) {
        int64_t c = s->at[d] + (int64_t)(n % taken(s, d)) * (d ? s->step[d] : 1);

        if (c < 0 || c >= (int64_t)s->dim[d])
            return -1;
        bytes += c * (d ? (int64_t)s->stride[d - 1] : 4);
        n /= taken(s, d);
    }
    return bytes / 4;
}

/* Where it lies in shared memory. PTX ISA, "Swizzling Modes", as tables: rows of 128 bytes, chunks of 16. */
static uint32_t place(const struct shape *s, uint32_t n)
{
    static const uint8_t rows[4] = { 1, 2, 4, 8 };
    uint32_t row = n * 4 / 128, chunk = n * 4 / 16 % 8, other = chunk ^ row % rows[s->swizzle];

    return row * 32 + other * 4 + n % 4;
}

/* Parameters: the map, the words of the box, five coordinates, bytes of the box. `copy` is done by one thread. */
static ptxiResult run(const char *copy, bool load, ptxiTensorMap *map, const struct shape *s)
{
    static const char frame[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p, .param .u32 c0, .param .u32 c1, .param .u32 c2, .param .u32 c3, .param .u32 c4, .param .u32 n) {\n"
        "  .reg .b32 %%r<10>, %%c<5>, %%s, %%m, %%n; .reg .b64 %%rd<8>, %%map; .reg .pred %%p, %%q; .reg .b16 %%h; .shared .align 1024 .b8 s[4096]; .shared .b64 m;\n"
        "  mov.b64 %%map, map; cvta.param.u64 %%map, %%map; ld.param.u64 %%rd1, [p]; ld.param.u32 %%n, [n]; mov.u32 %%r0, %%tid.x; setp.eq.u32 %%p, %%r0, 0;\n"
        "  ld.param.u32 %%c0, [c0]; ld.param.u32 %%c1, [c1]; ld.param.u32 %%c2, [c2]; ld.param.u32 %%c3, [c3]; ld.param.u32 %%c4, [c4]; mov.u32 %%s, s; mov.u32 %%m, m;\n"
        "  @%%p prefetch.tensormap [%%map]; @%%p mbarrier.init.shared.b64 [%%m], 1; fence.mbarrier_init.release.cluster; bar.sync 0; mov.b16 %%h, 1;\n"
        "%s"
        "  mov.u32 %%r2, %%r0;\n"
        "WORD: shl.b32 %%r3, %%r2, 2; add.u32 %%r4, %%r3, %%s; cvt.u64.u32 %%rd2, %%r3; add.u64 %%rd2, %%rd2, %%rd1; %s\n"
        "  add.u32 %%r2, %%r2, 32; setp.lt.u32 %%q, %%r2, 1024; @%%q bra WORD;\n%s ret; }\n";
    char before[1000], after[1000], text[5000];
    uint32_t bytes = box_words(s) * 4;
    int32_t at[RANKS];
    void *params[] = { map, &box, &at[0], &at[1], &at[2], &at[3], &at[4], &bytes };
    ptxiModule m;
    ptxiFunction f;
    ptxiResult r;

    memcpy(at, s->at, sizeof at);
    snprintf(before, sizeof before, "  @%%p mbarrier.arrive.expect_tx.shared.b64 _, [%%m], %%n; @%%p %s\n"
             "W: mbarrier.try_wait.parity.shared.b64 %%q, [%%m], 0; @!%%q bra W;\n", copy);
    snprintf(after, sizeof after, "  fence.proxy.async.shared::cta; bar.sync 0; @%%p %s cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n", copy);
    snprintf(text, sizeof text, frame, load ? before : "", load ? "ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd2], %r5;" : "ld.global.u32 %r5, [%rd2]; st.shared.u32 [%r4], %r5;",
             load ? "" : after);
    r = ptxiModuleLoadData(&m, text);
    if (r)
        puts(text);
    ok(r);
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    r = ptxiCtxSynchronize();
    ok(ptxiModuleUnload(m));
    return r;
}

#define LOAD(dim, c) "cp.async.bulk.tensor." dim ".shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%map, " c "], [%m];"
#define STORE(dim, c) "cp.async.bulk.tensor." dim ".global.shared::cta.bulk_group [%map, " c "], [%s];"
#define REDUCE(op, dim, c) "cp.reduce.async.bulk.tensor." dim ".global.shared::cta." op ".tile.bulk_group [%map, " c "], [%s];"
#define EACH_RANK(X) { X("1d", "{%c0}"), X("2d", "{%c0, %c1}"), X("3d", "{%c0, %c1, %c2}"), X("4d", "{%c0, %c1, %c2, %c3}"), X("5d", "{%c0, %c1, %c2, %c3, %c4}") }
#define ADD(dim, c) REDUCE("add", dim, c)
#define MAX(dim, c) REDUCE("max", dim, c)

START_TEST(loads)
{
    static const char *const copies[] = EACH_RANK(LOAD);
    const struct shape *s = &shapes[_i];
    uint32_t got[BOX / 4];
    ptxiTensorMap map;

    ok(encode(&map, s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ok(run(copies[s->rank - 1], true, &map, s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t n = 0; n < box_words(s); n++)
        ck_assert_msg(got[place(s, n)] == (uint32_t)(element(s, n) + 1), "shape %d: element %u is %u", _i, n, got[place(s, n)]);
}
END_TEST

static uint32_t copied(uint32_t old, uint32_t x) { return (void)old, x; }
static uint32_t added(uint32_t old, uint32_t x) { return old + x; }
static uint32_t greater(uint32_t old, uint32_t x) { return (int32_t)old > (int32_t)x ? old : x; }

START_TEST(stores_and_reductions)
{
    static const char *const copies[][RANKS] = { EACH_RANK(STORE), EACH_RANK(ADD), EACH_RANK(MAX) };
    static uint32_t (*const does[])(uint32_t, uint32_t) = { copied, added, greater };
    const struct shape *s = &shapes[_i % SHAPES];
    static uint32_t want[TENSOR / 4], got[TENSOR / 4];
    uint32_t words[BOX / 4];
    ptxiTensorMap map;

    for (uint32_t k = 0; k < BOX / 4; k++)
        words[k] = k % 2 ? 100000 + k : (uint32_t)-5 - k;
    for (uint32_t k = 0; k < TENSOR / 4; k++)
        want[k] = k + 1;
    for (uint32_t n = 0; n < box_words(s); n++)
        if (element(s, n) >= 0)
            want[element(s, n)] = does[_i / SHAPES](want[element(s, n)], words[place(s, n)]);
    ok(ptxiMemcpyHtoD(box, words, BOX));
    ok(encode(&map, s, PTXI_TENSOR_MAP_DATA_TYPE_INT32));
    ok(run(copies[_i / SHAPES][s->rank - 1], false, &map, s));
    ok(ptxiMemcpyDtoH(got, tensor, TENSOR));
    for (uint32_t k = 0; k < TENSOR / 4; k++)
        ck_assert_msg(got[k] == want[k], "shape %d: word %u is 0x%x, not 0x%x", _i, k, got[k], want[k]);
}
END_TEST

START_TEST(multicast_to_itself)
{
    const struct shape *s = &shapes[4];
    uint32_t got[BOX / 4];
    ptxiTensorMap map;

    ok(encode(&map, s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ok(run("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%s], [%map, {%c0, %c1}], [%m], %h;", true, &map, s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t n = 0; n < box_words(s); n++)
        ck_assert_uint_eq(got[n], (uint32_t)(element(s, n) + 1));
}
END_TEST

START_TEST(misuse_is_reported)
{
    static const struct shape large = { 2, { 64, 1000 }, { 256 }, { 8, 4 }, { 1, 1 }, { 0, 62 }, 0 };
    static const struct { const char *copy; bool load; ptxiFault fault; const char *says; } rows[] = {
        { LOAD("2d", "{%c0, %c1}"), true, PTXI_FAULT_OUT_OF_BOUNDS, "the end of the allocation" },
        { STORE("2d", "{%c0, %c1}"), false, PTXI_FAULT_OUT_OF_BOUNDS, "write of 32 bytes" },
        { LOAD("1d", "{%c0}"), true, PTXI_FAULT_BARRIER, "no tensor map of as many dimensions" },
        { "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd1, {%c0, %c1}], [%m];", true, PTXI_FAULT_BARRIER, "no tensor map" },
        { "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s+64], [%map, {%c0, %c1}], [%m];", true, PTXI_FAULT_MISALIGNED, "bytes" },
        { REDUCE("or", "2d", "{%c0, %c1}"), false, PTXI_FAULT_BARRIER, "no such reduction" },
    };
    ptxiReport report = { .size = sizeof report };
    ptxiTensorMap map;

    ok(encode(&map, &large, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ck_assert_int_ne(run(rows[_i].copy, rows[_i].load, &map, &large), PTXI_SUCCESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_msg(report.fault == rows[_i].fault && strstr(report.text, rows[_i].says), "%s", report.text);
}
END_TEST

START_TEST(maps_are_checked)
{
    struct shape s = shapes[4];
    ptxiTensorMap maps[2], *map = &maps[0];

#define REFUSED(change, result)                                             \
    do {                                                                    \
        s = shapes[4];                                                      \
        change;                                                             \
        gives(encode(map, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32), result);  \
    } while (0)
    REFUSED((void)0, PTXI_SUCCESS);
    REFUSED(s.rank = 0, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.rank = 6, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.dim[1] = 0, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.dim[1] = (UINT64_C(1) << 32) + 1, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.stride[0] = 100, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.stride[0] = UINT64_C(1) << 40, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.box[0] = 6, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.box[1] = 257, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.step[1] = 9, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.swizzle = 7, PTXI_ERROR_INVALID_VALUE);
    REFUSED((s.swizzle = PTXI_TENSOR_MAP_SWIZZLE_32B, s.box[0] = 16), PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.swizzle = PTXI_TENSOR_MAP_SWIZZLE_128B, PTXI_ERROR_NOT_SUPPORTED);
    s = shapes[4];
    gives(encode((ptxiTensorMap *)((char *)map + 32), &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32), PTXI_ERROR_INVALID_VALUE);
    gives(encode(NULL, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32), PTXI_ERROR_INVALID_VALUE);
    gives(encode(map, &s, PTXI_TENSOR_MAP_DATA_TYPE_TFLOAT32), PTXI_ERROR_NOT_SUPPORTED);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tensor_copy");
    TCase *t = tcase_create("tensor_copy");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, loads, 0, SHAPES);
    tcase_add_loop_test(t, stores_and_reductions, 0, 3 * SHAPES);
    tcase_add_test(t, multicast_to_itself);
    tcase_add_loop_test(t, misuse_is_reported, 0, 6);
    tcase_add_test(t, maps_are_checked);
    suite_add_tcase(s, t);
    return run_suite(s);
}
