/* Tests atomic operations of many threads on the same memory: no update is lost, and no thread sees half of an
 * update. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 32, THREADS = 64, ALL = BLOCKS * THREADS };

static ptxiModule module;
static ptxiDevicePtr mem;

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("exec/memory/atomic.ptx")));
    ok(ptxiMemAlloc(&mem, 64));
    ok(ptxiMemsetD8(mem, 0, 64));
}

static ptxiResult run_with_shared(const char *name, unsigned blocks, unsigned shared)
{
    void *params[] = { &mem };
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    ok(ptxiLaunchKernel(f, blocks, 1, 1, THREADS, 1, 1, shared, NULL, params, NULL));
    return ptxiCtxSynchronize();
}

static ptxiResult run(const char *name, unsigned blocks)
{
    return run_with_shared(name, blocks, 0);
}

START_TEST(wide_counters)
{
    uint64_t v[2] = { UINT64_MAX - 999, 6 };

    ok(ptxiMemcpyHtoD(mem, v, sizeof v));
    ok(run("wide_count", BLOCKS));
    ok(ptxiMemcpyDtoH(v, mem, sizeof v));
    ck_bits64(v[0], ALL - 1000);
    ck_bits64(v[1], 7);
}
END_TEST

START_TEST(wide_values_are_not_torn)
{
    uint64_t v[3] = { 5, ~(uint64_t)5 };

    ok(ptxiMemcpyHtoD(mem, v, sizeof v));
    ok(run("wide_exchange", BLOCKS));
    ok(ptxiMemcpyDtoH(v, mem, sizeof v));
    ck_bits64(v[1], ~v[0]);
    ck_bits64(v[2], 0);
}
END_TEST

START_TEST(narrow_operations_keep_their_neighbors)
{
    uint16_t v[2];

    ok(run("narrow_count", BLOCKS));
    ok(ptxiMemcpyDtoH(v, mem, sizeof v));
    ck_bits16(v[0], ALL / 2);
    ck_bits16(v[1], ALL / 2);
}
END_TEST

/* Libraries implement atomic operations on bytes with operations on words, also where less than a word was
 * allocated. */
START_TEST(bytes_are_updated_in_words)
{
    unsigned size = (unsigned)_i + 1;
    unsigned char v[5], want[5] = { 1, 2, 3, 4, 5 };
    ptxiDevicePtr block;

    ok(ptxiMemAlloc(&block, size));
    ok(ptxiMemcpyHtoD(block, want, size));
    mem = block + size - 1;
    ok(run("byte_count", 3));
    want[size - 1] += 3 * THREADS;
    ok(ptxiMemcpyDtoH(v, block, size));
    ck_assert_int_eq(memcmp(v, want, size), 0);
}
END_TEST

START_TEST(bytes_of_shared_memory_are_updated_in_words)
{
    unsigned char v;

    ok(run_with_shared("shared_byte", 1, 5));
    ok(ptxiMemcpyDtoH(&v, mem, 1));
    ck_assert_int_eq(v, 7 + THREADS);
    ck_assert_int_ne(run_with_shared("shared_word", 1, 5), PTXI_SUCCESS);
    ck_assert_int_ne(run_with_shared("shared_word", 1, 8), PTXI_SUCCESS);
}
END_TEST

/* No other access goes beyond the end of an allocation, and none goes beyond the memory of the program. */
START_TEST(words_end_at_the_end_of_memory)
{
    static const char *const names[] = { "weak_word", "strong_store", "word_behind" };
    uint32_t own = 0;

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        ok(ptxiMemAlloc(&mem, 3));
        ck_assert_int_eq(run(names[k], 1), PTXI_ERROR_ILLEGAL_ADDRESS);
    }
    mem = (uintptr_t)&own;
    ok(ptxiMemOpenRange(&own, 3, PTXI_RANGE_READ | PTXI_RANGE_WRITE));
    ck_assert_int_eq(run("byte_count", 1), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemCloseRange(&own));
    ok(ptxiMemHostRegister(&own, 3, 0));
    ck_assert_int_eq(run("byte_count", 1), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemHostUnregister(&own));
    ck_bits32(own, 0);
}
END_TEST

START_TEST(sums_of_halves)
{
    uint32_t v[12], blocks = 16; /* 1024 threads, or 128 where the sums are bf16 */

    ok(run("half_sums", blocks));
    ok(ptxiMemcpyDtoH(v, mem, sizeof v));
    ck_bits32(v[0], 0x68006400);
    ck_bits32(v[1], 0x6400);
    for (int k = 2; k < 6; k++)
        ck_bits32_at(v[k], k == 3 ? 0 : 0x43804300, "word %d", k);
    for (int k = 6; k < 8; k++)
        ck_bits32_at(v[k], 0x64006400, "word %d", k);
    for (int k = 8; k < 12; k++)
        ck_bits32_at(v[k], 0x44800000, "word %d", k);
}
END_TEST

START_TEST(vectors_are_aligned)
{
    static const char *const names[] = { "misaligned", "misaligned_halves", "misaligned_wide" };

    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        ck_assert_int_eq(run(names[k], 1), PTXI_ERROR_MISALIGNED_ADDRESS);
}
END_TEST

/* --- all implementations of an operation --- */

enum { LANES = 32, REGION = 1024 };

#define ATOM(...) { false, __VA_ARGS__ }
#define RED(...) { true, __VA_ARGS__ }
static const struct { bool red; const char *op, *operands; unsigned bytes; } operations[] = {
    ATOM("add.u32", "%x", 4),   ATOM("min.s32", "%x", 4),  ATOM("inc.u32", "%x", 4),         ATOM("exch.b32", "%x", 4),
        ATOM("cas.b32", "%x, %y", 4),
    ATOM("add.f32", "%f", 4),   ATOM("xor.b32", "%x", 4),  ATOM("add.u64", "%xx", 8),        ATOM("max.u64", "%xx", 8),
    ATOM("cas.b64", "%xx, %yy", 8),
    ATOM("exch.b64", "%xx", 8), ATOM("add.f64", "%ff", 8), ATOM("add.noftz.f16x2", "%x", 4), RED("add.u32", "%x", 4),
    RED("max.u32", "%x", 4),
    RED("add.f32", "%f", 4),    RED("add.f64", "%ff", 8),  RED("or.b64", "%xx", 8),
};

/* Positions of the words of the lanes, and lanes that do not take part. */
static unsigned consecutive(unsigned l) { return l; }
static unsigned reversed(unsigned l) { return LANES - 1 - l; }
static unsigned scattered(unsigned l) { return l * 13 % LANES * 3; }
static unsigned pairs(unsigned l) { return l / 2; }
static unsigned four_words(unsigned l) { return l % 4 * 3; }
static unsigned equal_late(unsigned l) { return l < 20 ? l * 3 % 50 : 70 - l; }
static unsigned two_equal(unsigned l) { return l == 14 ? 36 : l * 3; }
static unsigned equal_ends(unsigned l) { return l == 31 ? 84 : l * 3; }
static unsigned all_equal(unsigned l) { return (void)l, 5; }
static const struct { unsigned (*word)(unsigned lane); uint32_t mask;
} layouts[] = {
    { consecutive, ~0u },      { reversed, ~0u },           { scattered, ~0u },        { pairs, ~0u },
    { all_equal, ~0u },        { four_words, ~0u },         { equal_late, ~0u },       { two_equal, ~0u },
    { equal_ends, ~0u },       { consecutive, 0x00f0ff01 }, { scattered, 0x12345678 }, { all_equal, 0x80000000 },
    { all_equal, 0x0ff0ff01 },
};

/* The expected memory and the expected results of the lanes. */
struct after {
    uint32_t memory[REGION / 4];
    uint64_t got[LANES];
};

/* into: the register for the old value, if it has 32 bits and there is a result. NULL: a register of its own. */
static ptxiFunction load_operation(ptxiModule *m, int k, const char *scope_space, const char *address,
                                   const char *old_register)
{
    static char text[4000];
    char result[8] = "", move[40] = "";
    ptxiFunction f;

    if (old_register && !operations[k].red && operations[k].bytes == 4) {
        snprintf(result, sizeof result, "%s, ", old_register);
        snprintf(move, sizeof move, "@%%on mov.b32 %%d32, %s;", old_register);
    } else if (!operations[k].red) {
        snprintf(result, sizeof result, "%%d%u, ", operations[k].bytes * 8);
    }
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory, .param .u64 "
             "offsets, .param .u64 got, .param .u32 mask) {\n"
             "  .reg .b32 %%t, %%o, %%x, %%y, %%s, %%below, %%m, %%d32, %%v; "
             ".reg .b64 %%p, %%q, %%xx, %%yy, %%g, %%w, %%d64, %%gs; .reg .f32 %%f; .reg .f64 %%ff; .reg .pred %%on;\n"
             "  .shared .align 128 .b8 words[%d]; mov.u32 %%t, %%tid.x; ld.param.u64 %%p, [memory]; "
             "ld.param.u64 %%q, [offsets]; mad.wide.u32 %%q, %%t, 4, %%q; ld.global.u32 %%o, [%%q];\n"
             "  ld.param.u64 %%q, [got]; mad.wide.u32 %%q, %%t, 8, %%q; mov.u32 %%s, words; mov.u32 %%v, 0;\n"
             "L: mad.lo.u32 %%m, %%v, 32, %%t; shl.b32 %%m, %%m, 2; cvt.u64.u32 %%w, %%m; add.u64 %%w, %%w, %%p; "
             "ld.global.u32 %%x, [%%w];\n"
             "  add.u32 %%m, %%m, %%s; st.shared.u32 [%%m], %%x; add.u32 %%v, %%v, 1; setp.lt.u32 %%on, %%v, 8; "
             "@%%on bra L; bar.warp.sync -1;\n"
             "  add.u32 %%s, %%s, %%o; sub.u32 %%below, %%s, 64; cvt.u64.u32 %%g, %%o; add.u64 %%g, %%g, %%p; "
             "cvt.u64.u32 %%gs, %%s; cvta.shared.u64 %%gs, %%gs; mad.lo.u32 %%x, %%t, 7, 1; "
             "mad.lo.u32 %%y, %%t, 5, 3;\n"
             "  cvt.u64.u32 %%xx, %%x; cvt.u64.u32 %%yy, %%y; cvt.rn.f32.u32 %%f, %%x; cvt.rn.f64.u32 %%ff, %%x; "
             "mov.b32 %%d32, 0; mov.b64 %%d64, 0;\n"
             "  ld.param.u32 %%m, [mask]; shr.u32 %%m, %%m, %%t; and.b32 %%m, %%m, 1; setp.ne.u32 %%on, %%m, 0; "
             "@%%on %s.relaxed%s.%s %s[%s], %s; %s bar.warp.sync -1;\n"
             "  cvt.u64.u32 %%w, %%d32; or.b64 %%w, %%w, %%d64; st.global.u64 [%%q], %%w; mov.u32 %%v, 0; "
             "mov.u32 %%s, words;\n"
             "M: mad.lo.u32 %%m, %%v, 32, %%t; shl.b32 %%m, %%m, 2; cvt.u64.u32 %%w, %%m; add.u64 %%w, %%w, %%p; "
             "add.u32 %%m, %%m, %%s; ld.shared.u32 %%x, [%%m];\n"
             "  setp.%s.u32 %%on, 0, 0; @%%on st.global.u32 [%%w], %%x; add.u32 %%v, %%v, 1; setp.lt.u32 %%on, %%v, 8; "
             "@%%on bra M; ret; }\n",
             REGION, operations[k].red ? "red" : "atom", scope_space, operations[k].op, result, address,
             operations[k].operands, move, strcmp(address, "%g") ? "eq" : "ne");
    ok(ptxiModuleLoadData(m, text));
    ok(ptxiModuleGetFunction(&f, *m, "k"));
    return f;
}

static uint32_t initial_word(unsigned n)
{
    return n * 3 % 50 ? 0x40000000 + n * 1000 : n;
}

static struct after run_operation(int k, int layout, const char *scope_space, const char *address,
                                  const char *old_register)
{
    struct after r;
    uint32_t offsets[LANES];
    ptxiModule m;
    ptxiFunction f = load_operation(&m, k, scope_space, address, old_register);
    ptxiDevicePtr memory, where, got;
    uint32_t mask = layouts[layout].mask;
    void *params[] = { &memory, &where, &got, &mask };

    for (unsigned l = 0; l < LANES; l++)
        offsets[l] = layouts[layout].word(l) * operations[k].bytes;
    for (unsigned n = 0; n < REGION / 4; n++)
        r.memory[n] = initial_word(n);
    ok(ptxiMemAlloc(&memory, sizeof r.memory));
    ok(ptxiMemAlloc(&where, sizeof offsets));
    ok(ptxiMemAlloc(&got, sizeof r.got));
    ok(ptxiMemcpyHtoD(memory, r.memory, sizeof r.memory));
    ok(ptxiMemcpyHtoD(where, offsets, sizeof offsets));
    ok(ptxiLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(r.memory, memory, sizeof r.memory));
    ok(ptxiMemcpyDtoH(r.got, got, sizeof r.got));
    ok(ptxiMemFree(memory));
    ok(ptxiMemFree(where));
    ok(ptxiMemFree(got));
    ok(ptxiModuleUnload(m));
    return r;
}

START_TEST(all_implementations_agree)
{
    static const struct { const char *scope_space, *address, *old_register; } spaces_tested[] = {
        { ".cta.global", "%g", NULL }, { ".cta.shared", "%s", NULL }, { ".cta", "%g", NULL }, { ".cta", "%gs", NULL },
        { ".gpu.shared", "%s", NULL }, { ".sys.global", "%g", NULL },
        /* which wraps around */
        { ".cta.global", "%g", "%x" }, { ".cta.shared", "%s", "%x" }, { ".cta.shared", "%s", "%s" },
        { ".cta.shared", "%below+64", NULL },
    };

    for (int layout = 0; layout < (int)(sizeof layouts / sizeof *layouts); layout++) {
        struct after want = run_operation(_i, layout, ".gpu.global", "%g", NULL);

        for (size_t k = 0; k < sizeof spaces_tested / sizeof *spaces_tested; k++) {
            struct after r = run_operation(_i, layout, spaces_tested[k].scope_space, spaces_tested[k].address,
                                           spaces_tested[k].old_register);

            ck_assert_msg(!memcmp(&r, &want, sizeof r), "atom%s.%s, layout %d, into %s", spaces_tested[k].scope_space,
                          operations[_i].op, layout,
                          spaces_tested[k].old_register ? spaces_tested[k].old_register : "a register of its own");
        }
    }
}
END_TEST

/* Compare-and-swap on one word by each lane in order. Operands are so small that many of them swap. */
static const char swap_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 mask) {\n"
    "  .reg .b16 %%x16, %%y16, %%o16; .reg .b32 %%t, %%m, %%x32, %%y32, %%o32; "
    ".reg .b64 %%p, %%q, %%x64, %%y64, %%o64; .reg .pred %%on;\n"
    "  mov.u32 %%t, %%tid.x; ld.param.u64 %%p, [p]; mad.wide.u32 %%q, %%t, 24, %%p; ld.param.u32 %%m, [mask]; "
    "shr.u32 %%m, %%m, %%t; and.b32 %%m, %%m, 1; setp.ne.u32 %%on, %%m, 0;\n"
    "  ld.global.u64 %%x64, [%%q+8]; ld.global.u64 %%y64, [%%q+16]; cvt.u32.u64 %%x32, %%x64; "
    "cvt.u32.u64 %%y32, %%y64; cvt.u16.u64 %%x16, %%x64; cvt.u16.u64 %%y16, %%y64;\n"
    "  @!%%on bra END; atom.relaxed%s.global.cas.b%d %%o%d, [%%p], %%x%d, %%y%d; cvt.u64.u%d %%o64, %%o%d; "
    "st.global.u64 [%%q+24], %%o64; END: ret; }\n";

enum { SWAP_INPUTS = 1 + 3 * LANES }; /* the word, and x, y and the old value for each lane */

static void expect_swaps(uint64_t words[SWAP_INPUTS], uint32_t mask)
{
    for (unsigned l = 0; l < LANES; l++) {
        uint64_t *lane = words + 1 + 3 * l;

        if (!(mask >> l & 1))
            continue;
        lane[2] = words[0];
        if (words[0] == lane[0])
            words[0] = lane[1];
    }
}

START_TEST(lanes_swap_in_order)
{
    static const char *const scopes[] = { ".cta", ".gpu", ".sys" };
    const int bits = 16 << _i / 3;
    uint64_t words[SWAP_INPUTS], want[SWAP_INPUTS];
    uint32_t rng_state = 1;
    char text[4000];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr p;
    uint32_t mask;
    void *params[] = { &p, &mask };

    snprintf(text, sizeof text, swap_text, scopes[_i % 3], bits, bits, bits, bits, bits == 16 ? 16 : bits, bits);
    for (char *s; bits == 64 && (s = strstr(text, "cvt.u64.u64")) != NULL;)
        memcpy(s, "    mov.b64", strlen("cvt.u64.u64"));
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&p, sizeof words));
    for (unsigned round = 0; round < 200; round++) {
        unsigned values = 1 + round % 6;

        for (unsigned k = 0; k < SWAP_INPUTS; k++)
            words[k] = ((rng_state = rng_state * 1664525 + 1013904223) >> 16) % values;
        for (unsigned l = 0; round % 7 == 0 && l < LANES; l++) /* each lane swaps */
            words[1 + 3 * l] = l ? words[3 * l - 1] : words[0], words[2 + 3 * l] = l + 10;
        mask = round % 3 ? UINT32_MAX : rng_state | 1u << round % 32;
        memcpy(want, words, sizeof want);
        expect_swaps(want, mask);
        ok(ptxiMemcpyHtoD(p, words, sizeof words));
        ok(ptxiLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
        ok(ptxiMemcpyDtoH(words, p, sizeof words));
        ck_assert_msg(!memcmp(words, want, sizeof words), "atom%s.cas.b%d, round %u", scopes[_i % 3], bits, round);
    }
    ok(ptxiMemFree(p));
    ok(ptxiModuleUnload(m));
}
END_TEST

/* Lanes that succeed one after the other wait for each other after the loop. A round takes 32 iterations, however
 * many rounds there are. */
static const char retry_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) { .reg .b32 %t, %old, %new, %got, "
    "%n; .reg .b64 %p; .reg .pred %again;\n"
    "  ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %n, 400;\n"
    "TURN: ld.relaxed.gpu.global.u32 %old, [%p];\n"
    "TRY: add.u32 %new, %old, 1; atom.global.cas.b32 %got, [%p], %old, %new; setp.ne.u32 %again, %got, %old; "
    "mov.u32 %old, %got; @%again bra TRY;\n"
    "  sub.u32 %n, %n, 1; setp.ne.u32 %again, %n, 0; @%again bra TURN; ret; }\n";

START_TEST(retrying_lanes_reconverge)
{
    enum { TURNS = 400, PER_ROUND = 5, PER_TURN = 4, OVERHEAD = 4 };
    ptxiCounters c = { .size = sizeof c };
    ptxiModule m;
    ptxiFunction f;
    uint32_t sum;
    void *params[] = { &mem };

    ok(ptxiCtxSetCounting(NULL, 1));
    ok(ptxiCtxSetSchedule(NULL, PTXI_SCHEDULE_RUN)); /* other forms diverge lanes by themselves */
    ok(ptxiModuleLoadData(&m, retry_text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(&sum, mem, sizeof sum));
    ck_assert_uint_eq(sum, TURNS * LANES);
    ok(ptxiCtxGetCounters(NULL, &c));
    ck_assert_uint_eq(c.warpInstructions, TURNS * (PER_TURN + LANES * PER_ROUND) + OVERHEAD);
    ok(ptxiModuleUnload(m));
}
END_TEST

/* Atomic sums of halves equal the sums of the add instruction. */
START_TEST(halves_add_like_the_add_instruction)
{
    enum { PAIR_BLOCKS = 4096 };
    uint32_t wrong[4];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr p;
    void *params[] = { &p };

    ok(ptxiModuleLoadData(&m, test_file("exec/memory/atomic_half_pairs.ptx")));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&p, 16 + 16 * 64 * PAIR_BLOCKS));
    ok(ptxiMemsetD8(p, 0, 16));
    ok(ptxiLaunchKernel(f, PAIR_BLOCKS, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(wrong, p, sizeof wrong));
    ck_assert_msg(!(wrong[0] | wrong[1] | wrong[2] | wrong[3]), "f16x2 %u, f16 %u, bf16x2 %u, bf16 %u", wrong[0],
                  wrong[1], wrong[2], wrong[3]);
    ok(ptxiMemFree(p));
    ok(ptxiModuleUnload(m));
}
END_TEST

/* Sums of integers in one word, each lane in order. */
START_TEST(lanes_add_in_order)
{
    static const struct { const char *scope_space, *address; } spaces_tested[] = { { ".cta.global", "%g" },
            { ".cta.shared", "%s" }, { ".gpu.global", "%g" } };
    const unsigned bytes = operations[_i].bytes, words = bytes / 4, first = all_equal(0) * words;
    const uint64_t most = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    int layout = 0;

    if (strncmp(operations[_i].op, "add.u", 5))
        return;
    while (layouts[layout].word != all_equal)
        layout++;
    for (size_t k = 0; k < sizeof spaces_tested / sizeof *spaces_tested; k++) {
        struct after r = run_operation(_i, layout, spaces_tested[k].scope_space, spaces_tested[k].address, NULL);
        uint64_t sum = initial_word(first) | (words > 1 ? (uint64_t)initial_word(first + 1) << 32 : 0),
            got = r.memory[first];

        for (uint32_t l = 0; l < LANES; l++, sum += l * 7 - 6) {
            ck_bits64_at(r.got[l], operations[_i].red ? 0 : sum & most, "%s%s lane %u", operations[_i].op,
                         spaces_tested[k].scope_space, l);
        }
        if (words > 1)
            got |= (uint64_t)r.memory[first + 1] << 32;
        ck_bits64_at(got, sum & most, "%s%s", operations[_i].op, spaces_tested[k].scope_space);
    }
}
END_TEST

/* --- two lanes with the same address --- */

/* Lane j has the address of lane i, for i and j from 0 to 31, and the other lanes have different ones. Each
 * operation is compared with one at .gpu scope at another address, which is executed lane by lane. The kernel counts
 * lanes with different results. */
static const char two_lanes_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory) {\n"
    "  .reg .b32 %%t, %%i, %%j, %%n, %%s, %%x; .reg .b64 %%p, %%q, %%o; .reg .b%d %%a, %%b, %%y; "
    ".reg .pred %%on, %%bad;\n"
    "  .shared .align 128 .b8 words[1024]; mov.u32 %%t, %%tid.x; ld.param.u64 %%p, [memory]; mov.u32 %%i, 0; "
    "mov.u32 %%j, 0; add.u32 %%x, %%t, 1; cvt.u%d.u32 %%y, %%x;\n"
    "L: setp.eq.u32 %%on, %%t, %%j; selp.b32 %%n, %%i, %%t, %%on; mul.lo.u32 %%n, %%n, 13; and.b32 %%n, %%n, 31; "
    "mul.lo.u32 %%n, %%n, %d;\n"
    "  cvt.u64.u32 %%o, %%n; add.u64 %%q, %%p, %%o; mov.u32 %%s, words; add.u32 %%s, %%s, %%n;\n"
    "  mov.b%d %%b, 0; st.shared.b%d [%%s], %%b; st.global.b%d [%%q], %%b; st.global.b%d [%%q+512], %%b; "
    "bar.warp.sync -1;\n"
    "  atom.relaxed.cta.%s.exch.b%d %%a, [%s], %%y; atom.relaxed.gpu.global.exch.b%d %%b, [%%q+512], %%y;\n"
    "  setp.ne.b%d %%bad, %%a, %%b; @%%bad red.global.add.u32 [%%p+1024], 1;\n"
    "  add.u32 %%j, %%j, 1; setp.lt.u32 %%on, %%j, 32; @%%on bra L; mov.u32 %%j, 0; add.u32 %%i, %%i, 1; "
    "setp.lt.u32 %%on, %%i, 32; @%%on bra L;\n"
    "  setp.eq.u32 %%on, %%t, 0; @%%on red.global.add.u32 [%%p+1028], %%i; ret; }\n";

START_TEST(two_lanes_with_the_same_address)
{
    int bits = _i & 1 ? 64 : 32;
    bool shared = _i & 2;
    char text[sizeof two_lanes_text + 100];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr memory;
    uint32_t found[2] = { 0, 0 };
    void *params[] = { &memory };

    snprintf(text, sizeof text, two_lanes_text, bits, bits, bits / 8, bits, bits, bits, bits,
             shared ? "shared" : "global", bits, shared ? "%s" : "%q", bits, bits);
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&memory, 1024 + sizeof found));
    ok(ptxiMemcpyHtoD(memory + 1024, found, sizeof found));
    ok(ptxiLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(found, memory + 1024, sizeof found));
    ck_bits32(found[0], 0);
    ck_bits32(found[1], 32);
    ok(ptxiMemFree(memory));
    ok(ptxiModuleUnload(m));
}
END_TEST

/* --- sums of special floats --- */

enum {
    OFFSETS = REGION,
    OPERANDS = OFFSETS + LANES * 4,
    OLD_VALUES = OPERANDS + LANES * 8,
    SUMS_END = OLD_VALUES + LANES * 8
};

/* The memory, the offsets of the lanes in it, their operands, and their results, as the kernel finds them. */
struct sums {
    unsigned char memory[REGION];
    uint32_t offsets[LANES];
    uint64_t operands[LANES], got[LANES];
};

static const char sum_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 sums, .param .u32 mask) {\n"
    "  .reg .b32 %%t, %%o, %%s, %%s32, %%m, %%a<8>; .reg .b64 %%p, %%p4, %%p8, %%p32, %%g; .reg .b%d %%x, %%d; "
    ".reg .pred %%on; .shared .align 128 .b8 words[%d];\n"
    "  mov.u32 %%t, %%tid.x; ld.param.u64 %%p, [sums]; mad.wide.u32 %%p4, %%t, 4, %%p; mad.wide.u32 %%p8, %%t, 8, %%p; "
    "mad.wide.u32 %%p32, %%t, 32, %%p;\n"
    "  mov.u32 %%s, words; mad.lo.u32 %%s32, %%t, 32, %%s; ld.global.v4.b32 {%%a0, %%a1, %%a2, %%a3}, [%%p32]; "
    "ld.global.v4.b32 {%%a4, %%a5, %%a6, %%a7}, [%%p32+16];\n"
    "  st.shared.v4.b32 [%%s32], {%%a0, %%a1, %%a2, %%a3}; st.shared.v4.b32 [%%s32+16], {%%a4, %%a5, %%a6, %%a7}; "
    "bar.warp.sync -1;\n"
    "  ld.global.u32 %%o, [%%p4+%d]; add.u32 %%s, %%s, %%o; cvt.u64.u32 %%g, %%o; add.u64 %%g, %%g, %%p; "
    "ld.global.b%d %%x, [%%p8+%d]; mov.b%d %%d, 0;\n"
    "  ld.param.u32 %%m, [mask]; shr.u32 %%m, %%m, %%t; and.b32 %%m, %%m, 1; setp.ne.u32 %%on, %%m, 0;\n"
    "  @%%on %s.relaxed%s.add.f%d %s[%s], %%x; bar.warp.sync -1; @%%on st.global.b%d [%%p8+%d], %s; %s\n"
    "  ld.shared.v4.b32 {%%a0, %%a1, %%a2, %%a3}, [%%s32]; ld.shared.v4.b32 {%%a4, %%a5, %%a6, %%a7}, [%%s32+16];\n"
    "  st.global.v4.b32 [%%p32], {%%a0, %%a1, %%a2, %%a3}; st.global.v4.b32 [%%p32+16], {%%a4, %%a5, %%a6, %%a7}; ret; "
    "}\n";

static float float_flushed(uint32_t bits, bool flush)
{
    float x;

    memcpy(&x, &bits, 4);
    return flush && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static uint64_t sum_of_32(uint32_t old, uint32_t x, bool shared)
{
    float sum = float_flushed(old, !shared) + float_flushed(x, !shared);
    uint32_t bits;

    memcpy(&bits, &sum, 4);
    sum = float_flushed(bits, !shared);
    memcpy(&bits, &sum, 4);
    return isnan(sum) ? 0x7fffffff : bits;
}

static uint64_t sum_of_64(uint64_t old, uint64_t x, bool shared)
{
    double a, b;
    uint64_t bits;

    memcpy(&a, &old, 8);
    memcpy(&b, &x, 8);
    if (isnan(a) || isnan(b))
        return shared ? (isnan(a) ? old : x) | UINT64_C(0x8000000000000) : isnan(b) ? x : old;
    a += b;
    memcpy(&bits, &a, 8);
    return isnan(a) ? UINT64_C(0xfff8000000000000) : bits;
}

/* Returns an ordinary number or any float. Floats of 32 bits are often about as small as numbers for which
 * subnormals matter. */
static uint64_t random_float(int bits, bool ordinary)
{
    static const uint32_t kinds_32[] = {
        0x00000000, 0x00000001, 0x00400000, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x01000000, 0x0cffffff,
            0x0d000000, 0x0d7fffff, 0x0d800000,
        0x0d800001, 0x3f800000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fc12345, 0x7fffffff,
    };
    static const uint64_t kinds_64[] = {
        0, 1, 0x000fffffffffffff, 0x0010000000000000, 0x3ff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
            0x7ff0000000000001, 0x7ff8000000000000, 0x7ff8123456789abc,
    };
    static uint64_t state = 88172645463325252;
    uint64_t sign;

    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    sign = state >> 63 << (bits - 1);
    if (ordinary)
        return sign | (bits == 32 ? 0x3f800000 | (state & 0x3fffff) : 0x3ff0000000000000 | (state & 0xffffffffff));
    if (bits == 64)
        return sign | kinds_64[(state >> 8) % (sizeof kinds_64 / sizeof *kinds_64)];
    return sign | (state & 0x70 ? kinds_32[(state >> 8) % (sizeof kinds_32 / sizeof *kinds_32)]
                   : state >> 32 & 0x1fffffff);
}

/* Fill 0: ordinary numbers. 1 to LANES: only this lane adds or finds a special float. More: any floats. */
static void fill_sums(struct sums *s, int bits, int layout, int fill)
{
    const unsigned bytes = (unsigned)bits / 8, odd = (unsigned)fill - 1;
    uint64_t there;

    memset(s, 0, sizeof *s);
    for (unsigned l = 0; l < LANES; l++) {
        s->offsets[l] = layouts[layout].word(l) * bytes;
        s->operands[l] = random_float(bits, fill <= LANES && l != odd);
    }
    for (unsigned n = 0; n < REGION / bytes; n++) {
        there = random_float(bits, fill <= LANES && (fill == 0 || n * bytes != s->offsets[odd]));
        memcpy(s->memory + n * bytes, &there, bytes);
    }
}

/* Computes the expected results in the order of the lanes. */
static void expect_sums(struct sums *s, int bits, uint32_t mask, bool shared, bool red)
{
    const unsigned bytes = (unsigned)bits / 8;

    for (unsigned l = 0; l < LANES; l++) {
        unsigned char *p = s->memory + s->offsets[l];
        uint64_t old = 0, new;

        if (!(mask >> l & 1))
            continue;
        memcpy(&old, p, bytes);
        new = bits == 32 ? sum_of_32((uint32_t)old, (uint32_t)s->operands[l], shared) : sum_of_64(old, s->operands[l],
                shared);
        memcpy(p, &new, bytes);
        s->got[l] = red ? 0 : old;
    }
}

/* kind: red, atom, or atom if its result overwrites the operand. */
static ptxiFunction load_sums(ptxiModule *m, int bits, const char *space, int kind)
{
    static const char *const results[] = { "", "%d, ", "%x, " };
    bool shared = !!strstr(space, ".shared");
    char text[sizeof sum_text + 300];
    ptxiFunction f;

    snprintf(text, sizeof text, sum_text, bits, REGION, OFFSETS, bits, OPERANDS, bits, kind ? "atom" : "red", space,
             bits, results[kind], shared ? "%s" : "%g", bits, OLD_VALUES, kind == 2 ? "%x" : "%d",
             shared ? "" : "ret;");
    ok(ptxiModuleLoadData(m, text));
    ok(ptxiModuleGetFunction(&f, *m, "k"));
    return f;
}

START_TEST(sums_of_all_kinds_of_floats)
{
    static const char *const spaces[] = { ".cta.global", ".cta.shared", ".cta", ".gpu.global" };
    const int bits = _i & 1 ? 64 : 32, kind = _i / 2 % 3;
    const char *space = spaces[_i / 6];
    bool shared = !!strstr(space, ".shared");
    struct sums s, want;
    ptxiModule m;
    ptxiFunction f = load_sums(&m, bits, space, kind);
    ptxiDevicePtr at;
    uint32_t mask;
    void *params[] = { &at, &mask };

    ck_assert(sizeof s == SUMS_END);
    ok(ptxiMemAlloc(&at, sizeof s));
    for (int layout = 0; layout < (int)(sizeof layouts / sizeof *layouts); layout++)
        for (int fill = 0; fill < LANES + 30; fill++) {
            mask = layouts[layout].mask;
            fill_sums(&s, bits, layout, fill);
            want = s;
            expect_sums(&want, bits, mask, shared, !kind);
            ok(ptxiMemcpyHtoD(at, &s, sizeof s));
            ok(ptxiLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
            ok(ptxiMemcpyDtoH(&s, at, sizeof s));
            ck_assert_msg(!memcmp(&s, &want, sizeof s), "f%d%s, kind %d, layout %d, fill %d", bits, space, kind, layout,
                          fill);
        }
    ok(ptxiMemFree(at));
    ok(ptxiModuleUnload(m));
}
END_TEST

/* --- one lane with an invalid address --- */

/* Lane 9 uses the offset that the kernel is given. The other lanes use different words. */
static const char stray_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory, .param .u32 offset) {\n"
    "  .reg .b32 %%t, %%n, %%s, %%x; .reg .b64 %%p, %%o; .reg .pred %%nine; .shared .align 128 .b8 words[512];\n"
    "  mov.u32 %%t, %%tid.x; ld.param.u64 %%p, [memory]; mul.lo.u32 %%n, %%t, 13; and.b32 %%n, %%n, 31; "
    "mul.lo.u32 %%n, %%n, 12; add.u32 %%n, %%n, 64;\n"
    "  setp.eq.u32 %%nine, %%t, 9; @%%nine ld.param.u32 %%n, [offset]; cvt.s64.s32 %%o, %%n; add.u64 %%p, %%p, %%o; "
    "mov.u32 %%s, words; add.u32 %%s, %%s, %%n;\n"
    "  mov.u32 %%x, 1; atom.relaxed.cta.%s.%s.b32 %%t, [%s], %%x%s; ret; }\n";

START_TEST(one_invalid_address)
{
    static const struct { int32_t offset; ptxiResult global, shared; } places[] = {
        { 0, PTXI_SUCCESS, PTXI_SUCCESS },
        { 508, PTXI_SUCCESS, PTXI_SUCCESS },
        { 512, PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_ERROR_ILLEGAL_ADDRESS },
        { -4, PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_SUCCESS }, /* the reserved part of shared memory */
        { 502, PTXI_ERROR_MISALIGNED_ADDRESS, PTXI_ERROR_MISALIGNED_ADDRESS },
        { INT32_MIN, PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_ERROR_ILLEGAL_INSTRUCTION }, /* not an address of the CTA */
    };
    bool shared = _i & 1, cas = _i & 2;
    int32_t offset = places[_i / 4].offset;
    char text[sizeof stray_text + 100];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr memory;
    void *params[] = { &memory, &offset };

    snprintf(text, sizeof text, stray_text, shared ? "shared" : "global", cas ? "cas" : "exch", shared ? "%s" : "%p",
             cas ? ", %x" : "");
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&memory, 512));
    ok(ptxiLaunchKernel(f, 1, 1, 1, LANES, 1, 1, 0, NULL, params, NULL));
    ck_assert_int_eq(ptxiCtxSynchronize(), shared ? places[_i / 4].shared : places[_i / 4].global);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("atomic");
    TCase *t = tcase_create("atomic");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, wide_counters);
    tcase_add_test(t, wide_values_are_not_torn);
    tcase_add_test(t, narrow_operations_keep_their_neighbors);
    tcase_add_loop_test(t, bytes_are_updated_in_words, 0, 5);
    tcase_add_test(t, bytes_of_shared_memory_are_updated_in_words);
    tcase_add_test(t, words_end_at_the_end_of_memory);
    tcase_add_test(t, sums_of_halves);
    tcase_add_test(t, retrying_lanes_reconverge);
    tcase_add_test(t, halves_add_like_the_add_instruction);
    tcase_add_loop_test(t, lanes_swap_in_order, 0, 9);
    tcase_add_test(t, vectors_are_aligned);
    tcase_add_loop_test(t, two_lanes_with_the_same_address, 0, 4);
    tcase_add_loop_test(t, one_invalid_address, 0, 6 * 4);
    tcase_add_loop_test(t, sums_of_all_kinds_of_floats, 0, 2 * 3 * 4);
    tcase_add_loop_test(t, lanes_add_in_order, 0, sizeof operations / sizeof *operations);
    tcase_add_loop_test(t, all_implementations_agree, 0, sizeof operations / sizeof *operations);
    suite_add_tcase(s, t);
    return run_suite(s);
}
