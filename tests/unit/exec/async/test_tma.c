/* Tests tensor copies (TMA) against a reference that visits each element. PTX ISA, "Tensors", "Data Movement and
 * Conversion Instructions: cp.async.bulk.tensor". */
#include "unit/support/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tensors of words. Word i is i + 1. Boxes have up to 4 KiB. */
enum { TENSOR = 16384, BOX = 4096, THREADS = 32, RANKS = 5 };

static const struct shape {
    uint32_t rank;
    uint64_t dim[RANKS], stride[RANKS - 1]; /* bytes */
    uint32_t box[RANKS], step[RANKS];
    int32_t at[RANKS];
    ptxiTensorMapSwizzle swizzle;
} shapes[] = {
    { 1, { 100 }, { 0 }, { 32 }, { 1 }, { 16 }, 0 },
    { 1, { 100 }, { 0 }, { 32 }, { 1 }, { 92 }, 0 },
    { 1, { 100 }, { 0 }, { 32 }, { 1 }, { -28 }, 0 },
    { 1, { 100 }, { 0 }, { 32 }, { 1 }, { 1000 }, 0 },
    { 2, { 20, 6 }, { 96 }, { 8, 4 }, { 1, 1 }, { 4, 1 }, 0 },
    { 2, { 20, 6 }, { 96 }, { 8, 4 }, { 1, 1 }, { -4, -1 }, 0 },
    { 2, { 20, 6 }, { 96 }, { 8, 4 }, { 1, 1 }, { 16, 4 }, 0 },
    { 2, { 20, 16 }, { 96 }, { 8, 7 }, { 1, 3 }, { 4, 5 }, 0 },
    { 2, { 64, 40 }, { 256 }, { 8, 32 }, { 1, 1 }, { 4, 2 }, PTXI_TENSOR_MAP_SWIZZLE_32B },
    { 2, { 64, 40 }, { 256 }, { 16, 32 }, { 1, 1 }, { 4, 2 }, PTXI_TENSOR_MAP_SWIZZLE_64B },
    { 2, { 64, 40 }, { 256 }, { 32, 32 }, { 1, 1 }, { 4, 20 }, PTXI_TENSOR_MAP_SWIZZLE_128B },
    { 3, { 8, 5, 7 }, { 32, 160 }, { 4, 3, 4 }, { 1, 1, 1 }, { 4, 3, 5 }, 0 },
    { 4, { 8, 5, 4, 3 }, { 32, 160, 640 }, { 8, 2, 2, 2 }, { 1, 1, 2, 1 }, { 0, 4, -1, 2 }, 0 },
    { 5, { 8, 3, 3, 3, 3 }, { 32, 96, 288, 864 }, { 4, 2, 2, 2, 2 }, { 1, 1, 1, 1, 1 }, { 4, 2, 1, 0, 2 }, 0 },
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

static void set_up_on(const char *profile)
{
    ok(ptxiInit(0));
    ok(ptxiDeviceSetProfile(0, profile));
    set_up();
}

static void set_up_100(void) { set_up_on("sm_100"); }
static void set_up_103(void) { set_up_on("sm_103"); }

static ptxiResult encode(ptxiTensorMap *map, const struct shape *s, ptxiTensorMapDataType type)
{
    return ptxiTensorMapEncodeTiled(map, type, s->rank, (void *)(uintptr_t)tensor, s->dim, s->stride, s->box, s->step,
                                    0, s->swizzle, 0, 0);
}

static uint32_t box_elements(const struct shape *s, unsigned d)
{
    return d ? (s->box[d] + s->step[d] - 1) / s->step[d] : s->box[0];
}

static uint32_t box_words(const struct shape *s)
{
    uint32_t n = 1;

    for (unsigned d = 0; d < s->rank; d++)
        n *= box_elements(s, d);
    return n;
}

/* Index of the tensor's word for element n of the box, or -1 outside of the tensor. */
static int64_t element(const struct shape *s, uint32_t n)
{
    int64_t bytes = 0;

    for (unsigned d = 0; d < s->rank; d++) {
        int64_t c = s->at[d] + (int64_t)(n % box_elements(s, d)) * (d ? s->step[d] : 1);

        if (c < 0 || c >= (int64_t)s->dim[d])
            return -1;
        bytes += c * (d ? (int64_t)s->stride[d - 1] : 4);
        n /= box_elements(s, d);
    }
    return bytes / 4;
}

/* Index of the word in shared memory. PTX ISA, "Swizzling Modes", as tables: rows of 128 bytes, chunks of 16 bytes. */
static uint32_t place(const struct shape *s, uint32_t n)
{
    static const uint8_t rows[4] = { 1, 2, 4, 8 };
    uint32_t row = n * 4 / 128, chunk = n * 4 / 16 % 8, other = chunk ^ row % rows[s->swizzle];

    return row * 32 + other * 4 + n % 4;
}

static const char *target = "sm_90";

/* Runs a kernel in which one thread executes `copy`. Its parameters are the map, the words of the box, five
 * coordinates and the size of the box in bytes. */
static ptxiResult run(const char *copy, bool load, ptxiTensorMap *map, const struct shape *s)
{
    static const char frame[] =
        ".version 9.5\n.target %s\n.address_size 64\n.global .align 128 .b8 work[128];\n"
        ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p, .param .u32 c0, .param .u32 c1, .param .u32 "
        "c2, .param .u32 c3, .param .u32 c4, .param .u32 n, .param .u64 address) {\n"
        "  .reg .b32 %%r<10>, %%c<5>, %%s, %%m, %%n; .reg .b64 %%rd<8>, %%map; .reg .pred %%p, %%q; .reg .b16 %%h; "
        ".reg .b8 %%b; .shared .align 128 .b8 copy[128]; .shared .align 1024 .b8 s[16384]; .shared .b64 m;\n"
        "  mov.b64 %%map, map; cvta.param.u64 %%map, %%map; ld.param.u64 %%rd1, [p]; ld.param.u32 %%n, [n]; "
        "mov.u32 %%r0, %%tid.x; setp.eq.u32 %%p, %%r0, 0;\n"
        "  ld.param.u32 %%c0, [c0]; ld.param.u32 %%c1, [c1]; ld.param.u32 %%c2, [c2]; ld.param.u32 %%c3, [c3]; "
        "ld.param.u32 %%c4, [c4]; mov.u32 %%s, s; mov.u32 %%m, m;\n"
        "  @%%p prefetch.tensormap [%%map]; @%%p mbarrier.init.shared.b64 [%%m], 1; "
        "fence.mbarrier_init.release.cluster; bar.sync 0; mov.b16 %%h, 1;\n"
        "%s"
        "  mov.u32 %%r2, %%r0;\n"
        "WORD: shl.b32 %%r3, %%r2, 2; add.u32 %%r4, %%r3, %%s; cvt.u64.u32 %%rd2, %%r3; add.u64 %%rd2, %%rd2, %%rd1; "
        "%s\n"
        "  add.u32 %%r2, %%r2, 32; setp.lt.u32 %%q, %%r2, 1024; @%%q bra WORD;\n%s ret; }\n";
    static char before[4000], after[1000], text[8000];
    uint32_t bytes = box_words(s) * 4;
    int32_t at[RANKS];
    void *params[] = { map, &box, &at[0], &at[1], &at[2], &at[3], &at[4], &bytes, &tensor };
    ptxiModule m;
    ptxiFunction f;
    ptxiResult r;

    memcpy(at, s->at, sizeof at);
    snprintf(before, sizeof before, "  @%%p mbarrier.arrive.expect_tx.shared.b64 _, [%%m], %%n; @%%p %s\n"
             "W: mbarrier.try_wait.parity.shared.b64 %%q, [%%m], 0; @!%%q bra W;\n", copy);
    snprintf(after, sizeof after, "  fence.proxy.async.shared::cta; bar.sync 0; @%%p %s cp.async.bulk.commit_group; "
                                  "cp.async.bulk.wait_group 0;\n", copy);
    snprintf(text, sizeof text, frame, target, load ? before : "", load ? "ld.shared.u32 %r5, [%r4]; "
             "st.global.u32 [%rd2], %r5;" : "ld.global.u32 %r5, [%rd2]; st.shared.u32 [%r4], %r5;",
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

#define LOAD(dim, c) \
    "cp.async.bulk.tensor." dim ".shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%map, " c "], [%m];"
#define STORE(dim, c) "cp.async.bulk.tensor." dim ".global.shared::cta.bulk_group [%map, " c "], [%s];"
#define REDUCE(op, dim, c) \
    "cp.reduce.async.bulk.tensor." dim ".global.shared::cta." op ".tile.bulk_group [%map, " c "], [%s];"
#define EACH_RANK(X) \
    { X("1d", "{%c0}"), X("2d", "{%c0, %c1}"), X("3d", "{%c0, %c1, %c2}"), X("4d", "{%c0, %c1, %c2, %c3}"), \
      X("5d", "{%c0, %c1, %c2, %c3, %c4}") }
#define ADD(dim, c) REDUCE("add", dim, c)
#define MAX(dim, c) REDUCE("max", dim, c)

START_TEST(boxes_are_loaded)
{
    static const char *const copies[] = EACH_RANK(LOAD);
    const struct shape *s = &shapes[_i];
    uint32_t got[BOX / 4];
    ptxiTensorMap map;

    ok(encode(&map, s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ok(run(copies[s->rank - 1], true, &map, s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t n = 0; n < box_words(s); n++)
        ck_assert_msg(got[place(s, n)] == (uint32_t)(element(s, n) + 1), "shape %d: element %u is %u", _i, n,
                      got[place(s, n)]);
}
END_TEST

static uint32_t copied(uint32_t old, uint32_t x) { return (void)old, x; }
static uint32_t added(uint32_t old, uint32_t x) { return old + x; }
static uint32_t larger(uint32_t old, uint32_t x) { return (int32_t)old > (int32_t)x ? old : x; }

START_TEST(boxes_are_stored_and_reduced)
{
    static const char *const copies[][RANKS] = { EACH_RANK(STORE), EACH_RANK(ADD), EACH_RANK(MAX) };
    static uint32_t (*const combine[])(uint32_t, uint32_t) = { copied, added, larger };
    struct shape shape_copy = shapes[_i % SHAPES], *s = &shape_copy;
    static uint32_t want[TENSOR / 4], got[TENSOR / 4];
    uint32_t words[BOX / 4];
    ptxiTensorMap map;

    for (unsigned d = 0; d < s->rank; d++) /* no negative coordinates */
        s->at[d] = abs(s->at[d]);
    for (uint32_t k = 0; k < BOX / 4; k++)
        words[k] = k % 2 ? 100000 + k : (uint32_t)-5 - k;
    for (uint32_t k = 0; k < TENSOR / 4; k++)
        want[k] = k + 1;
    for (uint32_t n = 0; n < box_words(s); n++)
        if (element(s, n) >= 0)
            want[element(s, n)] = combine[_i / SHAPES](want[element(s, n)], words[place(s, n)]);
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
    ok(run("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%s], "
           "[%map, {%c0, %c1}], [%m], %h;", true, &map, s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t n = 0; n < box_words(s); n++)
        ck_assert_uint_eq(got[n], (uint32_t)(element(s, n) + 1));
}
END_TEST

/* The same with a mask of 32 bits. */
START_TEST(multicast_with_a_wide_mask)
{
    const struct shape *s = &shapes[4];
    uint32_t got[BOX / 4];
    ptxiTensorMap map;

    target = "sm_107f";
    ok(encode(&map, s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ok(run("mov.b32 %r9, 1;\n@%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
           ".multicast::cluster::32b.mbarrier::report::disabled [%s], [%map, {%c0, %c1}], [%m], %r9;", true, &map, s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t n = 0; n < box_words(s); n++)
        ck_assert_uint_eq(got[n], (uint32_t)(element(s, n) + 1));
}
END_TEST

#define OTHER_ADDRESS ".override::global_address "
#define LOAD_AT(dim, c) \
    "cp.async.bulk.tensor." dim ".shared::cta.global.mbarrier::complete_tx::bytes" OTHER_ADDRESS \
    "[%s], [%map, %rd3, " c "], [%m];"
#define STORE_AT(dim, c) \
    "cp.async.bulk.tensor." dim ".global.shared::cta.bulk_group" OTHER_ADDRESS "[%map, %rd3, " c "], [%s];"

/* The address in the map is another one. */
START_TEST(addresses_are_overridden)
{
    static const char *const loads[] = EACH_RANK(LOAD_AT), *const stores[] = EACH_RANK(STORE_AT);
    struct shape s = shapes[_i];
    uint32_t words[BOX / 4], got[TENSOR / 4];
    char text[1000];
    ptxiTensorMap map;

    target = "sm_107f";
    for (unsigned d = 0; d < s.rank; d++)
        s.at[d] = abs(s.at[d]);
    ok(ptxiTensorMapEncodeTiled(&map, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32, s.rank, (void *)(uintptr_t)(box + 64), s.dim,
                                s.stride, s.box, s.step, 0, s.swizzle, 0, 0));
    snprintf(text, sizeof text, "ld.param.u64 %%rd3, [address];\n@%%p %s", loads[s.rank - 1]);
    ok(run(text, true, &map, &s));
    ok(ptxiMemcpyDtoH(words, box, BOX));
    for (uint32_t n = 0; n < box_words(&s); n++) {
        ck_assert_uint_eq(words[place(&s, n)], (uint32_t)(element(&s, n) + 1));
        words[place(&s, n)] += 1000;
    }
    ok(ptxiMemcpyHtoD(box, words, BOX));
    snprintf(text, sizeof text, "ld.param.u64 %%rd3, [address];\n@%%p %s", stores[s.rank - 1]);
    ok(run(text, false, &map, &s));
    ok(ptxiMemcpyDtoH(got, tensor, TENSOR));
    for (uint32_t n = 0; n < box_words(&s); n++)
        if (element(&s, n) >= 0)
            ck_assert_uint_eq(got[element(&s, n)], (uint32_t)(element(&s, n) + 1001));
}
END_TEST

/* An address of 8 or 16 bits that overrides that of the map is extended by zeros. No memory is there. */
START_TEST(narrow_addresses_are_extended)
{
    static const struct { const char *set, *address; uint64_t value; } rows[] = {
        { "mov.b32 %r9, 0x80; cvt.u8.u32 %b, %r9;", "%b", 0x80 },
        { "mov.b16 %h, 0xff80;", "%h", 0xff80 },
    };
    struct shape s = shapes[4];
    ptxiReport report = { .size = sizeof report };
    ptxiTensorMap map;
    char text[400];

    target = "sm_107f";
    ok(encode(&map, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    snprintf(text, sizeof text, "%s @%%p cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
             OTHER_ADDRESS "[%%s], [%%map, %s, {%%c0, %%c1}], [%%m];", rows[_i].set, rows[_i].address);
    ck_assert_int_ne(run(text, true, &map, &s), PTXI_SUCCESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_msg(report.address == rows[_i].value + (uint64_t)element(&s, 0) * 4, "%s", report.text);
}
END_TEST

/* Appends an operand in braces. */
static size_t put_vector(char *text, size_t size, const char *name, unsigned count)
{
    size_t n = 0;

    for (unsigned d = 0; d < count; d++)
        n += (size_t)snprintf(text + n, size - n, "%s%s%u", d ? ", " : "{", name, d);
    return n + (size_t)snprintf(text + n, size - n, "}, ");
}

/* The map has other sizes and strides. */
START_TEST(sizes_are_overridden)
{
    struct shape s = shapes[_i];
    char text[2000];
    size_t n;
    uint32_t got[BOX / 4];
    ptxiTensorMap map;

    target = "sm_107f";
    memset(s.at, 0, sizeof s.at);
    n = (size_t)snprintf(text, sizeof text, "ld.param.u64 %%rd3, [address];\n.reg .b16 %%z<5>, %%upper; .reg .b32 "
                         "%%w<4>, %%zero<5>; mov.b16 %%upper, 0;\n");
    for (unsigned d = 0; d < s.rank; d++) {
        ck_assert_uint_le(s.dim[d], 255);
        n += (size_t)snprintf(text + n, sizeof text - n, "mov.b16 %%z%u, %u; mov.b32 %%zero%u, 0;\n", d,
                              (unsigned)s.dim[d], d);
        if (d > 0)
            n += (size_t)snprintf(text + n, sizeof text - n, "mov.b32 %%w%u, %u;\n", d - 1,
                                  (unsigned)(s.stride[d - 1] / 16));
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "@%%p cp.async.bulk.tensor.%ud.shared::cta.global"
                          ".mbarrier::complete_tx::bytes.override::global_address.override::global_dim%s [%%s], "
                          "[%%map, %%rd3, ", s.rank, s.rank > 1 ? "_stride" : "");
    n += put_vector(text + n, sizeof text - n, "%z", s.rank);
    if (s.rank > 1) {
        n += put_vector(text + n, sizeof text - n, "%w", s.rank - 1);
        n += (size_t)snprintf(text + n, sizeof text - n, "%%upper, ");
    }
    n += put_vector(text + n, sizeof text - n, "%zero", s.rank);
    snprintf(text + n - 2, sizeof text - n + 2, "], [%%m];"); /* in place of the last comma */
    for (unsigned d = 0; d < s.rank; d++)
        s.dim[d] = 1;
    ok(encode(&map, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    memcpy(s.dim, shapes[_i].dim, sizeof s.dim);
    ok(run(text, true, &map, &s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t k = 0; k < box_words(&s); k++)
        ck_assert_uint_eq(got[place(&s, k)], (uint32_t)(element(&s, k) + 1));
}
END_TEST

/* The kernel changes the map in shared memory, and then uses it for a copy. */
static const char copy_map[] = "ld.b64 %rd2, [%map]; mov.u32 %r1, copy; mov.u32 %r5, copy;\n"
    "COPY: ld.b64 %rd2, [%map]; @%p st.shared.b64 [%r1], %rd2; add.u64 %map, %map, 8; add.u32 %r1, %r1, 8; "
    "sub.u32 %r3, %r1, %r5; setp.lt.u32 %q, %r3, 128; @%q bra COPY;\n"
    "  mov.u32 %r1, copy; ld.param.u64 %rd3, [address];\n";
static const char publish_map[] =
    "  bar.warp.sync -1; "
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[work], [copy], 128;\n"
    "  fence.proxy.tensormap::generic.acquire.gpu [work], 128; mov.u64 %map, work; @%p ";

/* The kernel changes a map of another tensor, or an empty map, so that it describes the shape. */
START_TEST(changed_maps)
{
    static const char *const loads[] = EACH_RANK(LOAD);
    const struct shape *s = &shapes[_i % SHAPES], *other = &shapes[(_i + 5) % SHAPES];
    bool nothing = _i >= SHAPES;
    char text[3500];
    size_t n = 0;
    uint32_t got[BOX / 4];
    ptxiTensorMap map;

#define ADD_TEXT(...) n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__)
#define REPLACE(field, type, ...) \
    ADD_TEXT("  @%%p tensormap.replace.tile." field ".shared::cta.b1024." type " [%%r1], "); ADD_TEXT(__VA_ARGS__); \
    ADD_TEXT(";\n")
    ADD_TEXT("%s", copy_map);
    REPLACE("global_address", "b64", "%%rd3");
    REPLACE("rank", "b32", "%u", s->rank - 1);
    REPLACE("elemtype", "b32", "7");
    REPLACE("swizzle_mode", "b32", "%d", (int)s->swizzle);
    REPLACE("interleave_layout", "b32", "0");
    REPLACE("fill_mode", "b32", "0");
    for (unsigned d = 0; d < s->rank; d++) {
        REPLACE("box_dim", "b32", "%u, %u", d, s->box[d]);
        REPLACE("global_dim", "b32", "%u, %u", d, (unsigned)s->dim[d]);
        REPLACE("element_stride", "b32", "%u, %u", d, s->step[d]);
        if (d + 1 < s->rank) {
            REPLACE("global_stride", "b64", "%u, %llu", d, (unsigned long long)s->stride[d]);
        }
    }
    ADD_TEXT("%s%s", publish_map, loads[s->rank - 1]);
    target = "sm_90a";
    ok(encode(&map, other, PTXI_TENSOR_MAP_DATA_TYPE_INT32));
    if (nothing)
        memset(&map, 0, sizeof map);
    ok(run(text, true, &map, s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t k = 0; k < box_words(s); k++)
        ck_assert_msg(got[place(s, k)] == (uint32_t)(element(s, k) + 1), "shape %d: element %u is %u", _i, k,
                      got[place(s, k)]);
}
END_TEST

/* The kernel copies a box after a query of the map, which must have the given answer. */
static void query(ptxiTensorMap *map, const struct shape *s, bool large)
{
    static const char *const loads[] = EACH_RANK(LOAD);
    char text[1000];
    uint32_t got[BOX / 4];

    snprintf(text, sizeof text, "mov.u32 %%r9, 0; tensormap.query.alloc_class_large.b1024 %%q, [%%map]; @%s%%q trap; "
             "@%%p %s", large ? "!" : "", loads[s->rank - 1]);
    ok(run(text, true, map, s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t k = 0; k < box_words(s); k++)
        ck_assert_uint_eq(got[place(s, k)], (uint32_t)(element(s, k) + 1));
}

/* CUTLASS and Triton change bit 21 of the second word. */
START_TEST(maps_with_a_changed_bit)
{
    const struct shape *s = &shapes[_i];
    uint64_t words[sizeof(ptxiTensorMap) / 8];
    ptxiTensorMap map;

    target = "sm_90a";
    ok(encode(&map, s, PTXI_TENSOR_MAP_DATA_TYPE_INT32));
    query(&map, s, false);
    memcpy(words, &map, sizeof words);
    words[1] |= UINT64_C(1) << 21;
    memcpy(&map, words, sizeof map);
    query(&map, s, true);
}
END_TEST

START_TEST(maps_of_sm_100_have_the_bit)
{
    uint64_t words[sizeof(ptxiTensorMap) / 8];
    ptxiTensorMap map;

    ok(encode(&map, &shapes[0], PTXI_TENSOR_MAP_DATA_TYPE_INT32));
    memcpy(words, &map, sizeof words);
    ck_assert_uint_eq(words[1] >> 21 & 1, 1);
}
END_TEST

/* A new address clears the bit, too; other fields do not. */
START_TEST(a_new_address_clears_the_bit)
{
#define QUERY(p) " tensormap.query.alloc_class_large.shared::cta.b1024 " p ", [copy]; bar.warp.sync -1; "
    static const char replace[] =
        "@%p tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 0, 100000; bar.warp.sync -1;" QUERY("%q")
        "@!%q trap; @%p tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd3; bar.warp.sync -1;"
        QUERY("%q") "@%q trap;";
    char text[3500];
    ptxiTensorMap map;

    target = "sm_90a";
    ok(encode(&map, &shapes[0], PTXI_TENSOR_MAP_DATA_TYPE_INT32));
    ((unsigned char *)&map)[10] |= 1 << 5;
    snprintf(text, sizeof text, "%s%s%s%s", copy_map, replace, publish_map, LOAD("1d", "{%c0}"));
    ok(run(text, true, &map, &shapes[0]));
}
END_TEST

/* Gathers and scatters four rows of 8 words at the given coordinates. */
START_TEST(gather_and_scatter)
{
    static const struct shape s = { 2, { 20, 6 }, { 96 }, { 8, 4 }, { 1, 1 }, { 16, 5, 0, 7, 2 }, 0 };
    struct shape row = s;
    uint32_t got[TENSOR / 4], want[TENSOR / 4], words[BOX / 4];
    ptxiTensorMap map;

    target = "sm_100a";
    row.box[1] = 1;
    ok(encode(&map, &row, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ok(run("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%s], [%map, {%c0, "
           "%c1, %c2, %c3, %c4}], [%m];", true, &map, &s));
    ok(ptxiMemcpyDtoH(words, box, BOX));
    ok(ptxiMemcpyDtoH(want, tensor, TENSOR));
    for (int n = 0; n < 32; n++) {
        int y = s.at[1 + n / 8], x = s.at[0] + n % 8;
        bool inside = x < 20 && y < 6;

        ck_assert_uint_eq(words[n], inside ? (uint32_t)(y * 24 + x + 1) : 0);
        words[n] += 1000;
        if (inside)
            want[y * 24 + x] = words[n];
    }
    ok(ptxiMemcpyHtoD(box, words, BOX));
    ok(run("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%map, {%c0, %c1, %c2, %c3, %c4}], "
           "[%s];", false, &map, &s));
    ok(ptxiMemcpyDtoH(got, tensor, TENSOR));
    ck_assert(!memcmp(got, want, sizeof want));
}
END_TEST

/* im2col: columns of pixels with 4 channels each. The positions of pixels are counted, innermost dimension first. */
static const struct columns {
    uint32_t rank;
    uint64_t dim[RANKS], stride[RANKS - 1];
    int lower[3], upper[3];
    uint32_t step[RANKS], pixels;
    int32_t at[RANKS];
    uint32_t offset[3];
} columns[] = {
    { 3, { 8, 9, 5 }, { 32, 288 }, { -1 }, { -1 }, { 1, 1, 1 }, 30, { 4, 6, 2 }, { 0 } },
    { 3, { 8, 9, 5 }, { 32, 288 }, { -1 }, { -1 }, { 1, 2, 1 }, 20, { 0, 5, 1 }, { 2 } },
    { 4, { 8, 7, 6, 4 }, { 32, 224, 1344 }, { -1, -1 }, { -1, -1 }, { 1, 1, 1, 1 }, 64, { 0, 5, 4, 1 }, { 0, 0 } },
    { 4, { 8, 7, 6, 4 }, { 32, 224, 1344 }, { 0, 0 }, { -2, -2 }, { 1, 1, 1, 1 }, 64, { 4, 3, 2, 3 }, { 2, 1 } },
    { 4, { 8, 7, 6, 4 }, { 32, 224, 1344 }, { -1, -2 }, { 1, 0 }, { 1, 2, 3, 1 }, 50, { -4, 1, -2, 0 }, { 1, 2 } },
    { 5, { 8, 4, 3, 3, 3 }, { 32, 128, 384, 1152 }, { -1, -1, -1 }, { -1, -1, 0 }, { 1, 1, 1, 1, 1 }, 60,
      { 0, 1, 0, 1, 1 }, { 2, 0, 1 } },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Index of the tensor's word for channel ch of pixel k, or -1 outside of the tensor. */
static int64_t channel(const struct columns *s, uint32_t k, uint32_t ch, bool offsets)
{
    int64_t count[RANKS], at = 0, place = k, bytes;

    for (unsigned d = s->rank - 2; d; d--)
        count[d] = ((int64_t)s->dim[d] - 1 + s->upper[d - 1] - s->lower[d - 1]) / s->step[d] + 1;
    for (unsigned d = s->rank - 1; d; d--)
        at = d == s->rank - 1 ? s->at[d] : at * count[d] + (s->at[d] - s->lower[d - 1]) / (int)s->step[d];
    place += at;
    bytes = 4 * (s->at[0] + (int64_t)ch);
    if (bytes < 0 || bytes >= 4 * (int64_t)s->dim[0])
        return -1;
    for (unsigned d = 1; d < s->rank; d++) {
        bool last = d == s->rank - 1;
        int64_t c = last ? place : place % count[d] * s->step[d] + s->lower[d - 1] + (offsets ? s->offset[d - 1] : 0);

        if (c < 0 || c >= (int64_t)s->dim[d])
            return -1;
        bytes += c * (int64_t)s->stride[d - 1];
        place = last ? place : place / count[d];
    }
    return bytes / 4;
}

static ptxiResult encode_columns(ptxiTensorMap *map, const struct columns *s)
{
    return ptxiTensorMapEncodeIm2col(map, PTXI_TENSOR_MAP_DATA_TYPE_INT32, s->rank, (void *)(uintptr_t)tensor, s->dim,
                                     s->stride, s->lower, s->upper, 4, s->pixels, s->step, 0, 0, 0, 0);
}

/* Stored pixels are inside of the tensor. */
static bool storable(const struct columns *s)
{
    for (unsigned d = 0; d < s->rank; d++)
        if (s->at[d] < 0 || (d + 2 < s->rank && (s->lower[d] < 0 || s->upper[d] > 0)))
            return false;
    return true;
}

START_TEST(im2col_columns)
{
    static const char *const c[] = { "{%c0, %c1, %c2}", "{%c0, %c1, %c2, %c3}", "{%c0, %c1, %c2, %c3, %c4}" };
    const struct columns *s = &columns[_i];
    struct shape words = { .rank = 2, .box = { 4, s->pixels }, .step = { 1, 1 } };
    uint32_t got[TENSOR / 4], want[TENSOR / 4], in[BOX / 4];
    char copy[300], offsets[40];
    ptxiTensorMap map;

    memcpy(words.at, s->at, sizeof words.at);
    snprintf(offsets, sizeof offsets, s->rank == 3 ? "{%u}" : s->rank == 4 ? "{%u, %u}" : "{%u, %u, %u}", s->offset[0],
             s->offset[1], s->offset[2]);
    snprintf(copy, sizeof copy, "cp.async.bulk.tensor.%ud.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                                "[%%s], [%%map, %s], [%%m], %s;", s->rank, c[s->rank - 3], offsets);
    ok(encode_columns(&map, s));
    ok(run(copy, true, &map, &words));
    ok(ptxiMemcpyDtoH(in, box, BOX));
    ok(ptxiMemcpyDtoH(want, tensor, TENSOR));
    for (uint32_t n = 0; n < 4 * s->pixels; n++)
        ck_assert_msg(in[n] == (uint32_t)(channel(s, n / 4, n % 4, true) + 1), "channel %u of pixel %u is %u", n % 4,
                      n / 4, in[n]);
    if (!storable(s))
        return;
    for (uint32_t n = 0; n < 4 * s->pixels; n++) {
        in[n] += 10000;
        if (channel(s, n / 4, n % 4, false) >= 0)
            want[channel(s, n / 4, n % 4, false)] = in[n];
    }
    snprintf(copy, sizeof copy, "cp.async.bulk.tensor.%ud.global.shared::cta.im2col_no_offs.bulk_group [%%map, %s], "
                                "[%%s];", s->rank, c[s->rank - 3]);
    ok(ptxiMemcpyHtoD(box, in, BOX));
    ok(run(copy, false, &map, &words));
    ok(ptxiMemcpyDtoH(got, tensor, TENSOR));
    for (uint32_t k = 0; k < TENSOR / 4; k++)
        ck_assert_msg(got[k] == want[k], "word %u is %u, not %u", k, got[k], want[k]);
}
END_TEST

/* im2col::w and im2col::w::128: columns of pixels in one dimension, image after image, with halos of two pixels
 * after them. */
static const struct wide {
    struct columns s; /* lower[0], upper[0] and at; offset: wHalo, wOffset */
    bool w128;
} wides[] = {
    { { 3, { 16, 9, 5 }, { 64, 576 }, { -1 }, { -1 }, { 1, 1, 1 }, 20, { 0, 3, 1 }, { 2, 1 } }, false },
    { { 4, { 16, 9, 3, 4 }, { 64, 576, 1728 }, { 0 }, { 0 }, { 1, 1, 1, 1 }, 24, { 0, 4, 1, 0 }, { 2, 0 } }, false },
    { { 5, { 16, 7, 2, 2, 3 }, { 64, 448, 896, 1792 }, { -1 }, { 1 }, { 1, 3, 1, 1, 1 }, 9, { 0, -1, 1, 1, 0 },
        { 1, 2 } }, false },
    { { 3, { 16, 50, 5 }, { 64, 3200 }, { -1 }, { 0 }, { 1, 2, 1 }, 1, { 0, 5, 0 }, { 0, 1 } }, true },
    { { 3, { 16, 50, 5 }, { 64, 3200 }, { -1 }, { 0 }, { 1, 2, 1 }, 1, { 0, 5, 0 }, { 2, 1 } }, true },
    /* the first pixels are before the corner */
    { { 3, { 16, 9, 5 }, { 64, 576 }, { -1 }, { -1 }, { 1, 1, 1 }, 20, { 0, -3, 1 }, { 2, 1 } }, false },
    { { 3, { 16, 9, 5 }, { 64, 576 }, { -1 }, { 0 }, { 1, 2, 1 }, 20, { 0, -5, 1 }, { 3, 0 } }, false },
};
enum { WIDE_COUNT = sizeof wides / sizeof *wides };

static ptxiResult encode_wide(ptxiTensorMap *map, const struct wide *x, uint32_t channels)
{
    const struct columns *s = &x->s;

    return ptxiTensorMapEncodeIm2colWide(map, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16, s->rank, (void *)(uintptr_t)tensor,
                                         s->dim, s->stride, s->lower[0], s->upper[0], channels, s->pixels, s->step, 0,
                                         x->w128 ? PTXI_TENSOR_MAP_IM2COL_WIDE_MODE_W128
                                         : PTXI_TENSOR_MAP_IM2COL_WIDE_MODE_W, PTXI_TENSOR_MAP_SWIZZLE_64B, 0, 0);
}

/* Index of the tensor's f16 element for channel ch of pixel k, or -1 outside of the tensor. */
static int64_t wide_channel(const struct columns *s, uint32_t k, uint32_t ch)
{
    uint32_t last = s->rank - 1;
    int64_t count = ((int64_t)s->dim[1] - 1 + s->upper[0] - s->lower[0]) / s->step[1] + 1,
        place = (s->at[1] - s->lower[0]) / (int)s->step[1] + (int64_t)k;
    int64_t w = s->lower[0] + (place < 0 ? place : place % count) * s->step[1] + s->offset[1],
        image = s->at[last] + (place < 0 ? 0 : place / count);
    int64_t bytes = 2 * (int64_t)ch + w * (int64_t)s->stride[0] + image * (int64_t)s->stride[last - 1];

    for (uint32_t d = 2; d < last; d++)
        bytes += s->at[d] * (int64_t)s->stride[d - 1];
    return w < 0 || w >= (int64_t)s->dim[1] || image >= (int64_t)s->dim[last] ? -1 : bytes / 2;
}

START_TEST(im2col_w_columns)
{
    enum { CHANNELS = 32 };
    static const char *const c[] = { "{%c0, %c1, %c2}", "{%c0, %c1, %c2, %c3}", "{%c0, %c1, %c2, %c3, %c4}" };
    const struct wide *x = &wides[_i];
    struct columns s = x->s;
    uint32_t halo = s.offset[0], group = x->w128 ? 32 : s.pixels, groups = x->w128 ? 4 : 1,
        all = groups * (group + halo);
    struct shape words = { .rank = 2, .box = { CHANNELS / 2, all }, .step = { 1, 1 },
                           .swizzle = PTXI_TENSOR_MAP_SWIZZLE_64B };
    uint32_t got[BOX / 4];
    uint16_t halves[TENSOR / 2];
    char copy[300];
    ptxiTensorMap map;

    target = "sm_100a";
    s.dim[0] = CHANNELS;
    memcpy(words.at, s.at, sizeof words.at);
    snprintf(copy, sizeof copy, "cp.async.bulk.tensor.%ud.shared::cta.global.im2col::w%s.mbarrier::complete_tx::bytes "
                                "[%%s], [%%map, %s], [%%m], {%u, %u};", s.rank, x->w128 ? "::128" : "",
             c[s.rank - 3], halo, s.offset[1]);
    ok(encode_wide(&map, &(struct wide){ s, x->w128 }, CHANNELS));
    ok(run(copy, true, &map, &words));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    ok(ptxiMemcpyDtoH(halves, tensor, TENSOR));
    for (uint32_t n = 0; n < all * CHANNELS / 2 && place(&words, n) < BOX / 4; n++) {
        uint32_t row = n / (CHANNELS / 2), pixel = row / (group + halo) * group + row % (group + halo);
        uint32_t pair = got[place(&words, n)];

        for (uint32_t h = 0; h < 2; h++) {
            int64_t from = wide_channel(&s, pixel, n % (CHANNELS / 2) * 2 + h);

            ck_assert_msg((pair >> 16 * h & 0xffff) == (from < 0 ? 0 : halves[from]),
                          "half %u of row %u is 0x%x, not the code of %d", n % (CHANNELS / 2) * 2 + h, row,
                          pair >> 16 * h & 0xffff, (int)from);
        }
    }
}
END_TEST

/* im2col_no_offs::w: as a load without a halo and an offset, but to the tensor. */
START_TEST(im2col_w_columns_are_stored)
{
    enum { CHANNELS = 32 };
    static const char *const c[] = { "{%c0, %c1, %c2}", "{%c0, %c1, %c2, %c3}", "{%c0, %c1, %c2, %c3, %c4}" };
    static const char *const copies[] = { "cp.async.bulk.tensor.%ud.global.shared::cta.im2col_no_offs::w.bulk_group "
                                          "[%%map, %s], [%%s];",
                                          "cp.reduce.async.bulk.tensor.%ud.global.shared::cta.max."
                                          "im2col_no_offs::w.bulk_group [%%map, %s], [%%s];" };
    const struct wide *x = &wides[_i % 3];
    struct columns s = x->s;
    struct shape words = { .rank = 2, .box = { CHANNELS / 2, s.pixels }, .step = { 1, 1 },
                           .swizzle = PTXI_TENSOR_MAP_SWIZZLE_64B };
    uint16_t in[BOX / 2], want[TENSOR / 2], got[TENSOR / 2];
    char copy[300];
    ptxiTensorMap map;

    target = "sm_107f";
    s.dim[0] = CHANNELS;
    s.lower[0] = s.upper[0] = 0; /* stored pixels are inside of the tensor */
    s.offset[0] = s.offset[1] = 0;
    s.at[1] = s.at[1] < 0 ? 0 : s.at[1];
    memcpy(words.at, s.at, sizeof words.at);
    for (uint32_t k = 0; k < BOX / 2; k++)
        in[k] = (uint16_t)(0x3c00 + k); /* larger than all that are not zero in the tensor */
    ok(ptxiMemsetD16(tensor, 0x3c01, TENSOR / 2));
    ok(ptxiMemcpyHtoD(box, in, BOX));
    for (uint32_t k = 0; k < TENSOR / 2; k++)
        want[k] = 0x3c01;
    for (uint32_t n = 0; n < s.pixels * CHANNELS / 2; n++)
        for (uint32_t h = 0; h < 2; h++) {
            int64_t to = wide_channel(&s, n / (CHANNELS / 2), n % (CHANNELS / 2) * 2 + h);
            uint16_t half = in[2 * place(&words, n) + h];

            if (to >= 0)
                want[to] = _i < 3 || half > want[to] ? half : want[to];
        }
    snprintf(copy, sizeof copy, copies[_i / 3], s.rank, c[s.rank - 3]);
    ok(encode_wide(&map, &(struct wide){ s, false }, CHANNELS));
    ok(run(copy, false, &map, &words));
    ok(ptxiMemcpyDtoH(got, tensor, TENSOR));
    for (uint32_t k = 0; k < TENSOR / 2; k++)
        ck_assert_msg(got[k] == want[k], "half %u is 0x%x, not 0x%x", k, got[k], want[k]);
    /* the corners must be inside */
    s.lower[0] = -1;
    ok(encode_wide(&map, &(struct wide){ s, false }, CHANNELS));
    ck_result(run(copy, false, &map, &words), PTXI_ERROR_LAUNCH_FAILED);
}
END_TEST

START_TEST(im2col_w_maps_are_checked)
{
    struct wide x;
    ptxiTensorMap map;

#define REFUSED_WIDE(change)                                        \
    do {                                                            \
        x = wides[0];                                               \
        change;                                                     \
        ck_result(encode_wide(&map, &x, 32), PTXI_ERROR_INVALID_VALUE); \
    } while (0)
    x = wides[0];
    ok(encode_wide(&map, &x, 32));
    REFUSED_WIDE(x.s.rank = 2);
    REFUSED_WIDE(x.s.lower[0] = -32769);
    REFUSED_WIDE(x.s.upper[0] = 32768);
    REFUSED_WIDE(x.s.pixels = 1025);
    ok(ptxiTensorMapReplaceAddress(&map, (void *)(uintptr_t)box));
    ck_result(ptxiTensorMapReplaceAddress(&map, (void *)(uintptr_t)(box + 8)), PTXI_ERROR_INVALID_VALUE);
    memset(&map, 0, sizeof map);
    ck_result(ptxiTensorMapReplaceAddress(&map, (void *)(uintptr_t)box), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiTensorMapReplaceAddress(NULL, (void *)(uintptr_t)box), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* A program that does not wait sees the old content of the box. */
START_TEST(nothing_arrives_before_the_wait)
{
    const struct shape *s = &shapes[4];
    uint32_t got;
    ptxiTensorMap map;

    ok(encode(&map, s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ok(run(LOAD("2d", "{%c0, %c1}") " ld.param.u64 %rd3, [address]; ld.shared.u32 %r9, [%s]; "
                                    "st.global.u32 [%rd3+16380], %r9;\n", true, &map, s));
    ok(ptxiMemcpyDtoH(&got, tensor + TENSOR - 4, 4));
    ck_assert_uint_eq(got, 0);
    ok(run(STORE("2d", "{%c0, %c1}") " cp.async.bulk.commit_group; cp.async.bulk.wait_group 1; "
                                     "ld.param.u64 %rd3, [address]; ld.global.u32 %r9, [%rd3+112]; "
                                     "st.global.u32 [%rd3+16380], %r9;\n",
           false, &map, s));
    ok(ptxiMemcpyDtoH(&got, tensor + TENSOR - 4, 4));
    ck_assert_uint_eq(got, 112 / 4 + 1);
}
END_TEST

/* After a wait with .read the box may be overwritten, whenever the tensor is written. */
START_TEST(a_box_may_be_reused_after_it_was_read)
{
    const struct shape *s = &shapes[4];
    uint32_t got;
    ptxiTensorMap map;

    ok(encode(&map, s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    for (unsigned seed = 0; seed < 32; seed++) {
        ok(ptxiCtxSetSchedule(NULL, seed));
        ok(ptxiMemsetD32(box, 100 + seed, BOX / 4));
        ok(run(STORE("2d", "{%c0, %c1}") " cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; "
                                         "@%p st.shared.u32 [%s], 0;\n", false, &map, s));
        ok(ptxiMemcpyDtoH(&got, tensor + 112, 4));
        ck_assert_uint_eq(got, 100 + seed);
    }
}
END_TEST

/* The even CTA of a pair counts the bytes of both CTAs. */
static const char pair_kernel[] =
    ".version 9.0\n.target sm_100a\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p) .explicitcluster .reqnctapercluster 2, 1, 1 {\n"
    "  .reg .b32 %%r<10>, %%s, %%m, %%m0; .reg .b64 %%rd<8>, %%map; .reg .pred %%p, %%q, %%even; .reg .b16 %%h; "
    ".shared .align 128 .b8 s[128]; .shared .b64 m;\n"
    "  mov.b64 %%map, map; cvta.param.u64 %%map, %%map; ld.param.u64 %%rd1, [p]; mov.u32 %%r0, %%tid.x; "
    "setp.eq.u32 %%p, %%r0, 0; mov.u32 %%r1, %%cluster_ctarank; setp.eq.u32 %%even, %%r1, 0;\n"
    "  mov.u32 %%s, s; mov.u32 %%m, m; mapa.shared::cluster.u32 %%m0, %%m, 0; "
    "mapa.shared::cluster.u32 %%r6, %%s, %%r1; mov.b16 %%h, 3; mov.u32 %%r2, 0; shl.b32 %%r3, %%r1, 2;\n"
    "  @%%p mbarrier.init.shared.b64 [%%m], 1; @%%p mbarrier.arrive.expect_tx.shared.b64 _, [%%m], 256; "
    "fence.mbarrier_init.release.cluster; barrier.cluster.arrive; barrier.cluster.wait;\n"
    "  %s\n"
    "  @!%%even bra DONE;\n"
    "W: mbarrier.try_wait.parity.shared.b64 %%q, [%%m], 0; @!%%q bra W;\n"
    "DONE: barrier.cluster.arrive; barrier.cluster.wait; shl.b32 %%r4, %%r0, 2; add.u32 %%r5, %%r4, %%s; "
    "ld.shared.u32 %%r7, [%%r5]; mad.lo.u32 %%r4, %%r1, 128, %%r4;\n"
    "  cvt.u64.u32 %%rd2, %%r4; add.u64 %%rd2, %%rd2, %%rd1; st.global.u32 [%%rd2], %%r7; ret; }\n";
static const struct {
    const char *copy;
    ptxiFault fault;
    uint32_t odd; /* row of the tensor for the odd CTA; the even one gets row 0 */
} pairs[] = {
    { "@%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r6], [%map, "
      "{%r2, %r3}], [%m0];", PTXI_FAULT_NONE, 4 },
    { "setp.eq.and.u32 %q, %r1, 1, %p; "
      "@%q cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.cta_group::2 [%r6], [%map, {%r2, %r2}], [%m0], %h;",
      PTXI_FAULT_NONE, 0 },
    { "@%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::1 [%r6], [%map, "
      "{%r2, %r3}], [%m0];", PTXI_FAULT_MISUSE, 4 },
    { "@%p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r6], [%map, {%r2, %r3}], "
      "[%m0];", PTXI_FAULT_MISUSE, 4 },
};

START_TEST(cta_pairs_share_an_mbarrier)
{
    static const struct shape s = { 2, { 8, 16 }, { 32 }, { 8, 4 }, { 1, 1 }, { 0 }, 0 };
    uint32_t got[64];
    char text[4000];
    ptxiTensorMap map;
    void *params[] = { &map, &box };
    ptxiModule m;
    ptxiFunction f;
    ptxiReport report = { .size = sizeof report };

    ok(encode(&map, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    snprintf(text, sizeof text, pair_kernel, pairs[_i].copy);
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiLaunchKernel(f, 2, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    if (pairs[_i].fault) {
        ck_assert_int_ne(ptxiCtxSynchronize(), PTXI_SUCCESS);
        ok(ptxiGetLastReport(NULL, &report));
        ck_assert_msg(strstr(report.text, "not in the CTA where the bytes arrive"), "%s", report.text);
        return;
    }
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(got, box, sizeof got));
    for (uint32_t k = 0; k < 64; k++)
        ck_assert_uint_eq(got[k], (k < 32 ? k : k - 32 + 8 * pairs[_i].odd) + 1);
}
END_TEST

START_TEST(im2col_maps_are_checked)
{
    struct columns s;
    ptxiTensorMap map;

#define REFUSED_COLUMNS(change)                                    \
    do {                                                           \
        s = columns[2];                                            \
        change;                                                    \
        ck_result(encode_columns(&map, &s), PTXI_ERROR_INVALID_VALUE); \
    } while (0)
    REFUSED_COLUMNS(s.rank = 2);
    REFUSED_COLUMNS(s.rank = 6);
    REFUSED_COLUMNS(s.lower[0] = -129);
    REFUSED_COLUMNS(s.lower[1] = 128);
    REFUSED_COLUMNS(s.upper[1] = -129);
    REFUSED_COLUMNS(s.pixels = 0);
    REFUSED_COLUMNS(s.pixels = 1025);
    REFUSED_COLUMNS(s.step[2] = 0);
    REFUSED_COLUMNS(s.stride[1] = 8);
}
END_TEST

START_TEST(elements_outside_may_be_nan)
{
    static const struct shape s = { 1, { 100 }, { 0 }, { 16 }, { 1 }, { 88 }, 0 }; /* 32 elements of f16 */
    uint16_t got[BOX / 2], words[TENSOR / 2];
    ptxiTensorMap map;

    ok(ptxiMemcpyDtoH(words, tensor, TENSOR));
    for (int type = 0; type < 2; type++) {
        ok(ptxiTensorMapEncodeTiled(&map, type ? PTXI_TENSOR_MAP_DATA_TYPE_BFLOAT16 : PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                    1, (void *)(uintptr_t)tensor, s.dim, s.stride,
                                    (uint32_t[]){ 32 }, s.step, 0, 0, 0,
                                    PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA));
        ok(run(LOAD("1d", "{%c0}"), true, &map, &s));
        ok(ptxiMemcpyDtoH(got, box, BOX));
        for (int n = 0; n < 32; n++)
            ck_assert_uint_eq(got[n], n < 12 ? words[88 + n] : 0x7ff7);
    }
}
END_TEST

/* Copies bytes of the map to %rd1. */
#define MAP_WORD(at) "ld.b64 %rd2, [%map+" #at "]; @%p st.b64 [%rd1+" #at "], %rd2; "
#define MAP_WORDS \
    MAP_WORD(0) MAP_WORD(8) MAP_WORD(16) MAP_WORD(24) MAP_WORD(32) MAP_WORD(40) MAP_WORD(48) MAP_WORD(56) \
    MAP_WORD(64) MAP_WORD(72) MAP_WORD(80) MAP_WORD(88) MAP_WORD(96) MAP_WORD(104) MAP_WORD(112) MAP_WORD(120)

START_TEST(misuse_is_reported)
{
    static const struct shape large = { 2, { 64, 1000 }, { 256 }, { 8, 4 }, { 1, 1 }, { 0, 62 }, 0 };
    static const struct { const char *copy; bool load; ptxiFault fault; const char *report_words; } rows[] = {
        { LOAD("2d", "{%c0, %c1}"), true, PTXI_FAULT_OUT_OF_BOUNDS, "the end of the allocation" },
        { STORE("2d", "{%c0, %c1}"), false, PTXI_FAULT_OUT_OF_BOUNDS, "write of 32 bytes" },
        { LOAD("1d", "{%c0}"), true, PTXI_FAULT_MISUSE, "no tensor map of this number of dimensions" },
        { "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd1, {%c0, %c1}], [%m];",
          true, PTXI_FAULT_MISUSE, "no tensor map" },
        { "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s+64], [%map, {%c0, %c1}], "
          "[%m];", true, PTXI_FAULT_MISALIGNED, "bytes" },
        { REDUCE("or", "2d", "{%c0, %c1}"), false, PTXI_FAULT_MISUSE, "this reduction is not defined" },
        { "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%s], [%map, {%c0, %c1, "
          "%c2}], [%m], {0};", true, PTXI_FAULT_MISUSE, "no tensor map" },
        { "tensormap.replace.tile.box_dim.b1024.b32 [%rd1], 0, 4;", true, PTXI_FAULT_MISUSE, "no tensor map" },
        { MAP_WORDS "@%p tensormap.replace.tile.rank.b1024.b32 [%rd1], 5;", true, PTXI_FAULT_MISUSE, "out of range" },
        { "add.u32 %c0, %c0, 3; @%p " LOAD("2d", "{%c0, %c1}"), true, PTXI_FAULT_MISUSE,
          "must begin at a multiple of 16 bytes" },
        { "mov.u32 %c1, -1; @%p " STORE("2d", "{%c0, %c1}"), false, PTXI_FAULT_MISUSE, "negative coordinate" },
        { "ld.b64 %rd2, [%map]; " MAP_WORDS "@%p tensormap.replace.tile.box_dim.b1024.b32 [%rd1], 0, 3; @%p "
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%rd1, {%c0, %c1}], [%m];",
          true, PTXI_FAULT_MISUSE, "invalid combination of fields" },
    };
    ptxiReport report = { .size = sizeof report };
    ptxiTensorMap map;

    target = "sm_90a";
    ok(encode(&map, &large, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ck_assert_int_ne(run(rows[_i].copy, rows[_i].load, &map, &large), PTXI_SUCCESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_msg(report.fault == rows[_i].fault && strstr(report.text, rows[_i].report_words), "%s", report.text);
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
        ck_result(encode(map, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32), result);  \
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
    REFUSED(s.swizzle = PTXI_TENSOR_MAP_SWIZZLE_128B, PTXI_SUCCESS);
    REFUSED(s.step[0] = 0, PTXI_ERROR_INVALID_VALUE);
    REFUSED(s.swizzle = PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, PTXI_ERROR_INVALID_VALUE);
    s = shapes[4];
    ck_result(encode(NULL, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32), PTXI_ERROR_INVALID_VALUE);
    ck_result(encode(map, &s, PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* Elements of 4 and 6 bits: a tensor of 5 rows of 256 elements, and boxes of 128 by 3 that end beyond it. */
static const struct small {
    ptxiTensorMapDataType type;
    ptxiTensorMapSwizzle swizzle;
    uint32_t bits, chunk; /* bytes of a row that 16 bytes of shared memory hold */
} smalls[] = {
    { PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 0, 4, 16 },
    { PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, PTXI_TENSOR_MAP_SWIZZLE_64B, 4, 16 },
    { PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, 0, 4, 8 },
    { PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, PTXI_TENSOR_MAP_SWIZZLE_128B, 4, 8 },
    { PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 0, 6, 12 },
    { PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, PTXI_TENSOR_MAP_SWIZZLE_128B, 6, 12 },
};
enum { SMALL_COUNT = sizeof smalls / sizeof *smalls };
enum { SMALL_ROWS = 3, SMALL_BOX = 128, SMALL_WIDTH = 256, SMALL_HEIGHT = 5 };

/* A box for run() with as many words as the real box has in global memory, which is the number of bytes that arrive. */
static struct shape small_words(const struct small *x)
{
    return (struct shape){ 2, { 0 }, { 0 }, { SMALL_BOX * x->bits / 32, SMALL_ROWS }, { 1, 1 }, { 128, 3 }, 0 };
}

static ptxiResult encode_small(ptxiTensorMap *map, const struct small *x, uint32_t width)
{
    const struct shape s = { 2, { SMALL_WIDTH, SMALL_HEIGHT }, { SMALL_WIDTH * x->bits / 8 }, { width, SMALL_ROWS },
                             { 1, 1 }, { 0 }, x->swizzle };

    return encode(map, &s, x->type);
}

static uint32_t bits_at(const unsigned char *p, uint64_t bit, uint32_t count)
{
    uint32_t v = 0;

    for (uint32_t k = 0; k < count; k++)
        v |= (p[(bit + k) / 8] >> (bit + k) % 8 & 1u) << k;
    return v;
}

/* Position in shared memory, in bits, of a byte of a row. */
static uint64_t small_place(const struct small *x, uint32_t row, uint32_t byte)
{
    uint32_t rows = x->swizzle ? 1u << x->swizzle : 1, pitch = SMALL_BOX * x->bits / 8 / x->chunk * 16;
    uint32_t at = row * pitch + byte / x->chunk * 16;

    return 8 * (uint64_t)((at ^ at / 128 % rows << 4) + byte % x->chunk);
}

START_TEST(narrow_elements_are_loaded)
{
    const struct small *x = &smalls[_i];
    const struct shape s = small_words(x);
    unsigned char got[BOX], from[TENSOR];
    ptxiTensorMap map;

    ok(ptxiMemcpyDtoH(from, tensor, TENSOR));
    ok(encode_small(&map, x, SMALL_BOX));
    ok(run(LOAD("2d", "{%c0, %c1}"), true, &map, &s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t row = 0; row < SMALL_ROWS; row++)
        for (uint32_t byte = 0; byte < SMALL_BOX * x->bits / 8; byte++) {
            uint32_t want = 3 + row < SMALL_HEIGHT ? from[((3 + row) * SMALL_WIDTH + 128) * x->bits / 8 + byte] : 0;

            ck_assert_uint_eq(bits_at(got, small_place(x, row, byte), 8), want);
        }
}
END_TEST

/* Elements of 6 bits occupy bytes. The upper two bits are dropped. */
START_TEST(narrow_elements_are_stored)
{
    const struct small *x = &smalls[_i];
    const struct shape s = small_words(x);
    bool bytes = x->bits == 6;
    unsigned char in[BOX], before[TENSOR], got[TENSOR];
    ptxiTensorMap map;

    for (uint32_t k = 0; k < BOX; k++)
        in[k] = (unsigned char)(k * 37 + k / 256);
    ok(ptxiMemcpyHtoD(box, in, BOX));
    ok(ptxiMemcpyDtoH(before, tensor, TENSOR));
    ok(encode_small(&map, x, SMALL_BOX));
    if (x->type == PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B) {
        ck_result(run(STORE("2d", "{%c0, %c1}"), false, &map, &s), PTXI_ERROR_LAUNCH_FAILED);
        return;
    }
    ok(run(STORE("2d", "{%c0, %c1}"), false, &map, &s));
    ok(ptxiMemcpyDtoH(got, tensor, TENSOR));
    for (uint64_t e = 0; e < SMALL_WIDTH * (SMALL_HEIGHT + 2); e++) {
        uint32_t row = (uint32_t)(e / SMALL_WIDTH), column = (uint32_t)(e % SMALL_WIDTH), k = column - 128,
            line = row - 3;
        bool inside = column >= 128 && row >= 3 && row < SMALL_HEIGHT;
        uint32_t at = bytes ? k / 16 * x->chunk + k % 16 : k / 2;
        uint64_t from = bytes ? small_place(x, line, k / 16 * x->chunk) + 8 * (k % 16) : small_place(x, line,
                at) + k % 2 * 4;

        ck_assert_uint_eq(bits_at(got, e * x->bits, x->bits), inside ? bits_at(in, from, x->bits)
                          : bits_at(before, e * x->bits, x->bits));
    }
}
END_TEST

START_TEST(maps_of_narrow_elements_are_checked)
{
    static const struct { ptxiTensorMapDataType type; ptxiTensorMapSwizzle swizzle; uint32_t width, stride, box;
                          ptxiResult result; } rows[] = {
        { PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 0, 34, 32, 32, PTXI_SUCCESS },
        { PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 0, 33, 32, 32, PTXI_ERROR_INVALID_VALUE },
        { PTXI_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, 0, 34, 32, 16, PTXI_ERROR_INVALID_VALUE },
        { PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, 128, 96, 128, PTXI_SUCCESS },
        { PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, 128, 96, 128,
          PTXI_ERROR_INVALID_VALUE },
        { PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, PTXI_TENSOR_MAP_SWIZZLE_64B, 128, 96, 128,
          PTXI_ERROR_INVALID_VALUE },
        { PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 0, 192, 144, 128, PTXI_ERROR_INVALID_VALUE },
        { PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 0, 128, 112, 128, PTXI_ERROR_INVALID_VALUE },
        { PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, 0, 128, 96, 64, PTXI_ERROR_INVALID_VALUE },
        { 16, 0, 128, 96, 128, PTXI_ERROR_INVALID_VALUE },
    };
    ptxiTensorMap map;

    for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct shape s = { 2, { rows[k].width, 4 }, { rows[k].stride }, { rows[k].box, 2 }, { 1, 1 }, { 0 },
                                 rows[k].swizzle };

        ck_result(encode(&map, &s, rows[k].type), rows[k].result);
    }
}
END_TEST

/* PTX ISA, "Swizzling Modes", "128 byte swizzle mode": the chunks of each line, up to the point where the pattern
 * repeats. */
static const struct atom {
    ptxiTensorMapSwizzle swizzle;
    bool flip; /* halves of chunks in every other line */
    uint8_t lines, chunk[4][8];
} swizzled[] = {
    { PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, false, 4,
      { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 2, 3, 0, 1, 6, 7, 4, 5 }, { 4, 5, 6, 7, 0, 1, 2, 3 },
        { 6, 7, 4, 5, 2, 3, 0, 1 } } },
    { PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, true, 4,
      { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 2, 3, 0, 1, 6, 7, 4, 5 }, { 4, 5, 6, 7, 0, 1, 2, 3 },
        { 6, 7, 4, 5, 2, 3, 0, 1 } } },
    { PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, false, 2, { { 0, 1, 2, 3, 4, 5, 6, 7 }, { 4, 5, 6, 7, 0, 1, 2, 3 } } },
};
enum { ATOMS = sizeof swizzled / sizeof *swizzled, LINE_WORDS = 32, WIDTHS = 3 };

/* Index in its row of a word of a line. */
static uint32_t word_of_line(const struct atom *x, uint32_t line, uint32_t word)
{
    return x->chunk[line % x->lines][word / 4] * 4u + (word % 4 ^ (x->flip && line % 2 ? 2 : 0));
}

START_TEST(swizzles_of_larger_atoms)
{
    static const uint32_t widths[WIDTHS] = { 32, 16, 8 };
    const struct atom *x = &swizzled[_i / WIDTHS];
    const uint32_t width = widths[_i % WIDTHS];
    const struct shape s = { 2, { 64, 40 }, { 256 }, { width, 13 }, { 1, 1 }, { 4, 2 }, x->swizzle };
    uint32_t got[BOX / 4], in[BOX / 4], want[TENSOR / 4], after[TENSOR / 4];
    ptxiTensorMap map;

    for (uint32_t k = 0; k < BOX / 4; k++)
        in[k] = 20000 + k;
    ok(encode(&map, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ok(run(LOAD("2d", "{%c0, %c1}"), true, &map, &s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    ok(ptxiMemcpyDtoH(want, tensor, TENSOR));
    ok(ptxiMemcpyHtoD(box, in, BOX));
    ok(run(STORE("2d", "{%c0, %c1}"), false, &map, &s));
    ok(ptxiMemcpyDtoH(after, tensor, TENSOR));
    for (uint32_t k = 0; k < s.box[1] * LINE_WORDS; k++) {
        uint32_t line = k / LINE_WORDS, word = word_of_line(x, line, k % LINE_WORDS);

        if (word >= width) /* a gap after a short row */
            continue;
        ck_assert_uint_eq(got[k], (uint32_t)(element(&s, line * width + word) + 1));
        want[element(&s, line * width + word)] = in[k];
    }
    for (uint32_t k = 0; k < TENSOR / 4; k++)
        ck_assert_uint_eq(after[k], want[k]);
}
END_TEST

/* The driver has no name for this swizzle. It swaps neighboring chunks of 16 bytes in every other 128 bytes. */
START_TEST(swizzle_of_96_bytes)
{
    static const struct shape s = { 2, { 64, 40 }, { 256 }, { 24, 16 }, { 1, 1 }, { 4, 2 }, 0 };
    char text[3000];
    uint32_t got[BOX / 4];
    ptxiTensorMap map;

    snprintf(text, sizeof text, "%s  @%%p tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%%r1], 4;\n%s%s",
             copy_map, publish_map, LOAD("2d", "{%c0, %c1}"));
    target = "sm_103a";
    ok(encode(&map, &s, PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32));
    ok(run(text, true, &map, &s));
    ok(ptxiMemcpyDtoH(got, box, BOX));
    for (uint32_t k = 0; k < box_words(&s); k++)
        ck_assert_uint_eq(got[k ^ (k / 32 % 2 ? 4 : 0)], (uint32_t)(element(&s, k) + 1));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tensor_copy");
    TCase *t = tcase_create("tensor_copy");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, boxes_are_loaded, 0, SHAPES);
    tcase_add_loop_test(t, boxes_are_stored_and_reduced, 0, 3 * SHAPES);
    tcase_add_test(t, multicast_to_itself);
    tcase_add_test(t, multicast_with_a_wide_mask);
    tcase_add_loop_test(t, narrow_addresses_are_extended, 0, 2);
    tcase_add_loop_test(t, addresses_are_overridden, 0, SHAPES);
    tcase_add_loop_test(t, sizes_are_overridden, 0, SHAPES);
    tcase_add_loop_test(t, changed_maps, 0, 2 * SHAPES);
    tcase_add_loop_test(t, maps_with_a_changed_bit, 0, SHAPES);
    tcase_add_test(t, a_new_address_clears_the_bit);
    tcase_add_test(t, gather_and_scatter);
    tcase_add_loop_test(t, im2col_columns, 0, COLUMNS);
    tcase_add_test(t, im2col_maps_are_checked);
    tcase_add_test(t, nothing_arrives_before_the_wait);
    tcase_add_test(t, a_box_may_be_reused_after_it_was_read);
    tcase_add_loop_test(t, cta_pairs_share_an_mbarrier, 0, sizeof pairs / sizeof *pairs);
    tcase_add_test(t, elements_outside_may_be_nan);
    tcase_add_loop_test(t, misuse_is_reported, 0, 12);
    tcase_add_test(t, maps_are_checked);
    suite_add_tcase(s, t);
    t = tcase_create("sm_100");
    tcase_add_checked_fixture(t, set_up_100, close_context);
    tcase_add_test(t, maps_of_sm_100_have_the_bit);
    tcase_add_loop_test(t, im2col_w_columns, 0, WIDE_COUNT);
    tcase_add_loop_test(t, im2col_w_columns_are_stored, 0, 6);
    tcase_add_test(t, im2col_w_maps_are_checked);
    tcase_add_loop_test(t, narrow_elements_are_loaded, 0, SMALL_COUNT);
    tcase_add_loop_test(t, narrow_elements_are_stored, 0, SMALL_COUNT);
    tcase_add_loop_test(t, swizzles_of_larger_atoms, 0, ATOMS * WIDTHS);
    tcase_add_test(t, maps_of_narrow_elements_are_checked);
    suite_add_tcase(s, t);
    t = tcase_create("sm_103");
    tcase_add_checked_fixture(t, set_up_103, close_context);
    tcase_add_test(t, swizzle_of_96_bytes);
    suite_add_tcase(s, t);
    return run_suite(s);
}
