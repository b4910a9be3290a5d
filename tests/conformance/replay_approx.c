/* Compares the functions of num/approx.h with a recording of approx.forms.
 *
 *     replay_approx FORMS RECORDING [EVERY [PART PARTS]]
 *
 * Of the digests over all 32-bit operands every EVERY-th is recomputed, and none of those that cover more than 2^24
 * (default 1: all of them, 4 to 20 seconds a form); PART of PARTS splits the forms among processes. Ends with 1 if anything
 * differs. */
#include "forms.h"

#include "num/approx.h"

#include <stdlib.h>
#include <string.h>

typedef uint64_t range_fn(uint64_t first, uint64_t count);
typedef uint64_t row_fn(uint32_t a, uint32_t b);

static inline uint64_t mix(uint64_t row, uint64_t out)
{
    uint64_t z = row * 0x9e3779b97f4a7c15u ^ out;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* What the handlers do: a lane loop over registers, apart from the digest. */
#define UNARY(name, expr)                                                   \
    static uint64_t row_##name(uint32_t a, uint32_t b)                      \
    {                                                                       \
        (void)b;                                                            \
        return (expr);                                                      \
    }                                                                       \
    static uint64_t range_##name(uint64_t first, uint64_t count)            \
    {                                                                       \
        uint64_t sum = 0, out[64];                                          \
                                                                            \
        for (uint64_t x = first; x < first + count; x += 64) {              \
            for (int l = 0; l < 64; l++) {                                  \
                uint32_t a = (uint32_t)(x + (uint64_t)l);                   \
                                                                            \
                out[l] = (expr);                                            \
            }                                                               \
            for (int l = 0; l < 64; l++)                                    \
                sum += mix(x + (uint64_t)l, out[l]);                        \
        }                                                                   \
        return sum;                                                         \
    }

#define PAIR(f, a) (f((uint16_t)(a)) | (uint32_t)f((uint16_t)((a) >> 16)) << 16)

UNARY(rcp_ftz, ptxi_num_rcp_approx_ftz_f32(a))
UNARY(rcp, ptxi_num_rcp_approx_f32(a))
UNARY(rsqrt_ftz, ptxi_num_rsqrt_approx_ftz_f32(a))
UNARY(rsqrt, ptxi_num_rsqrt_approx_f32(a))
UNARY(sqrt_ftz, ptxi_num_sqrt_approx_ftz_f32(a))
UNARY(sqrt, ptxi_num_sqrt_approx_f32(a))
UNARY(ex2_ftz, ptxi_num_ex2_approx_ftz_f32(a))
UNARY(ex2, ptxi_num_ex2_approx_f32(a))
UNARY(lg2_ftz, ptxi_num_lg2_approx_ftz_f32(a))
UNARY(lg2, ptxi_num_lg2_approx_f32(a))
UNARY(sin, ptxi_num_sin_approx_f32(a))
UNARY(cos, ptxi_num_cos_approx_f32(a))
UNARY(tanh, ptxi_num_tanh_approx_f32(a))
UNARY(rcp64, ptxi_num_rcp_approx_ftz_f64((uint64_t)a << 32 | 0x89abcdef))
UNARY(rsqrt64, ptxi_num_rsqrt_approx_ftz_f64((uint64_t)a << 32 | 0x89abcdef))
UNARY(ex2_f16x2, PAIR(ptxi_num_ex2_approx_f16, a))
UNARY(tanh_f16x2, PAIR(ptxi_num_tanh_approx_f16, a))
UNARY(ex2_bf16x2, PAIR(ptxi_num_ex2_approx_ftz_bf16, a))
UNARY(tanh_bf16x2, PAIR(ptxi_num_tanh_approx_bf16, a))
UNARY(ex2_f16, ptxi_num_ex2_approx_f16((uint16_t)a))
UNARY(tanh_f16, ptxi_num_tanh_approx_f16((uint16_t)a))
UNARY(ex2_bf16, ptxi_num_ex2_approx_ftz_bf16((uint16_t)a))
UNARY(tanh_bf16, ptxi_num_tanh_approx_bf16((uint16_t)a))

#define DIVISION(name, f)                                                   \
    static uint64_t row_##name(uint32_t a, uint32_t b)                      \
    {                                                                       \
        return f(a, b);                                                     \
    }                                                                       \
    UNARY(name##_1, f(0x3f800000, a))                                       \
    UNARY(name##_3, f(0x40400000, a))                                       \
    UNARY(name##_least, f(0x00800000, a))                                   \
    UNARY(name##_most, f(0x7f7fffff, a))                                    \
    UNARY(name##_tiny, f(0x80000003, a))

DIVISION(div_approx, ptxi_num_div_approx_f32)
DIVISION(div_approx_ftz, ptxi_num_div_approx_ftz_f32)
DIVISION(div_full, ptxi_num_div_full_f32)
DIVISION(div_full_ftz, ptxi_num_div_full_ftz_f32)

#define ROW(body, name) { body, range_##name, row_##name }
#define DIVISION_ROWS(text, name)                                           \
    ROW("0x3f800000; " text " $d, $t, $a;", name##_1),                      \
    ROW("0x40400000; " text " $d, $t, $a;", name##_3),                      \
    ROW("0x00800000; " text " $d, $t, $a;", name##_least),                  \
    ROW("0x7f7fffff; " text " $d, $t, $a;", name##_most),                   \
    ROW("0x80000003; " text " $d, $t, $a;", name##_tiny),                   \
    { text " $d, $a, $b;", NULL, row_##name }

/* Matched against the end of a form's body, the first that fits. */
static const struct {
    const char *body;
    range_fn *range;
    row_fn *row;
} functions[] = {
    ROW("rcp.approx.ftz.f32 $d, $a;", rcp_ftz),
    ROW("rsqrt.approx.ftz.f32 $d, $a;", rsqrt_ftz),
    ROW("sqrt.approx.ftz.f32 $d, $a;", sqrt_ftz),
    ROW("ex2.approx.ftz.f32 $d, $a;", ex2_ftz),
    ROW("lg2.approx.ftz.f32 $d, $a;", lg2_ftz),
    ROW("sin.approx.ftz.f32 $d, $a;", sin),
    ROW("cos.approx.ftz.f32 $d, $a;", cos),
    ROW("tanh.approx.f32 $d, $a;", tanh),
    ROW("rcp.approx.f32 $d, $a;", rcp),
    ROW("rsqrt.approx.f32 $d, $a;", rsqrt),
    ROW("sqrt.approx.f32 $d, $a;", sqrt),
    ROW("ex2.approx.f32 $d, $a;", ex2),
    ROW("lg2.approx.f32 $d, $a;", lg2),
    ROW("sin.approx.f32 $d, $a;", sin),
    ROW("cos.approx.f32 $d, $a;", cos),
    ROW("rcp.approx.ftz.f64 $d, $T;", rcp64),
    ROW("rsqrt.approx.ftz.f64 $d, $T;", rsqrt64),
    ROW("ex2.approx.f16x2 $d, $a;", ex2_f16x2),
    ROW("tanh.approx.f16x2 $d, $a;", tanh_f16x2),
    ROW("ex2.approx.ftz.bf16x2 $d, $a;", ex2_bf16x2),
    ROW("tanh.approx.bf16x2 $d, $a;", tanh_bf16x2),
    ROW("ex2.approx.f16 $d, $a;", ex2_f16),
    ROW("tanh.approx.f16 $d, $a;", tanh_f16),
    ROW("ex2.approx.ftz.bf16 $d, $a;", ex2_bf16),
    ROW("tanh.approx.bf16 $d, $a;", tanh_bf16),
    DIVISION_ROWS("div.approx.f32", div_approx),
    DIVISION_ROWS("div.approx.ftz.f32", div_approx_ftz),
    DIVISION_ROWS("div.full.f32", div_full),
    DIVISION_ROWS("div.full.ftz.f32", div_full_ftz),
};

static int find_function(const char *body)
{
    size_t length = strlen(body);

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        size_t n = strlen(functions[i].body);

        /* A whole mnemonic: sqrt is not the end of rsqrt. */
        if (n <= length && !strcmp(body + length - n, functions[i].body) && (n == length || body[length - n - 1] == ' '))
            return (int)i;
    }
    return -1;
}

static int check_all32(const struct form *f, const struct form_term *t, const uint64_t *want, range_fn *range, int every)
{
    uint64_t count = (1ull << 32) / (uint64_t)t->n;
    int wrong = 0;

    for (int k = every / 2; k < t->n; k += every) {
        if (every > 1 && count > 1u << 24)
            break;
        if (range((uint64_t)k * count, count) != want[k]) {
            if (wrong++ < 8)
                printf("differs: %s: operands from %#llx\n", f->body, (unsigned long long)k * count);
        }
    }
    return wrong;
}

static int check_digest(const struct form *f, const struct form_term *t, const uint64_t *want, row_fn *fn)
{
    int wrong = 0;

    for (int first = 0; first < t->n; first += FORM_DIGEST_ROWS) {
        uint64_t sum = 0;

        for (int row = first; row < first + FORM_DIGEST_ROWS && row < t->n; row++) {
            uint32_t b = f->n_in > 1 ? (uint32_t)forms_operand(f, t, 1, row) : 0;

            sum += forms_digest_row((uint64_t)row, fn((uint32_t)forms_operand(f, t, 0, row), b), 0);
        }
        if (sum != want[first / FORM_DIGEST_ROWS] && wrong++ < 8)
            printf("differs: %s: rows from %d\n", f->body, first);
    }
    return wrong;
}

static int replay(const struct forms *fs, FILE *in, int every, int part, int parts)
{
    struct { uint64_t key; uint32_t term, bytes; } head;
    int wrong = 0, checked = 0;

    while (fread(&head, sizeof head, 1, in) == 1) {
        uint64_t *want = malloc(head.bytes);
        int i = 0, fn;

        if (!want || fread(want, 1, head.bytes, in) != head.bytes)
            return -1;
        while (i < fs->n && fs->form[i].key != head.key)
            i++;
        fn = i < fs->n ? find_function(fs->form[i].body) : -1;
        if (fn >= 0 && i % parts == part) {
            const struct form *f = &fs->form[i];
            const struct form_term *t = &f->term[head.term];
            int n = t->kind == TERM_ALL32 ? check_all32(f, t, want, functions[fn].range, every)
                                          : check_digest(f, t, want, functions[fn].row);

            wrong += n;
            checked++;
            printf("%s: %s\n", n ? "FAIL" : "ok", f->body);
            fflush(stdout);
        }
        free(want);
    }
    printf("%d terms, %d digests differ\n", checked, wrong);
    return checked ? wrong : -1;
}

int main(int argc, char **argv)
{
    struct forms *fs;
    FILE *in;
    char *line = NULL;
    size_t room = 0;
    int wrong;

    if (argc < 3 || !(in = fopen(argv[2], "rb"))) {
        fputs("usage: replay_approx FORMS RECORDING [EVERY [PART PARTS]]\n", stderr);
        return 2;
    }
    fs = forms_read(argv[1]);
    while (getline(&line, &room, in) > 1)
        ;
    free(line);
    wrong = replay(fs, in, argc > 3 ? atoi(argv[3]) : 1, argc > 5 ? atoi(argv[4]) : 0, argc > 5 ? atoi(argv[5]) : 1);
    fclose(in);
    forms_free(fs);
    return wrong != 0;
}
