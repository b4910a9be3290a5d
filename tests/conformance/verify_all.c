/* Compares exhaustive cases with their digests. See verify.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conformance/verify.h"

enum { CHUNK = 8 }; /* digests per launch */

struct sweep {
    const struct recording *recording;
    ptxiDevicePtr digests;
    FILE *state;
    size_t equal, differ, refused, missing, total; /* digests */
    double began;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static ptxiModule load(const struct exhaustive *x, ptxiFunction *f)
{
    char *text = NULL, name[32];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ptxiModule module;

    case_print_head(out);
    case_print_exhaustive(out, x);
    fclose(out);
    module = verify_load(text, false);
    free(text);
    snprintf(name, sizeof name, "x%016llx", (unsigned long long)x->key);
    if (module && ptxiModuleGetFunction(f, module, name) != PTXI_SUCCESS)
        abort();
    return module;
}

static ptxiResult run(struct sweep *s, ptxiFunction f, unsigned first, unsigned count, uint32_t *got)
{
    uint32_t block = first * EXHAUSTIVE_BLOCKS, zero = 0;
    void *params[] = { &s->digests, &block, &zero };
    ptxiResult rc;

    ptxiMemsetD8(s->digests, 0, count * 4);
    rc = ptxiLaunchKernel(f, count * EXHAUSTIVE_BLOCKS, 1, 1, EXHAUSTIVE_THREADS, 1, 1, 0, NULL, params, NULL);
    return rc == PTXI_SUCCESS ? ptxiMemcpyDtoH(got, s->digests, count * 4) : rc;
}

static void print_name(const struct exhaustive *x)
{
    fputs(x->of->name, stdout);
    if (x->spread == SPREAD_UPPER || x->spread == SPREAD_SECOND)
        printf(" (%08x)", x->constant);
}

static void print_failure(const struct exhaustive *x)
{
    printf("fails: ");
    print_name(x);
    putchar('\n');
    verify_show_report();
}

static void compare(struct sweep *s, const struct exhaustive *x, unsigned first, uint32_t got, uint32_t want)
{
    if (got == want) {
        s->equal++;
        return;
    }
    if (s->differ++ < 100) {
        printf("differs: ");
        print_name(x);
        printf(": operands from %08x\n", first << 23);
    }
}

/* Computes digests first to first + count - 1. Returns false if the library does not support the case or fails. In that
 * case the result applies to all `left` remaining digests. */
static bool check(struct sweep *s, const struct exhaustive *x, ptxiFunction f, const uint32_t *want, unsigned first,
                  unsigned count, unsigned left)
{
    uint32_t got[CHUNK];

    if (run(s, f, first, count, got) != PTXI_SUCCESS) {
        bool unsupported = verify_unsupported();

        if (!unsupported)
            print_failure(x);
        *(unsupported ? &s->refused : &s->differ) += left;
        return false;
    }
    for (unsigned i = 0; i < count; i++)
        compare(s, x, first + i, got[i], want[first + i]);
    return true;
}

/* ---- Finished digests: lines "KEY digest" ---- */

static unsigned done_before(const char *path, uint64_t key)
{
    FILE *in = fopen(path, "r");
    unsigned long long k;
    unsigned next, done = 0;

    while (in && fscanf(in, "%llx %u\n", &k, &next) == 2)
        if (k == key && next > done)
            done = next;
    if (in)
        fclose(in);
    return done;
}

static void remember(struct sweep *s, const struct exhaustive *x, unsigned next)
{
    if (!s->state)
        return;
    fprintf(s->state, "%016llx %u\n", (unsigned long long)x->key, next);
    fflush(s->state);
}

static void show_progress(const struct sweep *s, const struct exhaustive *x, const char *what)
{
    size_t done = s->equal + s->differ + s->refused + s->missing;

    printf("%5.1f%% %7.0f s  %s ", 100.0 * (double)done / (double)s->total, now() - s->began, what);
    print_name(x);
    putchar('\n');
    fflush(stdout);
}

/* Verifies the unfinished digests of one case. Progress is saved only while all digests match. */
static void sweep(struct sweep *s, const struct exhaustive *x, const char *state)
{
    const uint32_t *want = recording_find(s->recording, x->key, EXHAUSTIVE_DIGESTS);
    unsigned next = done_before(state, x->key);
    size_t differ = s->differ, refused = s->refused;
    ptxiFunction f;
    ptxiModule module = want ? load(x, &f) : NULL;

    s->equal += next;
    if (!want) {
        s->missing += EXHAUSTIVE_DIGESTS - next;
    } else if (!module) {
        s->differ += EXHAUSTIVE_DIGESTS - next;
        verify_show_report();
    }
    while (module && next < EXHAUSTIVE_DIGESTS && check(s, x, f, want, next, CHUNK, EXHAUSTIVE_DIGESTS - next)) {
        next += CHUNK;
        if (s->differ == differ)
            remember(s, x, next);
    }
    if (module)
        ptxiModuleUnload(module);
    show_progress(s, x,
                  !want                   ? "not recorded:"
                  : s->differ != differ   ? "DIFFERS:"
                  : s->refused != refused ? "refused:"
                                          : "equal:");
}

/* Returns true on failure. An empty comparison is a failure if all cases were requested. */
static bool finish(const struct sweep *s, bool all)
{
    printf("%zu digests of 2^23 operands equal, %zu differ, %zu refused, %zu not recorded\n", s->equal, s->differ,
           s->refused, s->missing);
    return s->differ || s->missing || (all && !s->equal);
}

bool verify_all(const struct cases *cs, const struct recording *r, const char *state, unsigned part, unsigned parts,
                const char *text)
{
    struct sweep s = { .recording = r, .began = now() };

    s.digests = verify_memory(EXHAUSTIVE_DIGESTS * 4);
    s.state = fopen(state, "a");
    if (!s.state || !parts)
        return true;
    for (size_t i = part; i < cs->all_count; i += parts)
        s.total += strstr(cs->all[i].of->name, text) ? EXHAUSTIVE_DIGESTS : 0;
    for (size_t i = part; i < cs->all_count; i += parts)
        if (strstr(cs->all[i].of->name, text))
            sweep(&s, &cs->all[i], state);
    fclose(s.state);
    return finish(&s, true);
}

static void sample(struct sweep *s, const struct exhaustive *x, const uint32_t *want, unsigned digest)
{
    ptxiFunction f;
    ptxiModule module = load(x, &f);

    if (!module) {
        print_failure(x);
        s->differ++;
        return;
    }
    check(s, x, f, want, digest, 1, 1);
    ptxiModuleUnload(module);
}

/* The digest varies from case to case to cover all exponents and signs. */
bool verify_sample(const struct cases *cs, const struct recording *r, unsigned every, const char *text)
{
    struct sweep s = { .recording = r };

    s.digests = verify_memory(EXHAUSTIVE_DIGESTS * 4);
    for (size_t i = 0; every && i < cs->all_count; i++) {
        const struct exhaustive *x = &cs->all[i];
        const uint32_t *want = recording_find(r, x->key, EXHAUSTIVE_DIGESTS);

        if (!strstr(x->of->name, text))
            continue;
        if (!want) {
            printf("not recorded: ");
            print_name(x);
            putchar('\n');
            s.missing++;
        } else if (i % every == every / 2) {
            sample(&s, x, want, (unsigned)(i * 37 % EXHAUSTIVE_DIGESTS));
        }
    }
    return finish(&s, !*text);
}
