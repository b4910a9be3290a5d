/* Tests libptxi/base: arenas, names, diagnostics, strings, hashes and CPU levels. */
#include "unit/support/bits.h"

#include "base/arena.h"
#include "base/cpp_name.h"
#include "base/cpu.h"
#include "base/demangle.h"
#include "base/diag.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/paint.h"
#include "base/str.h"

#include <errno.h>

static bool is_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i])
            return false;
    return true;
}

START_TEST(arena_gives_zeroed_aligned_memory)
{
    struct ptxi_arena a;

    ptxi_arena_init(&a, NULL);
    for (size_t i = 0; i < 3000; i++) {
        size_t align = (size_t)1 << i % 9, size = i * 7 % 300;
        unsigned char *p = ptxi_arena_alloc(&a, size, align);

        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t)p % align, 0);
        ck_assert(is_zero(p, size));
        memset(p, 0xa5, size);
    }
    unsigned char *big = ptxi_arena_alloc(&a, 20 << 20, 4096);

    ck_assert_ptr_nonnull(big);
    ck_assert_uint_eq((uintptr_t)big % 4096, 0);
    ck_assert(is_zero(big, 20 << 20));
    ck_assert(!a.oom);
    ptxi_arena_free(&a);
    ptxi_arena_free(&a);
}
END_TEST

START_TEST(arena_big_object_keeps_the_open_chunk)
{
    struct ptxi_arena a;

    ptxi_arena_init(&a, NULL);
    char *p = ptxi_arena_alloc(&a, 16, 16);
    ptxi_arena_alloc(&a, 1 << 20, 16);
    char *q = ptxi_arena_alloc(&a, 16, 16);

    ck_assert_ptr_eq(q, p + 16);
    ptxi_arena_free(&a);
}
END_TEST

START_TEST(arena_refuses_huge_sizes)
{
    struct ptxi_arena a;
    volatile size_t huge = SIZE_MAX; /* the compiler would warn about this intentional size */

    ptxi_arena_init(&a, NULL);
    ck_assert_ptr_null(ptxi_arena_alloc(&a, huge, 1));
    ck_assert_ptr_null(ptxi_arena_alloc(&a, huge - 8, 16));
    ck_assert(a.oom);
    a.oom = false;
    ck_assert_ptr_null(ARENA_NEW(&a, uint64_t, huge / 8 + 2));
    ck_assert(a.oom);
    ck_assert_ptr_null(ptxi_arena_strndup(&a, "", huge));
    ptxi_arena_free(&a);
}
END_TEST

START_TEST(arena_copies_strings)
{
    struct ptxi_arena a;

    ptxi_arena_init(&a, NULL);
    ck_assert_str_eq(ptxi_arena_strndup(&a, "warps", 4), "warp");
    ck_assert_str_eq(ptxi_arena_strndup(&a, NULL, 0), "");
    ck_assert_str_eq(ptxi_arena_printf(&a, "%s.%d", "sm", 90), "sm.90");
    ptxi_arena_free(&a);
}
END_TEST

START_TEST(str_appends)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ck_assert_str_eq(ptxi_str_text(&s), "");
    for (int i = 0; i < 1000; i++)
        ptxi_str_printf(&s, "%d,", i % 10);
    ck_assert_uint_eq(s.len, 2000);
    ck_assert_int_eq(strncmp(s.s, "0,1,2,3,", 8), 0);
    ptxi_str_clear(&s);
    ck_assert_str_eq(ptxi_str_text(&s), "");
    ptxi_str_fill(&s, '-', 3);
    ptxi_str_putc(&s, '>');
    ptxi_str_put(&s, "abc", 2);
    ptxi_str_puts(&s, "c");
    ck_assert_str_eq(s.s, "--->abc");
    ptxi_str_free(&s);
    ck_assert_str_eq(ptxi_str_text(&s), "");
}
END_TEST

START_TEST(str_keeps_the_out_of_memory_state)
{
    struct countdown cd = { .left = 1 };
    struct ptxi_alloc al = countdown_alloc(&cd);
    struct ptxi_str s;

    ptxi_str_init(&s, &al);
    ptxi_str_puts(&s, "kept");
    ptxi_str_fill(&s, 'x', 1000);
    ck_assert(s.oom);
    cd.left = -1;
    ptxi_str_puts(&s, "lost");
    ck_assert_str_eq(ptxi_str_text(&s), "kept");
    ptxi_str_free(&s);
    ck_assert_int_eq(cd.live, 0);
}
END_TEST

START_TEST(names_are_unique)
{
    struct ptxi_arena a;
    char text[32];
    enum { N = 20000 };
    static const struct ptxi_name *seen[N];

    ptxi_arena_init(&a, NULL);
    struct ptxi_names *t = ptxi_names_new(&a);
    for (int i = 0; i < N; i++) {
        int n = snprintf(text, sizeof text, "%%r%d", i);

        ck_assert_ptr_null(ptxi_intern_find(t, text, (size_t)n));
        seen[i] = ptxi_intern(t, text, (size_t)n);
        ck_assert_uint_eq(seen[i]->id, (unsigned)i);
    }
    for (int i = 0; i < N; i++) {
        int n = snprintf(text, sizeof text, "%%r%d!", i) - 1;

        ck_assert_ptr_eq(ptxi_intern(t, text, (size_t)n), seen[i]);
        ck_assert_ptr_eq(ptxi_intern_find(t, text, (size_t)n), seen[i]);
        text[n] = 0;
        ck_assert_str_eq(seen[i]->s, text);
        ck_assert_uint_eq(seen[i]->len, (unsigned)n);
    }
    ck_assert_uint_eq(ptxi_names_count(t), N);
    ptxi_arena_free(&a);
}
END_TEST

/* Each length takes a different path through the hash. Similar names must stay distinct, also with embedded zeros. */
START_TEST(names_of_every_length)
{
    struct ptxi_arena a;
    char buf[100] = { 0 };
    const struct ptxi_name *n[100];

    ptxi_arena_init(&a, NULL);
    struct ptxi_names *t = ptxi_names_new(&a);
    for (size_t i = 0; i < 100; i++)
        n[i] = ptxi_intern(t, buf, i);
    for (size_t i = 0; i < 100; i++) {
        ck_assert_ptr_eq(ptxi_intern(t, buf, i), n[i]);
        ck_assert_uint_eq(n[i]->len, i);
        for (size_t j = 0; j < i; j++) {
            ck_assert_ptr_ne(n[i], n[j]);
            buf[j] = 1;
            const struct ptxi_name *m = ptxi_intern(t, buf, i);
            ck_assert_ptr_ne(m, n[i]);
            ck_assert_int_eq(m->s[j], 1);
            buf[j] = 0;
        }
    }
    ptxi_arena_free(&a);
}
END_TEST

/* Only the random seed prevents a module from being made so that all of its names collide. */
START_TEST(hash_depends_on_the_seed)
{
    uint64_t seed = ptxi_hash_seed;
    unsigned h1 = ptxi_hash_bytes("%rd1", 4), p1 = ptxi_hash_ptr(&seed), differ = 0;

    for (int i = 1; i <= 32; i++) {
        ptxi_hash_seed = seed + (uint64_t)i * 0x9e3779b97f4a7c15u;
        differ += ptxi_hash_bytes("%rd1", 4) != h1 && ptxi_hash_ptr(&seed) != p1;
    }
    ptxi_hash_seed = seed;
    ck_assert_uint_ge(differ, 31);
    ck_assert_uint_eq(ptxi_hash_bytes("%rd1", 4), h1);
}
END_TEST

/* Register names are short and similar. They must spread over the buckets as random keys would. */
START_TEST(hash_spreads_register_names)
{
    enum { BUCKETS = 4096 };
    static unsigned count[BUCKETS];
    char text[16];
    double chi = 0;

    for (int i = 0; i < 4 * BUCKETS; i++) {
        int n = snprintf(text, sizeof text, "%%r%d", i);

        count[ptxi_hash_bytes(text, (size_t)n) % BUCKETS]++;
    }
    for (int i = 0; i < BUCKETS; i++)
        chi += (count[i] - 4.0) * (count[i] - 4.0) / 4.0;
    ck_assert_double_lt(chi, BUCKETS * 1.2); /* mean 4095, sigma 90 */
}
END_TEST

static bool intern_many(const struct ptxi_alloc *al)
{
    struct ptxi_arena a;
    struct ptxi_diag d;
    char text[32];
    bool ok = true;

    ptxi_arena_init(&a, al);
    ptxi_diag_init(&d, &a);
    struct ptxi_names *t = ptxi_names_new(&a);
    for (int i = 0; t && i < 3000; i++) {
        int n = snprintf(text, sizeof text, "%%name%d", i);
        const struct ptxi_name *name = ptxi_intern(t, text, (size_t)n);

        if (name)
            ck_assert_ptr_eq(ptxi_intern_find(t, text, (size_t)n), name);
        ok &= name != NULL;
        ptxi_diag_add(&d, PTXI_DIAG_WARNING, PTXI_LOC_NONE, "%s", text);
    }
    ok &= t && !a.oom && !d.oom;
    ptxi_arena_free(&a);
    return ok;
}

START_TEST(every_allocation_may_fail)
{
    for (long n = 0;; n++) {
        struct countdown cd = { .left = n };
        struct ptxi_alloc al = countdown_alloc(&cd);
        bool ok = intern_many(&al);

        ck_assert_int_eq(cd.live, 0);
        if (ok) {
            ck_assert_int_gt(n, 3);
            break;
        }
    }
}
END_TEST

static const char gemm[] = ".version 8.0\n"
                           ".target sm_90\n"
                           "\n"
                           "    fma.ru.f32 %f1, %f2, %f3, %f4;\n"
                           "\tret\xc3\xa9; x\r\n";

static void check_rendering(struct ptxi_diag *d, const char *want)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_diag_render(d, gemm, sizeof gemm - 1, "gemm.ptx", &s);
    ck_assert_str_eq(ptxi_str_text(&s), want);
    ptxi_str_free(&s);
}

START_TEST(diag_renders_as_gcc_does)
{
    struct ptxi_arena a;
    struct ptxi_diag d;

    ptxi_arena_init(&a, NULL);
    ptxi_diag_init(&d, &a);
    ptxi_diag_add(&d, PTXI_DIAG_ERROR, (struct ptxi_loc){ 4, 8, 3 }, "'%s' has no modifier '%s'", "fma.f32", ".ru");
    ptxi_diag_add(&d, PTXI_DIAG_NOTE, PTXI_LOC_NONE, "accepted: fma.rn");
    ptxi_diag_add(&d, PTXI_DIAG_WARNING, (struct ptxi_loc){ 1, 10, 3 }, "old");
    ptxi_diag_add(&d, PTXI_DIAG_ERROR, (struct ptxi_loc){ 5, 7, 1 }, "stray");
    ptxi_diag_add(&d, PTXI_DIAG_ERROR, (struct ptxi_loc){ 5, 9, 50 }, "clipped");
    ptxi_diag_add(&d, PTXI_DIAG_ERROR, (struct ptxi_loc){ 6, 1, 1 }, "at the end");
    ptxi_diag_add(&d, PTXI_DIAG_ERROR, (struct ptxi_loc){ 7, 1, 1 }, "beyond the end");
    ptxi_diag_add(&d, PTXI_DIAG_ERROR, (struct ptxi_loc){ 3, 0, 0 }, "whole line");
    ck_assert_uint_eq(d.errors, 6);
    ck_assert_uint_eq(d.warnings, 1);
    check_rendering(&d, "gemm.ptx:4:8: error: 'fma.f32' has no modifier '.ru'\n"
                        "    4 |     fma.ru.f32 %f1, %f2, %f3, %f4;\n"
                        "      |        ^~~\n"
                        "note: accepted: fma.rn\n"
                        "gemm.ptx:1:10: warning: old\n"
                        "    1 | .version 8.0\n"
                        "      |          ^~~\n"
                        "gemm.ptx:5:7: error: stray\n"
                        "    5 | \tret\xc3\xa9; x\n"
                        "      | \t    ^\n"
                        "gemm.ptx:5:9: error: clipped\n"
                        "    5 | \tret\xc3\xa9; x\n"
                        "      | \t      ^\n"
                        "gemm.ptx:6:1: error: at the end\n"
                        "    6 | \n"
                        "      | ^\n"
                        "gemm.ptx:7:1: error: beyond the end\n"
                        "gemm.ptx:3: error: whole line\n"
                        "    3 | \n");
    ptxi_arena_free(&a);
}
END_TEST

START_TEST(diag_stops_at_its_limit)
{
    struct ptxi_arena a;
    struct ptxi_diag d;
    unsigned kept = 0;

    ptxi_arena_init(&a, NULL);
    ptxi_diag_init(&d, &a);
    for (int i = 0; i < PTXI_DIAG_MAX + 5; i++) {
        ck_assert_int_eq(ptxi_diag_full(&d), i >= PTXI_DIAG_MAX);
        ptxi_diag_add(&d, PTXI_DIAG_ERROR, PTXI_LOC_NONE, "e%d", i);
        ptxi_diag_add(&d, PTXI_DIAG_NOTE, PTXI_LOC_NONE, "n%d", i);
    }
    for (struct ptxi_diag_entry *e = d.first; e; e = e->next)
        kept++;
    ck_assert_uint_eq(kept, 2 * PTXI_DIAG_MAX);
    ck_assert_uint_eq(d.errors, PTXI_DIAG_MAX + 5);

    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_diag_render(&d, NULL, 0, "m", &s);
    ck_assert_ptr_nonnull(strstr(s.s, "m: note: 5 further errors not shown\n"));
    ptxi_str_free(&s);
    ptxi_arena_free(&a);
}
END_TEST

START_TEST(diag_shortens_long_lines)
{
    static char text[5000];
    struct ptxi_str s;

    memset(text, 'a', sizeof text);
    text[2999] = '@';
    text[3001] = '\x1b';
    ptxi_str_init(&s, NULL);
    ptxi_diag_render_one(&s, text, sizeof text, "m", (struct ptxi_loc){ 1, 3000, 2 }, "trap", "here");
    ck_assert_int_eq(strncmp(s.s, "m:1:3000: trap: here\n    1 | ...a", 33), 0);
    ck_assert_uint_lt(s.len, 350);
    ck_assert_ptr_null(strchr(s.s, '\x1b'));

    const char *line = strchr(s.s, '\n') + 1, *carets = strchr(line, '\n') + 1;

    ck_assert_int_eq(strchr(line, '@') - line, strchr(carets, '^') - carets);
    ck_assert_str_eq(strchr(carets, '^'), "^~\n");
    ptxi_str_free(&s);
}
END_TEST

START_TEST(cpu_level_follows_the_environment)
{
    enum ptxi_cpu_level host = ptxi_cpu_level_host();

    for (int i = 0; i < PTXI_CPU_LEVELS; i++) {
        const char *name = ptxi_cpu_level_name((enum ptxi_cpu_level)i);

        ck_assert_int_eq(ptxi_cpu_level_parse(name), i);
        setenv("PTXI_CPU", name, 1);
        ck_assert_int_eq(ptxi_cpu_level(), i <= (int)host ? i : (int)host);
    }
    setenv("PTXI_CPU", "v9", 1);
    ck_assert_int_eq(ptxi_cpu_level(), host);
    unsetenv("PTXI_CPU");
    ck_assert_int_eq(ptxi_cpu_level(), host);
    ck_assert_int_eq(ptxi_cpu_level_parse(""), -1);
}
END_TEST

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
/* gcc reads CPUID independently of our code. */
START_TEST(cpu_level_agrees_with_the_compiler)
{
    enum ptxi_cpu_level want = PTXI_CPU_PORTABLE;

    if (__builtin_cpu_supports("x86-64-v2"))
        want = PTXI_CPU_V2;
    if (__builtin_cpu_supports("x86-64-v3"))
        want = PTXI_CPU_V3;
    if (__builtin_cpu_supports("x86-64-v4"))
        want = PTXI_CPU_V4;
    ck_assert_int_eq(ptxi_cpu_level_host(), want);
}
END_TEST
#endif

/* A file of `size` bytes, read with a limit of `limit` bytes. */
static void read_file(size_t size, size_t limit)
{
    FILE *f = tmpfile();
    size_t got = 1;
    char *text;

    ck_assert_ptr_nonnull(f);
    for (size_t k = 0; k < size; k++)
        ck_assert_int_ne(fputc('a' + (int)(k % 23), f), EOF);
    rewind(f);
    errno = 0;
    text = ptxi_read_all(f, limit, &got);
    fclose(f);
    if (size > limit) {
        ck_assert_ptr_null(text);
        ck_assert_int_eq(errno, EFBIG);
        return;
    }
    ck_assert_uint_eq(got, size);
    ck_assert_uint_eq(strlen(text), size);
    for (size_t k = 0; k < size; k++)
        ck_assert_int_eq(text[k], 'a' + (int)(k % 23));
    free(text);
}

START_TEST(paint_knows_messages)
{
    static const struct { const char *plain, *painted; } cases[] = {
        { "a.cu:3:5: error: write", "\033[1ma.cu:3:5:\033[0m \033[1;31merror:\033[0m write" },
        { "note: warning: x\n", "\033[1;36mnote:\033[0m warning: x\n" },
        { "      |  ^~~\n", "      |  \033[1;32m^~~\033[0m\n" },
        { "    7 | error: ^\nan error: none", "    7 | error: ^\nan error: none" },
        { "", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ptxi_str s;

        ptxi_str_init(&s, NULL);
        ptxi_paint(cases[i].plain, &s);
        ck_assert_str_eq(ptxi_str_text(&s), cases[i].painted);
        ptxi_str_free(&s);
    }
}
END_TEST

START_TEST(cpp_names_may_be_shortened)
{
    static const struct { const char *name, *query; unsigned match; } cases[] = {
        { "race", "race", 7 }, { "race(int*)", "race(int *)", 7 }, { "race(int*)", "race", 5 },
        { "race(int*)", "rac", 0 }, { "race(int*)", "race(", 0 }, { "race(int*)", "", 0 },
        { "void scale<float>(float*)", "void scale<float>(float*)", 7 },
        { "void scale<float>(float*)", "scale<float>(float*)", 6 },
        { "void scale<float>(float*)", "scale<float>", 5 }, { "void scale<float>(float*)", "scale", 4 },
        { "void scale<float>(float*)", "void", 0 }, { "void scale<float>(float*)", "scale<int>", 0 },
        { "a::b<c::d>::k(int)", "k", 2 }, { "a::b<c::d>::k(int)", "b<c::d>::k(int)", 3 },
        { "a::b<c::d>::k(int)", "d>::k", 0 }, { "a::b<c::d>::k(int)", "a::b<c::d>::k", 5 },
        { "a::(anonymous namespace)::k(float2*)", "a::k", 5 }, { "a::(anonymous namespace)::k(float2*)", "k", 2 },
        { "void f<unsigned long, 3>(unsigned long)", "f<unsigned long,3>", 5 },
        { "a::b* f<1>()", "f", 4 }, { "void f<&(g(int))>(int (*)(int))", "f", 4 }, { ")", "x", 0 }, { "a>", "a", 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_msg(ptxi_cpp_name_match(cases[i].name, cases[i].query) == cases[i].match, "%s for %s: %u",
                      cases[i].query, cases[i].name, ptxi_cpp_name_match(cases[i].name, cases[i].query));
}
END_TEST

START_TEST(demangle_leaves_other_names)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_demangle("_Z4racePi", &s);
    ptxi_demangle(" plain", &s);
    ptxi_demangle("_Z", &s);
    ck_assert_str_eq(ptxi_str_text(&s), "race(int*) plain_Z");
    ptxi_str_free(&s);
}
END_TEST

START_TEST(files_are_read_up_to_a_limit)
{
    static const size_t sizes[] = { 0, 1, 65535, 65536, 65537, 131072, 200000 };
    size_t got;
    FILE *endless = fopen("/dev/zero", "rb");

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        read_file(sizes[k], 1 << 20);
        read_file(sizes[k], sizes[k]);
        read_file(sizes[k] + 1, sizes[k]);
    }
    ck_assert_ptr_null(ptxi_read_all(endless, 300000, &got));
    ck_assert_int_eq(errno, EFBIG);
    fclose(endless);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base");
    TCase *t = tcase_create("base");

    tcase_set_timeout(t, 60);
    tcase_add_test(t, arena_gives_zeroed_aligned_memory);
    tcase_add_test(t, arena_big_object_keeps_the_open_chunk);
    tcase_add_test(t, arena_refuses_huge_sizes);
    tcase_add_test(t, arena_copies_strings);
    tcase_add_test(t, str_appends);
    tcase_add_test(t, str_keeps_the_out_of_memory_state);
    tcase_add_test(t, names_are_unique);
    tcase_add_test(t, names_of_every_length);
    tcase_add_test(t, hash_depends_on_the_seed);
    tcase_add_test(t, hash_spreads_register_names);
    tcase_add_test(t, every_allocation_may_fail);
    tcase_add_test(t, diag_renders_as_gcc_does);
    tcase_add_test(t, diag_stops_at_its_limit);
    tcase_add_test(t, diag_shortens_long_lines);
    tcase_add_test(t, paint_knows_messages);
    tcase_add_test(t, cpp_names_may_be_shortened);
    tcase_add_test(t, demangle_leaves_other_names);
    tcase_add_test(t, files_are_read_up_to_a_limit);
    tcase_add_test(t, cpu_level_follows_the_environment);
#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
    tcase_add_test(t, cpu_level_agrees_with_the_compiler);
#endif
    suite_add_tcase(s, t);
    return run_suite(s);
}
