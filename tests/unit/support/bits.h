/* Basic helpers of all unit tests: Check, comparisons of bit patterns that print hexadecimal numbers, random
 * numbers, and an allocator that fails on request. */
#ifndef PTXI_TESTS_BITS_H
#define PTXI_TESTS_BITS_H

#include "base/alloc.h"

#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ck_bits32(got, want) and ck_bits32_at(got, want, "row %d: %s", i, why). Each argument is evaluated once. */
#define CK_BITS(type, digits, got, want, ...)                                                                      \
    do {                                                                                                           \
        type got_ = (got), want_ = (want);                                                                         \
        if (got_ != want_) {                                                                                       \
            char why_[256];                                                                                        \
            snprintf(why_, sizeof why_, __VA_ARGS__);                                                              \
            ck_abort_msg("%s: got 0x%0" digits PRIx64 ", want 0x%0" digits PRIx64 "; %s", #got, (uint64_t)got_,    \
                         (uint64_t)want_, why_);                                                                   \
        }                                                                                                          \
    } while (0)

#define ck_bits8(got, want) CK_BITS(uint8_t, "2", got, want, "%s", #want)
#define ck_bits16(got, want) CK_BITS(uint16_t, "4", got, want, "%s", #want)
#define ck_bits32(got, want) CK_BITS(uint32_t, "8", got, want, "%s", #want)
#define ck_bits64(got, want) CK_BITS(uint64_t, "16", got, want, "%s", #want)
#define ck_bits8_at(got, want, ...) CK_BITS(uint8_t, "2", got, want, __VA_ARGS__)
#define ck_bits16_at(got, want, ...) CK_BITS(uint16_t, "4", got, want, __VA_ARGS__)
#define ck_bits32_at(got, want, ...) CK_BITS(uint32_t, "8", got, want, __VA_ARGS__)
#define ck_bits64_at(got, want, ...) CK_BITS(uint64_t, "16", got, want, __VA_ARGS__)

/* Returns the same sequence in every run (xorshift64*). A loop test that needs different numbers in each iteration
 * adds the iteration to the state. */
static uint64_t random_state = 0x9e3779b97f4a7c15;

static inline uint64_t random64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * 0x2545f4914f6cdd1d;
}

/* An allocator. Its n-th call (from 0) and all later ones fail. With `left` -1, none fails. Use it to fail every
 * allocation of an operation once:
 *
 *     for (long n = 0; ; n++) {
 *         struct countdown cd = { .left = n };
 *         struct ptxi_alloc al = countdown_alloc(&cd);
 *         bool ok = operation(&al);           must not crash, must give everything back
 *         ck_assert_int_eq(cd.live, 0);
 *         if (ok) break;
 *     } */
struct countdown {
    long left; /* calls that still succeed */
    long live; /* blocks that have not been freed */
};

static inline bool countdown_fails(struct countdown *cd)
{
    if (cd->left < 0)
        return false;
    if (cd->left == 0)
        return true;
    cd->left--;
    return false;
}

static inline void *countdown_get(void *ctx, size_t size)
{
    struct countdown *cd = ctx;
    void *p = countdown_fails(cd) ? NULL : malloc(size ? size : 1);

    cd->live += p != NULL;
    return p;
}

static inline void *countdown_resize(void *ctx, void *p, size_t size)
{
    struct countdown *cd = ctx;
    void *q = countdown_fails(cd) ? NULL : realloc(p, size ? size : 1);

    cd->live += q && !p;
    return q;
}

static inline void countdown_put(void *ctx, void *p)
{
    struct countdown *cd = ctx;

    cd->live -= p != NULL;
    free(p);
}

static inline struct ptxi_alloc countdown_alloc(struct countdown *cd)
{
    return (struct ptxi_alloc){ countdown_get, countdown_resize, countdown_put, cd };
}

/* The body of main: runs one suite and returns exit status 0 if all tests pass. */
static inline int run_suite(Suite *s)
{
    SRunner *sr = srunner_create(s);

    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
