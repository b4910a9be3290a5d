/* Litmus tests of the memory model (PTX ISA, "Memory Consistency Model").
 *
 * The roles of a test are threads in lanes, warps, CTAs of a cluster or CTAs of a grid, with fences and operations
 * of each scope that includes them. They run in the usual order and in random schedules. Outcomes that the model
 * forbids must not occur. Outcomes that only a fence could forbid must occur, which shows that the tests are
 * sensitive.
 *
 * PTXI_LITMUS_SEEDS=N runs N random schedules instead of two. */
#include "unit/support/context.h"

#include "isa/bytecode.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROLES = 4, ROUNDS = 128, STEP = 128, SEEDS = 2 };

/* The outcome of one round: registers %a and %b of each role, and the final x and y. */
struct outcome {
    uint32_t r[MAX_ROLES][2], x, y;
};

/* @ is replaced by the scope, except in guards, and ~ by the matching level of membar. */
struct litmus {
    const char *name;
    const char *code[MAX_ROLES];
    bool (*outcome)(const struct outcome *o); /* forbidden, except for both_wait */
};

#define ST(at, value) "st.relaxed.@.u32 [%" #at "], " #value "; "
#define LD(to, at) "ld.relaxed.@.u32 %" #to ", [%" #at "]; "
#define SC "fence.sc.@; "
#define ACQ_REL "fence.acq_rel.@; "

static bool stale(const struct outcome *o) { return o->r[1][0] == 1 && o->r[1][1] == 0; }
static bool both_read_0(const struct outcome *o) { return !o->r[0][0] && !o->r[1][0]; }
static bool both_delayed(const struct outcome *o) { return both_read_0(o); } /* allowed, and seen in random schedules */
static bool both_read_1(const struct outcome *o) { return o->r[0][0] && o->r[1][0]; }
static bool out_of_thin_air(const struct outcome *o) { return o->r[0][0] || o->r[1][0]; }
static bool orders_differ(const struct outcome *o) { return o->r[2][0] && !o->r[2][1] && o->r[3][0] && !o->r[3][1]; }
static bool read_reversed(const struct outcome *o) { return o->r[1][0] > o->r[1][1]; }
static bool own_store_missed(const struct outcome *o) { return o->r[0][0] != 2 || o->x != 2; }
static bool not_only_7(const struct outcome *o) { return o->x != 7 || o->r[0][0]; }
static bool first_stores_win(const struct outcome *o) { return o->x == 1 && o->y == 1; }
static bool causality_violated(const struct outcome *o) { return o->r[1][0] && o->r[2][0] && !o->r[2][1]; }
static bool overwritten(const struct outcome *o) { return o->r[1][0] == 1 && o->x == 2; }
static bool unordered(const struct outcome *o) { return o->y == 2 && o->r[1][0] == 0; }
static bool torn(const struct outcome *o) { return o->x != 4 || (o->r[0][0] & o->r[1][0]) == 1; }
static bool update_lost(const struct outcome *o)
{
    return o->x != 3 || o->r[0][0] == o->r[1][0] || o->r[1][0] == o->r[2][0] ||
        o->r[0][0] == o->r[2][0];
}
static bool not_exclusive(const struct outcome *o) { return o->y != 3; }

/* A critical section with the lock at x. It increments y. */
#define LOCKED(n) "L" #n ": atom.cas.acquire.@.b32 %a, [%x], 0, 1; setp.ne.u32 %p, %a, 0; " \
                         "@!%p bra M" #n "; nanosleep.u32 20; bra L" #n "; M" #n ": " \
    "ld.weak.u32 %b, [%y]; add.u32 %b, %b, 1; st.weak.u32 [%y], %b; st.release.@.u32 [%x], 0; "

static const struct litmus tests[] = {
    { "MP, release and acquire", { ST(x, 1) "st.release.@.u32 [%y], 1; ", "ld.acquire.@.u32 %a, [%y]; " LD(b, x) },
      stale },
    { "MP, weak data", { "st.weak.u32 [%x], 1; st.release.@.u32 [%y], 1; ", "ld.acquire.@.u32 %a, [%y]; "
                         "ld.weak.u32 %b, [%x]; " }, stale },
    { "MP, fence.acq_rel", { ST(x, 1) ACQ_REL ST(y, 1), LD(a, y) ACQ_REL LD(b, x) }, stale },
    { "MP, fence.sc", { ST(x, 1) SC ST(y, 1), LD(a, y) SC LD(b, x) }, stale },
    { "MP, membar", { ST(x, 1) "membar.~; " ST(y, 1), LD(a, y) "membar.~; " LD(b, x) }, stale },
    { "MP, volatile", { "st.volatile.u32 [%x], 1; fence.acq_rel.sys; st.volatile.u32 [%y], 1; ",
                        "ld.volatile.u32 %a, [%y]; fence.acq_rel.sys; ld.volatile.u32 %b, [%x]; " }, stale },
    { "MP, atomics", { ST(x, 1) "red.release.@.add.u32 [%y], 1; ", "atom.acquire.@.or.b32 %a, [%y], 0; " LD(b, x) },
      stale },
    { "MP, a chain of atomics", { ST(x, 1) "red.release.@.add.u32 [%y], 1; ", "atom.acq_rel.@.add.u32 %a, [%y], 2; "
                                  "and.b32 %a, %a, 1; " LD(b, x) }, stale },
    { "MP, the alias proxy", { ST(x, 1) "fence.proxy.alias; " ACQ_REL ST(y, 1), LD(a, y) ACQ_REL "fence.proxy.alias; "
                               LD(b, x) }, stale },
    { "SB, relaxed", { ST(x, 1) LD(a, y), ST(y, 1) LD(a, x) }, both_delayed },
    { "SB, release and acquire", { "st.release.@.u32 [%x], 1; ld.acquire.@.u32 %a, [%y];", "st.release.@.u32 [%y], 1; "
                                   "ld.acquire.@.u32 %a, [%x];" }, both_delayed },
    { "SB, fence.sc", { ST(x, 1) SC LD(a, y), ST(y, 1) SC LD(a, x) }, both_read_0 },
    { "SB, membar", { ST(x, 1) "membar.~; " LD(a, y), ST(y, 1) "membar.~; " LD(a, x) }, both_read_0 },
    { "SB, atomics and fence.sc", { "red.relaxed.@.add.u32 [%x], 1; " SC LD(a, y),
                                    "atom.relaxed.@.exch.b32 %b, [%y], 1; " SC LD(a, x) }, both_read_0 },
    { "LB, acquire and release", { "ld.acquire.@.u32 %a, [%x]; st.release.@.u32 [%y], 1; ",
                                   "ld.acquire.@.u32 %a, [%y]; st.release.@.u32 [%x], 1; " }, both_read_1 },
    { "LB, values out of thin air", { LD(a, x) "st.relaxed.@.u32 [%y], %a; ", LD(a, y) "st.relaxed.@.u32 [%x], %a; " },
      out_of_thin_air },
    { "IRIW, fence.sc", { ST(x, 1), ST(y, 1), LD(a, x) SC LD(b, y), LD(a, y) SC LD(b, x) }, orders_differ },
    { "WRC", { ST(x, 1), LD(a, x) ACQ_REL ST(y, 1), "ld.acquire.@.u32 %a, [%y]; " LD(b, x) }, causality_violated },
    { "CoRR", { ST(x, 1) ST(x, 2), LD(a, x) LD(b, x) }, read_reversed },
    { "CoWR", { ST(x, 1) ST(x, 2) LD(a, x), LD(a, x) }, own_store_missed },
    { "a load into the register of a store", { LD(a, y) "add.u32 %a, %a, 7; st.relaxed.@.u32 [%x], %a; " LD(a, y), "" },
      not_only_7 },
    { "2+2W, fence.sc", { ST(x, 1) SC ST(y, 2), ST(y, 1) SC ST(x, 2) }, first_stores_win },
    { "S, release and acquire", { ST(x, 2) "st.release.@.u32 [%y], 1; ", "ld.acquire.@.u32 %a, [%y]; " ST(x, 1) },
      overwritten },
    { "R, fence.sc", { ST(x, 1) SC ST(y, 1), ST(y, 2) SC LD(a, x) }, unordered },
    { "atomic bit operations", { "atom.relaxed.@.or.b32 %a, [%x], 1; atom.relaxed.@.xor.b32 %b, [%x], 1; ",
                                 "atom.relaxed.@.or.b32 %a, [%x], 4; and.b32 %a, %a, 0; " }, torn },
    { "atomic sums", { "atom.relaxed.@.add.u32 %a, [%x], 1; ", "atom.relaxed.@.inc.u32 %a, [%x], 9; ",
                       "atom.relaxed.@.add.u32 %a, [%x], 1; " }, update_lost },
    { "a lock", { LOCKED(0), LOCKED(1), LOCKED(2) }, not_exclusive },
};
enum { TESTS = sizeof tests / sizeof *tests };

/* Where the roles run, and where x and y are. */
static const struct place {
    const char *name, *role, *memory;
    unsigned threads; /* CTAs per role; 0: one CTA per role */
    bool cluster, streams; /* one grid per role, each in a stream of its own, so that they run on different workers */
    const char *scopes[4];
} places[] = {
    { "lanes", "mov.u32 %role, %tid.x;", "", 1, false, false, { "cta", "gpu" } },
    { "lanes, shared memory", "mov.u32 %role, %tid.x;", "cvta.shared.u64 %base, s;", 1, false, false, { "cta" } },
    { "warps", "mov.u32 %role, %tid.x; and.b32 %t, %role, 31; setp.ne.u32 %p, %t, 0; @%p exit; "
               "shr.u32 %role, %role, 5;", "", 32, false, false, { "cta", "sys" } },
    { "warps, shared memory", "mov.u32 %role, %tid.x; and.b32 %t, %role, 31; setp.ne.u32 %p, %t, 0; @%p exit; "
                              "shr.u32 %role, %role, 5;",
      "cvta.shared.u64 %base, s;", 32, false, false, { "cta", "cluster" } },
    { "a cluster, shared memory", "mov.u32 %role, %cluster_ctarank;", "cvta.shared.u64 %base, s; "
      "mapa.u64 %base, %base, 0;", 0, true, false, { "cluster", "gpu" } },
    { "a cluster", "mov.u32 %role, %cluster_ctarank;", "", 0, true, false, { "cluster" } },
    { "CTAs", "mov.u32 %role, %ctaid.x;", "", 0, false, false, { "gpu", "sys" } },
    { "grids", "ld.param.u32 %role, [first];", "", 0, false, true, { "gpu" } },
};
enum { PLACES = sizeof places / sizeof *places };

static unsigned role_count(const struct litmus *t)
{
    unsigned n = 0;

    while (n < MAX_ROLES && t->code[n])
        n++;
    return n;
}

static void print_code(FILE *out, const char *code, const char *scope)
{
    for (; *code; code++)
        if (*code == '@' && code[1] != '%' && code[1] != '!')
            fputs(scope, out);
        else if (*code == '~')
            fputs(strcmp(scope, "cta") ? strcmp(scope, "sys") ? "gl" : "sys" : "cta", out);
        else
            fputc(*code, out);
}

/* Roles meet at the gate, which counts them, before some of the rounds and at the end. */
static const char gate[] =
    "  add.u32 %want, %want, %roles; atom.global.add.release.sys.u32 %t, [%gate], 1; mov.u32 %n, 0;\n"
    "SPIN%d: ld.global.acquire.sys.u32 %t, [%gate]; setp.ge.u32 %p, %t, %want; @%p bra GO%d; add.u32 %n, %n, 1; "
    "and.b32 %t, %n, 15; setp.ne.u32 %p, %t, 0; @%p bra SPIN%d;\n"
    "  nanosleep.u32 50; bra SPIN%d; GO%d:\n";

static void print_gate(FILE *out, int number)
{
    for (const char *c = gate; *c; c++)
        if (c[0] == '%' && c[1] == 'd')
            fprintf(out, "%d", number), c++;
        else
            fputc(*c, out);
}

static void print_kernel(FILE *out, int k, const struct place *p, const char *scope)
{
    unsigned roles = role_count(&tests[k]);

    fprintf(out, ".visible .entry k%d(.param .u64 mem, .param .u64 out, .param .u64 gate, .param .u32 rounds, "
                 ".param .u32 first) {\n"
                 "  .reg .b32 %%role, %%roles, %%round, %%rounds, %%want, %%t, %%n, %%a, %%b; "
                 ".reg .b64 %%base, %%out, %%gate, %%x, %%y, %%o; .reg .pred %%p;\n"
                 "  .shared .align 128 .b8 s[%d]; mov.u32 %%roles, %u; %s\n"
                 "  ld.param.u64 %%base, [mem]; ld.param.u64 %%out, [out]; ld.param.u64 %%gate, [gate]; "
                 "ld.param.u32 %%rounds, [rounds]; %s\n"
                 "  mov.u32 %%want, 0; mov.u32 %%round, 0; setp.ne.u32 %%p, %%role, 0; @%%p bra CLEAN;\n"
                 "CLEAR: mul.wide.u32 %%x, %%round, %d; add.u64 %%x, %%x, %%base; st.u32 [%%x], %%want; "
                 "st.u32 [%%x+64], %%want; add.u32 %%round, %%round, 1;\n"
                 "  setp.lt.u32 %%p, %%round, %%rounds; @%%p bra CLEAR; CLEAN: mov.u32 %%round, 0;\n", k, ROUNDS * STEP,
                 roles, p->role, p->memory, STEP);
    print_gate(out, 0);
    /* x and y are in all caches at the start of a round */
    fprintf(out, "ROUND: and.b32 %%t, %%round, 15; setp.ne.u32 %%p, %%t, 0; @%%p bra GO1;\n");
    print_gate(out, 1);
    fprintf(out, "  mul.wide.u32 %%x, %%round, %d; add.u64 %%x, %%x, %%base; add.u64 %%y, %%x, 64; "
                 "ld.volatile.u32 %%t, [%%x]; ld.volatile.u32 %%t, [%%y];\n", STEP);
    fprintf(out, "  mov.u32 %%a, 0; mov.u32 %%b, 0; T: .branchtargets R0, R1, R2, R3; brx.idx %%role, T;\n");
    for (unsigned r = 0; r < MAX_ROLES; r++) {
        fprintf(out, "R%u: ", r);
        print_code(out, r < roles ? tests[k].code[r] : "", scope);
        fprintf(out, "bra MET;\n");
    }
    fprintf(out, "MET: mad.wide.u32 %%o, %%round, %zu, %%out; mul.wide.u32 %%y, %%role, 8; add.u64 %%o, %%o, %%y; "
                 "st.global.v2.u32 [%%o], {%%a, %%b};\n"
                 "  add.u32 %%round, %%round, 1; setp.lt.u32 %%p, %%round, %%rounds; @%%p bra ROUND;\n",
                 sizeof(struct outcome));
    print_gate(out, 2);
    fprintf(out, "  setp.ne.u32 %%p, %%role, 0; @%%p exit; mov.u32 %%round, 0;\n"
                 "LEFT: mul.wide.u32 %%x, %%round, %d; add.u64 %%x, %%x, %%base; ld.u32 %%a, [%%x]; "
                 "ld.u32 %%b, [%%x+64]; mad.wide.u32 %%o, %%round, %zu, %%out;\n"
                 "  st.global.v2.u32 [%%o+%zu], {%%a, %%b}; add.u32 %%round, %%round, 1; "
                 "setp.lt.u32 %%p, %%round, %%rounds; @%%p bra LEFT; ret; }\n",
            STEP, sizeof(struct outcome), offsetof(struct outcome, x));
}

static ptxiModule load(const struct place *p, const char *scope)
{
    ptxiDiagnostic d = { .size = sizeof d };
    ptxiModule m;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (int k = 0; k < TESTS; k++)
        print_kernel(out, k, p, scope);
    fclose(out);
    if (ptxiModuleLoadData(&m, text) != PTXI_SUCCESS)
        ck_abort_msg("%s", ptxiGetLastDiagnostic(0, &d) == PTXI_SUCCESS ? d.text : "the module does not load");
    free(text);
    return m;
}

static struct outcome *outcomes;
static unsigned char *memory;
static uint32_t *arrivals;
static ptxiStream streams[MAX_ROLES];

static void set_up(void)
{
    ptxiDevicePtr p;

    open_context();
    ok(ptxiMemAlloc(&p, ROUNDS * sizeof *outcomes));
    outcomes = (struct outcome *)(uintptr_t)p;
    ok(ptxiMemAlloc(&p, ROUNDS * STEP));
    memory = (unsigned char *)(uintptr_t)p;
    ok(ptxiMemAlloc(&p, 64));
    arrivals = (uint32_t *)(uintptr_t)p;
    for (int k = 0; k < MAX_ROLES; k++)
        ok(ptxiStreamCreate(&streams[k], PTXI_STREAM_NON_BLOCKING));
}

static ptxiFunction kernel(ptxiModule m, int k)
{
    char name[16];
    ptxiFunction f;

    snprintf(name, sizeof name, "k%d", k);
    ok(ptxiModuleGetFunction(&f, m, name));
    return f;
}

static void launch_roles(ptxiFunction f, unsigned roles, const struct place *p, uint32_t rounds)
{
    uint32_t first = 0;
    void *params[] = { &memory, &outcomes, &arrivals, &rounds, &first };
    ptxiLaunchAttribute cluster = { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                    .value.clusterDim = { roles, 1, 1 } };
    ptxiLaunchConfig config = { .gridDimX = p->threads || p->streams ? 1 : roles, .gridDimY = 1, .gridDimZ = 1,
                                .blockDimX = p->threads ? p->threads * roles : 1, .blockDimY = 1, .blockDimZ = 1,
                                .attrs = &cluster, .numAttrs = p->cluster };

    for (; first < (p->streams ? roles : 1); first++) {
        config.hStream = p->streams ? streams[first] : NULL;
        ok(ptxiLaunchKernelEx(&config, f, params, NULL));
    }
    ok(ptxiCtxSynchronize());
}

/* Other outcomes of the first test, MP: one bit for each pair of values that its second role has read. */
static unsigned kinds;

/* Returns the number of rounds with the outcome. */
static unsigned run(ptxiFunction f, int k, const struct place *p, uint32_t rounds)
{
    unsigned bad = 0;

    *arrivals = 0;
    memset(outcomes, 0, rounds * sizeof *outcomes);
    launch_roles(f, role_count(&tests[k]), p, rounds);
    for (unsigned r = 0; r < rounds; r++) {
        bad += tests[k].outcome(&outcomes[r]);
        kinds |= k ? 0 : 1u << (2 * outcomes[r].r[1][0] + outcomes[r].r[1][1]);
    }
    return bad;
}

/* Warps that only a random schedule interleaves. Lanes of one warp are interleaved at the ends of blocks, and
 * different workers run concurrently. */
static bool on_one_worker(const struct place *p)
{
    return p->threads >= PTXI_LANES || p->cluster;
}

START_TEST(forbidden_outcomes_do_not_occur)
{
    const struct place *p = &places[_i];
    const char *setting = getenv("PTXI_LITMUS_SEEDS");
    unsigned seeds = setting ? (unsigned)strtoul(setting, NULL, 10) : SEEDS;

    kinds = 0;
    ok(ptxiCtxSetWorkers(NULL, 2));
    for (int s = 0; p->scopes[s]; s++) {
        ptxiModule m = load(p, p->scopes[s]);

        for (int k = 0; k < TESTS; k++) {
            bool allowed = tests[k].outcome == both_delayed;
            unsigned seen = 0;

            for (unsigned seed = 0; seed <= seeds; seed++) {
                ok(ptxiCtxSetSchedule(NULL, seed));
                seen += run(kernel(m, k), k, p, ROUNDS);
                ck_assert_msg(!seen || allowed, "%s, %s, .%s, seed %u", tests[k].name, p->name, p->scopes[s], seed);
            }
            ck_assert_msg(seen || !allowed || !seeds || !on_one_worker(p),
                          "%s, %s, .%s: the allowed outcome does not occur", tests[k].name, p->name, p->scopes[s]);
        }
        ok(ptxiModuleUnload(m));
    }
    ck_assert_msg(kinds & (kinds - 1), "%s: MP has only one outcome, 0x%x", p->name, kinds);
}
END_TEST

/* One grid writes vectors of equal elements. The other grid reads them until it sees the last ones. The model does
 * not promise that vectors are atomic, but a GPU executes strong accesses of 8 and 16 bytes at once, and one-pass
 * scans rely on it. */
static const struct {
    const char *vector, *stored, *loaded, *difference;
} vectors[] = {
    { "v2.u32", "{%r2, %r2}", "{%r3, %r4}", "setp.ne.u32 %q, %r3, %r4;" },
    { "v4.u32", "{%r2, %r2, %r2, %r2}", "{%r3, %r4, %r5, %r6}", "xor.b32 %r4, %r4, %r3; xor.b32 %r5, %r5, %r6; "
      "or.b32 %r4, %r4, %r5; setp.ne.u32 %q, %r4, 0;" },
    { "v2.u64", "{%rd4, %rd4}", "{%rd5, %rd6}", "cvt.u32.u64 %r3, %rd5; setp.ne.u64 %q, %rd5, %rd6;" },
};

START_TEST(strong_vectors_are_not_torn)
{
    enum { THREADS = 64, TIMES = 10000, ARRIVALS = 16 * THREADS, TORN_AT = ARRIVALS + 4, BYTES = TORN_AT + 4 };
    char text[2000];
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr p;
    uint32_t torn, role = 0;
    void *params[] = { &p, &role };

    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 role) {\n"
             "  .reg .b32 %%r<8>; .reg .b64 %%rd<8>; .reg .pred %%p, %%q;\n"
             "  ld.param.u64 %%rd1, [p]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%rd2, %%r0, 16; "
             "add.u64 %%rd2, %%rd2, %%rd1; ld.param.u32 %%r1, [role];\n"
             "  red.global.add.u32 [%%rd1+%d], 1; MEET: ld.volatile.global.u32 %%r2, [%%rd1+%d]; "
             "setp.lt.u32 %%p, %%r2, %d; @%%p bra MEET;\n"
             "  mov.u32 %%r2, 0; setp.eq.u32 %%p, %%r1, 1; @%%p bra READ;\n"
             "WRITE: add.u32 %%r2, %%r2, 1; cvt.u64.u32 %%rd4, %%r2; st.relaxed.gpu.global.%s [%%rd2], %s; "
             "setp.lt.u32 %%p, %%r2, %d; @%%p bra WRITE;\n  ret;\n"
             "READ: ld.relaxed.gpu.global.%s %s, [%%rd2]; %s\n  @%%q add.u32 %%r2, %%r2, 1; setp.lt.u32 %%p, %%r3, %d; "
             "@%%p bra READ;\n"
             "  red.global.add.u32 [%%rd1+%d], %%r2; ret; }\n",
             ARRIVALS, ARRIVALS, 2 * THREADS, vectors[_i].vector, vectors[_i].stored, TIMES, vectors[_i].vector,
             vectors[_i].loaded, vectors[_i].difference, TIMES, TORN_AT);
    ok(ptxiCtxSetWorkers(NULL, 2));
    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemAlloc(&p, BYTES));
    ok(ptxiMemsetD8(p, 0, BYTES));
    for (; role < 2; role++)
        ok(ptxiLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, streams[role], params, NULL));
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(&torn, p + TORN_AT, 4));
    ck_assert_uint_eq(torn, 0);
}
END_TEST

/* --- store buffering in many rounds --- */

/* Two grids on two workers synchronize with flags. Then each stores the number of the round to its own word and
 * immediately reads the other word. A store is delayed by earlier stores to lines that the other grid has read. A
 * line is 128 bytes, so that none is fetched with its neighbor. */
enum { RACES = 4000, MAX_LAUNCHES = 250, FORBIDDEN_LAUNCHES = 5, LINE = 128, DELAYING_STORES = 4,
       FLAG = 1 + DELAYING_STORES, LINES = 2 + DELAYING_STORES };

enum { ALLOWED_RACES = 4 }; /* the first rounds */
static const struct race {
    const char *name, *store, *fence, *load;
} races[] = {
    { "relaxed", "st.relaxed.gpu.global.u32", "", "ld.relaxed.gpu.global.u32" },
    { "weak", "st.global.u32", "", "ld.global.u32" },
    { "release and acquire", "st.release.gpu.global.u32", "", "ld.acquire.gpu.global.u32" },
    { "fence.acq_rel", "st.relaxed.gpu.global.u32", "fence.acq_rel.gpu;", "ld.relaxed.gpu.global.u32" },
    { "fence.sc", "st.relaxed.gpu.global.u32", "fence.sc.gpu;", "ld.relaxed.gpu.global.u32" },
    { "membar.gl", "st.relaxed.gpu.global.u32", "membar.gl;", "ld.relaxed.gpu.global.u32" },
    { "membar.sys, weak", "st.global.u32", "membar.sys;", "ld.global.u32" },
};

static ptxiModule load_race(const struct race *r)
{
    ptxiModule m;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fprintf(out, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry race(.param .u64 mine, .param .u64 "
                 "its, .param .u64 seen, .param .u32 rounds) {\n"
                 "  .reg .b64 %%m, %%i, %%s; .reg .b32 %%n, %%v, %%r; .reg .pred %%p; ld.param.u64 %%m, [mine]; "
                 "ld.param.u64 %%i, [its];\n"
                 "  ld.param.u64 %%s, [seen]; ld.param.u32 %%r, [rounds]; mov.u32 %%n, 0;\n"
                 "ROUND: add.u32 %%n, %%n, 1;\n");
    for (int k = 0; k <= DELAYING_STORES; k++)
        fprintf(out, "  ld.volatile.global.u32 %%v, [%%i+%d];\n", k * LINE);
    fprintf(out, "  st.relaxed.gpu.global.u32 [%%m+%d], %%n;\n"
                 "MEET: ld.relaxed.gpu.global.u32 %%v, [%%i+%d]; setp.lt.u32 %%p, %%v, %%n; @%%p bra MEET;\n",
                 FLAG * LINE, FLAG * LINE);
    for (int k = 1; k <= DELAYING_STORES; k++)
        fprintf(out, "  st.volatile.global.u32 [%%m+%d], %%n;\n", k * LINE);
    fprintf(out, "  %s [%%m], %%n; %s %s %%v, [%%i];\n"
                 "  st.global.u32 [%%s], %%v; add.u64 %%s, %%s, 4; setp.lt.u32 %%p, %%n, %%r; @%%p bra ROUND; ret; }\n",
                 r->store, r->fence, r->load);
    fclose(out);
    ok(ptxiModuleLoadData(&m, text));
    free(text);
    return m;
}

/* Returns the number of rounds in which neither grid saw the store of the other one. */
static unsigned run_race(ptxiFunction f)
{
    static uint32_t seen[2][RACES];
    uint32_t rounds = RACES;
    ptxiDevicePtr words, seen_memory;
    unsigned n = 0;

    ok(ptxiMemAlloc(&words, 2 * LINES * LINE));
    ok(ptxiMemsetD32(words, 0, 2 * LINES * LINE / 4));
    ok(ptxiMemAlloc(&seen_memory, sizeof seen));
    for (int k = 0; k < 2; k++) {
        ptxiDevicePtr mine = words + (size_t)k * LINES * LINE, its = words + (size_t)!k * LINES * LINE,
            to = seen_memory + (size_t)k * sizeof seen[0];

        ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, streams[k], (void *[]){ &mine, &its, &to, &rounds }, NULL));
    }
    ok(ptxiCtxSynchronize());
    ok(ptxiMemcpyDtoH(seen, seen_memory, sizeof seen));
    for (uint32_t k = 0; k < RACES; k++) {
        for (int role = 0; role < 2; role++)
            ck_assert_msg(seen[role][k] == k || seen[role][k] == k + 1, "round %u: read %u", k + 1, seen[role][k]);
        n += seen[0][k] == k && seen[1][k] == k;
    }
    ok(ptxiMemFree(seen_memory));
    ok(ptxiMemFree(words));
    return n;
}

static int processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
}

START_TEST(only_fences_forbid_store_buffering)
{
    const struct race *r = &races[_i];
    const char *sanitizers = getenv("SANITIZE");
    bool allowed = _i < ALLOWED_RACES;
    ptxiModule m = load_race(r);
    ptxiFunction f;
    int launches = 0;
    unsigned seen = 0;

    if (allowed && sanitizers && *sanitizers) {
        printf("SB, %s: between a store and a load sanitizers do so much that the store is not late\n", r->name);
        return;
    }
    if (processors() < 2) {
        printf("SB, %s: one processor sees all that it stores, nothing to be seen\n", r->name);
        return;
    }
    ok(ptxiCtxSetWorkers(NULL, 2));
    ok(ptxiModuleGetFunction(&f, m, "race"));
    while (launches < (allowed ? MAX_LAUNCHES : FORBIDDEN_LAUNCHES) && !seen) {
        seen = run_race(f);
        launches++;
    }
    printf("SB, %s: %u of %d rounds of launch %d\n", r->name, seen, RACES, launches);
    ck_assert_msg(!seen == !allowed, "SB, %s: %s in %d rounds", r->name, seen ? "seen" : "not seen", launches * RACES);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("litmus");
    TCase *t = tcase_create("litmus");

    tcase_set_timeout(t, 0);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, forbidden_outcomes_do_not_occur, 0, PLACES);
    tcase_add_loop_test(t, strong_vectors_are_not_torn, 0, sizeof vectors / sizeof *vectors);
    tcase_add_loop_test(t, only_fences_forbid_store_buffering, 0, sizeof races / sizeof *races);
    suite_add_tcase(s, t);
    return run_suite(s);
}
