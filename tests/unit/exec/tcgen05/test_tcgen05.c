/* Tests tcgen05.mma and tcgen05.cp with small numbers. Their sums are exact in every type. Covers all kinds, data
 * paths, matrices in shared memory and in tensor memory, sparse matrices, scales, and disabled lanes and columns. */
#include "unit/support/canonical.h"
#include "unit/support/kernels.h"

#include <math.h>

#include "isa/fragment.h"
#include "unit/support/minifloat_reference.h"

enum { THREADS = 128, LANES = 128, COLUMNS = 128, IMAGE = 45056, B_AT = 16384, NEXT_A = 28672,
       NEXT_B = 6144 /* after B_AT */, MAX_M = 256, MAX_N = 64, MAX_K = 128, INT = -1, TI16 = -2 };
/* columns of tensor memory: of D, then */
enum { A_COLUMN = 64, META_COLUMN = 72, SCALE_A_COLUMN = 80, SCALE_B_COLUMN = 88 };

static const struct kind {
    const char *name;
    unsigned result, code_a, code_b; /* fields of the instruction descriptor */
    int a, b;                        /* formats of unit/support/minifloat_reference.h; INT: s8, u8; TI16: s1z4m11 */
    /* bits of an element of a container in tensor memory; bits of a row of A: 3 or 6 if K is 96 */
    unsigned bits, scales;
    enum { SCALE_E8, SCALE_E4, SCALE_E5 } scale;
} kinds[] = {
    { "f16", 1, 0, 0, F16_, F16_, 16, 0, SCALE_E8 },        { "f16", 0, 0, 0, F16_, F16_, 16, 0, SCALE_E8 },
    { "f16", 1, 1, 1, BF16_, BF16_, 16, 0, SCALE_E8 },      { "tf32", 1, 2, 2, TF32, TF32, 32, 0, SCALE_E8 },
    { "f8f6f4", 1, 0, 1, E4M3, E5M2, 8, 0, SCALE_E8 },      { "f8f6f4", 0, 5, 4, E2M1, E3M2, 8, 0, SCALE_E8 },
    { "f8f6f4", 1, 3, 5, E2M3, E2M1, 8, 0, SCALE_E8 },      { "i8", 2, 1, 0, INT, INT, 8, 0, SCALE_E8 },
    { "mxf8f6f4.block_scale.scale_vec::1X", 0, 0, 5, E4M3, E2M1, 8, 1, SCALE_E8 },
    { "mxf8f6f4.block_scale.scale_vec::1X", 0, 4, 1, E3M2, E5M2, 8, 1, SCALE_E8 },
    { "mxf4.block_scale.scale_vec::2X", 0, 1, 1, E2M1, E2M1, 4, 2, SCALE_E8 },
    { "mxf4nvf4.block_scale.scale_vec::4X", 0, 1, 1, E2M1, E2M1, 4, 4, SCALE_E4 },
    { "mxf4.block_scale.block32", 0, 1, 1, E2M1, E2M1, 4, 3, SCALE_E8 },
    { "mxf4nvf4.block_scale.block16", 0, 1, 1, E2M1, E2M1, 4, 6, SCALE_E4 },
    { "ti16", 2, 3, 3, TI16, TI16, 16, 0, SCALE_E8 },
    { "mxf4nvf4.block_scale.scale_vec::2X", 0, 1, 1, E2M1, E2M1, 4, 2, SCALE_E5 },
    { "mxf4nvf4.block_scale.block16", 0, 1, 1, E2M1, E2M1, 4, 4, SCALE_E5 },
};
enum { KINDS = sizeof kinds / sizeof *kinds, K96_KINDS = 2, SM_107_KINDS = 3 };

static const struct path {
    bool ws, pair;
    unsigned m, n;
} paths[] = { { false, false, 64, 40 }, { false, false, 128, 40 }, { true, false, 32, 64 }, { true, false, 64, 64 },
              { true, false, 128, 64 },
              { false, true, 128, 48 }, { false, true, 256, 48 },
              /* of ti16, whose products with more than 64 rows have more columns at least */
              { false, false, 128, 48 }, { false, true, 128, 64 }, { false, true, 256, 64 } };
enum { PATHS = sizeof paths / sizeof *paths, FORMS = KINDS * PATHS * 4 };

struct form {
    const struct kind *kind;
    const struct path *path;
    bool sparse, a_in_tmem;
};

/* K = 96 needs another target. Lines have 48 bytes; their second part is elsewhere. */
static bool has_k96(const struct kind *k)
{
    return k->scales && k->scales % 3 == 0;
}

static bool is_sm_107(const struct kind *k)
{
    return k->a == TI16 || k->scale == SCALE_E5;
}

static bool has_columns(const struct kind *k, const struct path *p)
{
    if (k->a != TI16 || p->ws)
        return p < &paths[7];
    return p->n % (p->pair ? 32 : p->m == 128 ? 16 : 8) == 0;
}

static bool form_of(unsigned n, struct form *f)
{
    *f = (struct form){ &kinds[n % KINDS], &paths[n / KINDS % PATHS], n / KINDS / PATHS & 1, n / KINDS / PATHS & 2 };
    if ((has_k96(f->kind) && (f->sparse || f->a_in_tmem)) || !has_columns(f->kind, f->path))
        return false;
    return !f->kind->scales ||
        (!f->path->ws && f->path->m >= (f->path->pair && (f->sparse || has_k96(f->kind)) ? 256 : 128));
}

/* Options that only some forms have. */
static bool disables_lanes(const struct form *f) /* lanes */
{
    return f->a_in_tmem && !f->sparse && !f->kind->scales && !f->path->ws;
}

static bool shifts_a(const struct form *f) /* rows of A */
{
    return disables_lanes(f) && f->path->m >= (f->path->pair ? 256 : 128) && (f->kind->a == TF32 || f->kind->a == INT);
}

static bool masks_columns(const struct form *f) /* columns of B */
{
    return f->path->ws && f->a_in_tmem;
}

static bool scales_d(const struct form *f) /* scale of D before the sum */
{
    return f->sparse && !f->path->ws && (f->kind->a == F16_ || f->kind->a == TF32);
}

static const uint32_t disabled_lanes[4] = { 0x00ff00f0, 0, 0x80000001, 0xffff0000 };
/* four columns, then three without: PTX ISA, "Zero-Column Mask Descriptor", example 2 */
#define ZERO_COLUMNS UINT64_C(0x0003028000000000)

/* --- kernels --- */

static void print_instruction(FILE *out, const struct form *f)
{
    unsigned group = f->path->pair ? 2 : 1;

    for (unsigned k = 0; k < 4; k++)
        fprintf(out, "mov.b32 %%lane%u, 0x%x; ", k, disabled_lanes[k]);
    if (has_k96(f->kind))
        fputs("shl.b64 %w3, %w3, 16; add.u64 %da, %da, %w3; add.u64 %db, %db, %w3; ", out);
    fprintf(out, "tcgen05.mma%s%s.cta_group::%u.kind::%s%s [%%d], %s, %%db%s, %%idesc", f->path->ws ? ".ws" : "",
            f->sparse ? ".sp" : "", group, f->kind->name,
            shifts_a(f) ? ".ashift" : "", f->a_in_tmem ? "[%a]" : "%da", f->sparse ? ", [%e]" : "");
    if (f->kind->scales)
        fputs(", [%sa], [%sb]", out);
    for (unsigned k = 0; k < 4 * group && disables_lanes(f); k++)
        fprintf(out, "%s%%lane%u%s", k ? ", " : ", {", k % 4, k + 1 == 4 * group ? "}" : "");
    fputs(", %on", out);
    if (masks_columns(f))
        fputs(", %zeros", out);
    fprintf(out, "%s;\n", scales_d(f) ? ", 1" : "");
}

/* `text`: an instruction that is not a product. */
static void print_kernel(FILE *out, unsigned n, const struct form *f, bool pair, const char *text)
{
    const char *barrier = pair ? "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" : "bar.sync 0;";

    fprintf(out, ".visible .entry k%u(.param .u64 image, .param .u64 cells, .param .u64 da, .param .u64 db, "
                 ".param .u32 idesc, .param .u32 base, .param .u32 on) %s {\n"
                 "  .shared .align 1024 .b8 tile[%d]; .shared .b64 m; .shared .b32 at; "
                 ".reg .b32 %%r<4>, %%lane<4>, %%t, %%v, %%d, %%a, %%e, %%sa, %%sb, %%idesc, %%tile, %%c, %%q, %%qa;\n"
                 "  .reg .b64 %%w<4>, %%da, %%db, %%zeros; .reg .b16 %%mask; .reg .pred %%p, %%first, %%on;\n"
                 "  ld.param.u64 %%w0, [image]; ld.param.u64 %%w1, [cells]; mov.u32 %%r0, %%cluster_ctarank; "
                 "mad.wide.u32 %%w0, %%r0, %d, %%w0; mad.wide.u32 %%w1, %%r0, %d, %%w1;\n"
                 "  mov.u32 %%t, %%tid.x; mov.u32 %%tile, tile; mov.u32 %%c, %%t;\n"
                 "IN: mad.wide.u32 %%w2, %%c, 4, %%w0; ld.global.u32 %%v, [%%w2]; mad.lo.u32 %%q, %%c, 4, %%tile; "
                 "st.shared.u32 [%%q], %%v; add.u32 %%c, %%c, %d;\n"
                 "  setp.lt.u32 %%p, %%c, %d; @%%p bra IN;\n"
                 "  setp.eq.u32 %%p, %%t, 0; @%%p mbarrier.init.shared.b64 [m], 1; setp.lt.u32 %%first, %%t, 32;\n"
                 "  @%%first tcgen05.alloc.cta_group::%d.sync.aligned.shared::cta.b32 [at], %d; bar.sync 0; "
                 "ld.shared.u32 %%d, [at]; and.b32 %%q, %%t, 96; shl.b32 %%q, %%q, 16;\n"
                 "  add.u32 %%qa, %%d, %%q; mad.wide.u32 %%w1, %%t, %d, %%w1; mov.u32 %%c, 0; mov.b64 %%w2, %%w1;\n"
                 "FILL: ld.global.u32 %%v, [%%w2]; add.u32 %%q, %%qa, %%c; "
                 "tcgen05.st.sync.aligned.32x32b.x1.b32 [%%q], {%%v}; add.u64 %%w2, %%w2, 4; add.u32 %%c, %%c, 1;\n"
                 "  setp.lt.u32 %%p, %%c, %d; @%%p bra FILL; tcgen05.wait::st.sync.aligned; fence.proxy.async; "
                 "tcgen05.fence::before_thread_sync; %s\n"
                 "  tcgen05.fence::after_thread_sync; or.b32 %%r1, %%t, %%r0; setp.ne.u32 %%p, %%r1, 0; "
                 "@%%p bra WAIT;\n"
                 "  ld.param.u64 %%da, [da]; ld.param.u64 %%db, [db]; ld.param.u32 %%idesc, [idesc]; "
                 "ld.param.u32 %%r1, [base]; ld.param.u32 %%r2, [on];\n"
                 "  setp.ne.u32 %%on, %%r2, 0; shr.u32 %%r3, %%tile, 4; cvt.u64.u32 %%w3, %%r3; "
                 "add.u64 %%da, %%da, %%w3; add.u64 %%db, %%db, %%w3;\n"
                 "  add.u32 %%a, %%d, %d; add.u32 %%e, %%d, %d; add.u32 %%sa, %%d, %d; add.u32 %%sb, %%d, %d; "
                 "add.u32 %%d, %%d, %%r1; add.u32 %%a, %%a, %%r1; add.u32 %%e, %%e, %%r1;\n"
                 "  mov.b64 %%zeros, 0x%llx; mov.b16 %%mask, 3;\n  ", n, pair ? ".reqnctapercluster 2" : "", IMAGE,
                 IMAGE, LANES * COLUMNS * 4, THREADS, IMAGE / 4, pair + 1, COLUMNS, COLUMNS * 4, COLUMNS, barrier,
            A_COLUMN, META_COLUMN, SCALE_A_COLUMN, SCALE_B_COLUMN, (unsigned long long)ZERO_COLUMNS);
    if (text)
        fputs(text, out);
    else
        print_instruction(out, f);
    fprintf(out, "  tcgen05.commit.cta_group::%d.mbarrier::arrive::one.shared::cluster%s.b64 [m]%s;\n"
                 "WAIT: mbarrier.try_wait.parity.shared.b64 %%p, [m], 0; @!%%p bra WAIT; bar.sync 0; "
                 "tcgen05.fence::after_thread_sync; mov.u32 %%c, 0;\n"
                 "OUT: add.u32 %%q, %%qa, %%c; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%%v}, [%%q]; "
                 "tcgen05.wait::ld.sync.aligned; st.global.u32 [%%w1], %%v;\n"
                 "  add.u64 %%w1, %%w1, 4; add.u32 %%c, %%c, 1; setp.lt.u32 %%p, %%c, %d; @%%p bra OUT; "
                 "%s ld.shared.u32 %%d, [at];\n"
                 "  @%%first tcgen05.dealloc.cta_group::%d.sync.aligned.b32 %%d, %d; ret; }\n", pair + 1,
                 pair ? ".multicast::cluster" : "", pair ? ", %mask" : "", COLUMNS,
            barrier, pair + 1, COLUMNS);
}

/* Prints the copies into tensor memory. */
static const struct copy {
    const char *shape;
    unsigned rows, bytes;
} copies[] = { { "128x256b", 128, 32 },          { "4x256b", 4, 32 },           { "128x128b", 128, 16 },
               { "64x128b.warpx2::02_13", 64, 16 }, { "64x128b.warpx2::01_23", 64, 16 }, { "32x128b.warpx4", 32, 16 } };
enum { COPIES = sizeof copies / sizeof *copies, PACKINGS = 3 };
static const char *const packings[PACKINGS] = { "", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64" };

static ptxiDevicePtr image, cells;

static void print_k96_kernels(FILE *out)
{
    struct form f;

    for (unsigned n = 0; n < FORMS; n++)
        if (form_of(n, &f) && has_k96(f.kind))
            print_kernel(out, n, &f, f.path->pair, NULL);
}

static void print_107_kernels(FILE *out)
{
    struct form f;

    for (unsigned n = 0; n < FORMS; n++)
        if (form_of(n, &f) && is_sm_107(f.kind))
            print_kernel(out, n, &f, f.path->pair, NULL);
}

static void print_kernels(FILE *out)
{
    struct form f;

    for (unsigned n = 0; n < FORMS; n++)
        if (form_of(n, &f) && !has_k96(f.kind) && !is_sm_107(f.kind))
            print_kernel(out, n, &f, f.path->pair, NULL);
    for (unsigned n = 0; n < COPIES * PACKINGS * 2; n++) {
        bool pair = n / COPIES / PACKINGS;
        char text[128];

        snprintf(text, sizeof text, "tcgen05.cp.cta_group::%d.%s%s [%%d], %%da;\n", pair + 1, copies[n % COPIES].shape,
                 packings[n / COPIES % PACKINGS]);
        print_kernel(out, FORMS + n, NULL, pair, text);
    }
    print_kernel(out, FORMS + COPIES * PACKINGS * 2, NULL, false, "tcgen05.shift.cta_group::1.down [%d];\n");
}

/* --- one product --- */

struct problem {
    struct form f;
    /* K and the stored elements; rows of D in a CTA, and whether they use half of the lanes; columns per row */
    unsigned k, stored, rows, half, columns;
    bool mn_major_a, mn_major_b, negate_a, negate_b, on;
    unsigned swizzle, base;
    unsigned start;                         /* bytes of a line in the pattern, and bytes that are elsewhere */
    double a[MAX_M][MAX_K], b[MAX_K][MAX_N], scale_a[MAX_M][6], scale_b[MAX_N][6], d[MAX_M][MAX_N];
    uint8_t pair[MAX_M][16];                /* sparse: 4 bits per chunk */
    unsigned char image[2][IMAGE];
    uint32_t cells[2][LANES][COLUMNS];
};

static uint32_t code_of(int type, double x)
{
    if (type == TI16) /* a sign and a magnitude */
        return (uint32_t)fabs(x) | (x < 0 || (x == 0 && random_below(2)) ? 0x8000 : 0);
    return type == INT ? (uint8_t)(int)x : small_code(&smalls[type], x, SMALL_RN, false, 0, 0) << (type == TF32 ? 13
            : 0);
}

/* Stores an element in its container in tensor memory. The unused bits are arbitrary. */
static uint32_t container_of(const struct kind *k, int type, double x)
{
    uint32_t code = code_of(type, x);

    if (k->bits != 8 || type == INT || type == E4M3 || type == E5M2)
        return code;
    return type == E2M1 ? (code << 2 | (random_below(256) & 0xc3)) : code | random_below(4) << 6;
}

static double random_number(int type, bool is_signed)
{
    if (type == TI16)
        return random_below(4) ? (double)random_below(4095) - 2047 : random_below(2) ? 2047 : -2047;
    return type == INT ? (is_signed ? (double)random_below(256) - 128 : (double)random_below(256))
                       : (double)random_below(5) - 2;
}

static unsigned chunk_of(const struct kind *k)
{
    return k->bits == 32 ? 2 : k->bits == 4 ? 8 : 4;
}

/* Returns the column of A of stored element `at`. */
static unsigned column_of(const struct problem *p, unsigned m, unsigned at)
{
    unsigned chunk = chunk_of(p->f.kind);

    return p->f.sparse ? ptxi_sparse_column(p->f.kind->bits, at, p->pair[m][at / (chunk / 2)]) : at;
}

static double random_scale(const struct kind *k)
{
    return (k->scale == SCALE_E8 ? 1 : 1 + random_below(8) / 8.0) * (1 << random_below(3));
}

static void make_numbers(struct problem *p)
{
    static const uint8_t pairs[] = { 0x4, 0x8, 0x9, 0xc, 0xd, 0xe }, singles[] = { 0x4, 0xe };
    const struct kind *k = p->f.kind;

    memset(p->a, 0, sizeof p->a);
    for (unsigned m = 0; m < p->f.path->m; m++) {
        for (unsigned c = 0; c < 16; c++)
            p->pair[m][c] = k->bits == 32 ? singles[random_below(2)] : pairs[random_below(6)];
        for (unsigned at = 0; at < p->stored; at++)
            p->a[m][column_of(p, m, at)] = random_number(k->a, true);
        for (unsigned v = 0; v < 6; v++)
            p->scale_a[m][v] = k->scales ? random_scale(k) : 1;
    }
    for (unsigned n = 0; n < p->f.path->n; n++) {
        for (unsigned row = 0; row < p->k; row++)
            p->b[row][n] = random_number(k->b, false);
        for (unsigned v = 0; v < 6; v++)
            p->scale_b[n][v] = k->scales ? random_scale(k) / 4 : 1;
        for (unsigned m = 0; m < p->f.path->m; m++)
            p->d[m][n] = 2 * ((double)random_below(50) - 25);
    }
}

/* --- layouts in memory --- */

/* tf32 that is M or N major: units of 128 bytes of which 32 stay adjacent. */
static unsigned place_tf32(unsigned line, unsigned k)
{
    unsigned at = line % 4 * 4 + line / 4 % 8 * 16 + line / 32 * 4096 + k % 4 * 128 + k / 4 * 512;

    return at ^ (at >> 7 & 3) << 5;
}

static struct layout layout_of(unsigned swizzle, bool mn_major)
{
    static const unsigned widths[] = { 16, 128, 64, 32 };

    if (swizzle)
        return (struct layout){ swizzle, 8192, 8 * widths[swizzle], 0, 0 };
    return mn_major ? (struct layout){ 0, 2048, 128, 0, 0 } : (struct layout){ 0, 128, 512, 0, 0 };
}

static uint64_t describe(const struct problem *p, bool mn_major, unsigned at)
{
    struct layout x = layout_of(p->swizzle, mn_major);

    if (mn_major && p->f.kind->bits == 32)
        return (UINT64_C(4096) >> 4 << 16) | (UINT64_C(512) >> 4 << 32) | at >> 4 | UINT64_C(1) << 61 |
        UINT64_C(1) << 46;
    if (has_k96(p->f.kind)) {
        x.leading = at + (at ? NEXT_B : NEXT_A);
        return descriptor(&x, at + p->start) | UINT64_C(1) << 46 | UINT64_C(1) << 52;
    }
    return descriptor(&x, at) | UINT64_C(1) << 46;
}

static unsigned place_k96(const struct problem *p, bool is_b, unsigned line, unsigned byte)
{
    struct layout x = layout_of(p->swizzle, false);
    unsigned at = p->start + byte;

    return at < 128 ? place(&x, false, 8, line, at) : (is_b ? NEXT_B : NEXT_A) + place(&x, false, 8, line, at - 128);
}

static void put_number(struct problem *p, unsigned char *to, bool mn_major, int type, unsigned line, unsigned k,
                       double v)
{
    struct layout x = layout_of(p->swizzle, mn_major);
    unsigned packed = p->f.kind->bits == 8 && type != INT ? type == E2M1 ? 4 : type == E3M2 || type == E2M3 ? 6 : 8
        : p->f.kind->bits;
    uint32_t code = code_of(type, v);

    if (mn_major && packed == 32) {
        memcpy(to + place_tf32(line, k), &code, 4);
    } else if (packed >= 8) {
        put_element(to, &x, mn_major, p->f.kind->bits, line, k, code);
    } else { /* bit by bit; 16 elements in 16 bytes, or all of them adjacent */
        unsigned element = mn_major ? line : k, first = p->f.kind->bits == 4 ? k * 4 / 8 / 16 * 32 : element / 16 * 16;

        for (unsigned b = 0; b < packed; b++) {
            unsigned bit = (element - first) * packed + b;
            unsigned at = has_k96(p->f.kind)
                              ? place_k96(p, to != p->image[0] && to != p->image[1], line, first / 2 + bit / 8)
                          : p->f.kind->bits == 4 ? place(&x, false, 8, line, first / 2 + bit / 8)
                          : mn_major             ? place(&x, true, 8, first + bit / 8, k)
                                                 : place(&x, false, 8, line, first + bit / 8);

            to[at] = (unsigned char)((to[at] & ~(1u << bit % 8)) | (code >> b & 1) << bit % 8);
        }
    }
}

static unsigned lane_of(const struct problem *p, unsigned row)
{
    return p->half ? p->base + row / 16 * 32 + row % 16 : row;
}

static uint32_t *cell_of_d(struct problem *p, unsigned m, unsigned n)
{
    unsigned parts = p->f.path->n / p->columns;

    return &p->cells[m / p->rows][lane_of(p, m % p->rows) + n / p->columns * (LANES / parts)][n % p->columns];
}

static void put_a_in_tmem(struct problem *p)
{
    unsigned bits = p->f.kind->bits;

    for (unsigned m = 0; m < p->f.path->m; m++)
        for (unsigned at = 0; at < p->stored; at++) {
            uint32_t *to = &p->cells[m / p->rows][lane_of(p, m % p->rows)][A_COLUMN + at * bits / 32],
                shift = at * bits % 32;
            uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;

            *to = (*to & ~(mask << shift)) |
                (container_of(p->f.kind, p->f.kind->a, p->a[m][column_of(p, m, at)]) & mask) << shift;
        }
}

static void put_metadata(struct problem *p)
{
    unsigned bits = p->f.kind->bits, chunks = p->stored / (chunk_of(p->f.kind) / 2);

    for (unsigned m = 0; m < p->f.path->m; m++)
        for (unsigned c = 0; c < chunks; c++) {
            unsigned row = m % p->rows, lane = lane_of(p, row), column = META_COLUMN + c / 8, bit = c % 8 * 4;

            if (bits >= 16) { /* rows m and m + 8 share lanes m and m + 8 */
                lane = lane_of(p, row / 16 * 16 + row % 8 + c / 4 * 8);
                column = META_COLUMN + 1; /* the selector is 1 */
                bit = row / 8 % 2 * 16 + c % 4 * 4;
            }
            p->cells[m / p->rows][lane][column] = (p->cells[m / p->rows][lane][column] & ~(15u << bit)) |
                (uint32_t)p->pair[m][c] << bit;
        }
}

/* The code of a scale that has one. */
static uint32_t code_of_scale(const struct kind *k, double x)
{
    int bias = k->scale == SCALE_E5 ? 15 : 7, exponent;

    if (isnan(x))
        return 0xff;
    if (k->scale == SCALE_E8)
        return (uint32_t)(ilogb(x) + 127);
    exponent = x == 0 || ilogb(x) < 1 - bias ? 1 - bias : ilogb(x);
    return (uint32_t)(8 * ldexp(x, -exponent)) + ((uint32_t)(exponent + bias - 1) << 3);
}

static void put_scale(struct problem *p, unsigned cta, unsigned lane, unsigned column, unsigned id, const double *scale)
{
    for (unsigned v = 0; v < p->f.kind->scales; v++) {
        uint32_t code = code_of_scale(p->f.kind, scale[v]), shift = 8 * ((id + v) % 4);
        unsigned word = column + (id + v) / 4 * 4; /* after those of 128 rows */

        for (unsigned l = lane % 32; l < LANES; l += 32)
            if (lane < 32 || l / 64 == lane / 64)
                p->cells[cta][l][word] = (p->cells[cta][l][word] & ~(255u << shift)) | code << shift;
    }
}

static unsigned scale_id(const struct problem *p)
{
    static const unsigned ids[] = { 0, 3, 2, 3, 0, 0, 2 };

    return ids[p->f.kind->scales];
}

static void put_scales(struct problem *p)
{
    unsigned half = p->columns;

    for (unsigned m = 0; m < p->f.path->m; m++)
        put_scale(p, m / p->rows, m % p->rows % 32, SCALE_A_COLUMN + m % p->rows / 32, scale_id(p), p->scale_a[m]);
    for (unsigned n = 0; n < p->f.path->n; n++)
        for (unsigned cta = 0; cta < p->f.path->m / p->rows; cta++)
            if (half == p->f.path->n)
                put_scale(p, cta, n % 32, SCALE_B_COLUMN + n / 32, 0, p->scale_b[n]);
            else /* the first half in the upper lanes */
                for (unsigned l = 0; l < 64; l += 32)
                    for (unsigned v = 0; v < p->f.kind->scales; v++) {
                        uint32_t *to = &p->cells[cta][n / half * 64 + l + n % half % 32][SCALE_B_COLUMN +
                                n % half / 32];
                        uint32_t code = code_of_scale(p->f.kind, p->scale_b[n][v]);

                        *to = (*to & ~(255u << 8 * v)) | code << 8 * v;
                    }
}

static uint32_t code_of_d(const struct problem *p, double d)
{
    float x = (float)d;
    uint32_t bits;

    if (p->f.kind->a < 0) /* integers */
        return (uint32_t)(int32_t)d;
    if (isnan(d))
        return 0x7fffffff;
    if (!p->f.kind->scales && p->f.kind->result == 0)
        return d ? code_of(F16_, d) : 0;
    memcpy(&bits, &x, sizeof bits);
    return d ? bits : 0;
}

static void put_d(struct problem *p)
{
    for (unsigned m = 0; m < p->f.path->m; m++)
        for (unsigned n = 0; n < p->f.path->n; n++)
            *cell_of_d(p, m, n) = code_of_d(p, p->d[m][n]);
}

static void fill_random(void *p, size_t size)
{
    for (size_t k = 0; k < size; k++)
        ((unsigned char *)p)[k] = (unsigned char)random_below(256);
}

static void lay_out(struct problem *p)
{
    unsigned ctas = p->f.path->m / p->rows, n = p->f.path->n / ctas;

    fill_random(p->image, sizeof p->image);
    fill_random(p->cells, sizeof p->cells);
    for (unsigned m = 0; m < p->f.path->m; m++)
        for (unsigned at = 0; at < p->stored; at++)
            put_number(p, p->image[m / p->rows], p->mn_major_a, p->f.kind->a, m % p->rows, at,
                       p->a[m][column_of(p, m, at)]);
    for (unsigned column = 0; column < p->f.path->n; column++)
        for (unsigned k = 0; k < p->k; k++)
            put_number(p, p->image[column / n] + B_AT, p->mn_major_b, p->f.kind->b, column % n, k, p->b[k][column]);
    put_a_in_tmem(p);
    if (p->f.sparse)
        put_metadata(p);
    if (p->f.kind->scales)
        put_scales(p);
    put_d(p);
}

static bool is_disabled(struct problem *p, unsigned m, unsigned n)
{
    unsigned lane = (unsigned)(cell_of_d(p, m, n) - p->cells[m / p->rows][0]) / COLUMNS;

    return disables_lanes(&p->f) && disabled_lanes[lane / 32] >> lane % 32 & 1;
}

static void multiply(struct problem *p)
{
    double sign = p->negate_a != p->negate_b ? -1 : 1;
    unsigned block = p->f.kind->scales ? p->k / p->f.kind->scales : p->k;

    for (unsigned m = 0; m < p->f.path->m; m++)
        for (unsigned n = 0; n < p->f.path->n; n++) {
            unsigned row = shifts_a(&p->f) && (m + 1) % p->rows ? m + 1 : m;
            double sum = 0;

            for (unsigned k = 0; k < p->k && !(masks_columns(&p->f) && n % p->columns % 7 >= 4); k++)
                sum += p->a[row][k] * p->b[k][n] * p->scale_a[m][k / block] * p->scale_b[n][k / block];
            if (!is_disabled(p, m, n))
                p->d[m][n] = (p->on ? p->d[m][n] / (scales_d(&p->f) ? 2 : 1) : 0) + sign * sum;
        }
}

static uint32_t instruction_descriptor(const struct problem *p)
{
    const struct kind *k = p->f.kind;
    static const uint32_t scale_types[] = { [SCALE_E8] = 1, [SCALE_E4] = 0, [SCALE_E5] = 2 };
    uint32_t d = (uint32_t)p->f.sparse << 2 | k->code_a << 7 | k->code_b << 10 | (uint32_t)p->negate_a << 13 |
        (uint32_t)p->negate_b << 14 |
                 (uint32_t)p->mn_major_a << 15 | (uint32_t)p->mn_major_b << 16 | p->f.path->n >> 3 << 17;

    if (k->scales)
        return d | (uint32_t)has_k96(k) << 31 | scale_types[k->scale] << 23 | p->f.path->m >> 7 << 27 |
               scale_id(p) << 29;
    return d | k->result << 4 | p->f.path->m >> 4 << 24 | (p->f.sparse && k->bits >= 16 ? 1 : 0);
}

static void choose_options(struct problem *p, const struct form *f, unsigned round)
{
    *p = (struct problem){ .f = *f, .on = round != 1 };
    p->k = 256 / f->kind->bits * (f->sparse ? 2 : 1);
    p->stored = 256 / f->kind->bits;
    p->rows = f->path->pair ? f->path->m / 2 : f->path->m;
    p->columns = f->path->ws ? f->path->n * f->path->m / LANES : f->path->pair && f->path->m == 128 &&
        !f->sparse ? f->path->n / 2 : f->path->n;
    p->half = p->rows == 64 && p->columns == f->path->n;
    p->base = p->half ? round % 2 * 16 : 0;
    if (round && f->kind->bits != 4)
        p->swizzle = f->sparse ? round % 2 : round % 4;
    if (round == 3 && f->kind->bits > 4 && f->kind->a != TI16) { /* N-major bytes need multiples of 16 */
        p->mn_major_a = f->kind->bits >= 16 || f->path->m >= 64;
        p->mn_major_b = f->kind->bits >= 16 || f->path->ws;
        p->swizzle = 0;
    }
    if (has_k96(f->kind)) {
        static const unsigned starts[] = { 0, 96, 112, 80 };

        p->k = p->stored = 96;
        p->swizzle = 1;
        p->start = starts[round];
    }
    if (f->kind->a != INT) {
        p->negate_a = round == 1 || round == 2;
        p->negate_b = round == 2;
    }
}

/* Lays out the problem, and executes it with more bits in the instruction descriptor. */
static ptxiResult run_problem(unsigned number, struct problem *p, uint32_t more, uint32_t (*got)[LANES][COLUMNS])
{
    uint64_t da, db;
    uint32_t idesc, base, on;
    void *params[] = { &image, &cells, &da, &db, &idesc, &base, &on };
    char name[16];

    ptxiResult r;

    lay_out(p);
    da = describe(p, p->mn_major_a, 0);
    db = describe(p, p->mn_major_b, B_AT);
    idesc = instruction_descriptor(p) | more;
    base = p->base << 16;
    on = p->on;
    ok(ptxiMemcpyHtoD(image, p->image, sizeof p->image));
    ok(ptxiMemcpyHtoD(cells, p->cells, sizeof p->cells));
    snprintf(name, sizeof name, "k%u", number);
    r = launch_grid(name, p->f.path->pair ? 2 : 1, THREADS, params);
    if (r == PTXI_SUCCESS)
        ok(ptxiMemcpyDtoH(got, cells, sizeof p->cells));
    return r;
}

static void check_form(unsigned number, const struct form *f, unsigned round)
{
    static struct problem p;
    static uint32_t got[2][LANES][COLUMNS];

    choose_options(&p, f, round);
    make_numbers(&p);
    ok(run_problem(number, &p, 0, got));
    multiply(&p);
    put_d(&p);
    for (unsigned cta = 0; cta < (f->path->pair ? 2 : 1); cta++)
        for (unsigned l = 0; l < LANES; l++)
            for (unsigned c = 0; c < COLUMNS; c++)
                ck_bits32_at(got[cta][l][c], p.cells[cta][l][c],
                             "%s %d, m %u%s%s%s%s, round %u: block %u, lane %u, column %u", f->kind->name,
                             (int)(f->kind - kinds),
                             f->path->m, f->path->ws ? ".ws" : "", f->path->pair ? ", pair" : "",
                             f->sparse ? ", sparse" : "", f->a_in_tmem ? ", a in tensor memory" : "",
                             round, cta, l, c);
}

static void set_up(void)
{
    load_kernels("8.8", "sm_100a", print_kernels);
    ok(ptxiMemAlloc(&image, 2 * IMAGE));
    ok(ptxiMemAlloc(&cells, 2 * LANES * COLUMNS * 4));
}

static void set_up_k96(void)
{
    load_kernels("8.8", "sm_103a", print_k96_kernels);
    ok(ptxiMemAlloc(&image, 2 * IMAGE));
    ok(ptxiMemAlloc(&cells, 2 * LANES * COLUMNS * 4));
}

static void set_up_107(void)
{
    load_kernels("9.4", "sm_107a", print_107_kernels);
    ok(ptxiMemAlloc(&image, 2 * IMAGE));
    ok(ptxiMemAlloc(&cells, 2 * LANES * COLUMNS * 4));
}

START_TEST(products_are_exact)
{
    struct form f;

    for (unsigned n = (unsigned)_i; n < FORMS; n += KINDS)
        for (unsigned round = 0; round < 4 && form_of(n, &f); round++)
            check_form(n, &f, round);
}
END_TEST

/* A form of a kind that is dense and has its matrices in shared memory. */
static unsigned find_form(const struct kind *k, struct form *f)
{
    for (unsigned n = 0; n < FORMS; n++)
        if (form_of(n, f) && f->kind == k && !f->sparse && !f->a_in_tmem && !f->path->pair && !f->path->ws)
            return n;
    ck_abort_msg("no form of %s", k->name);
}

/* All codes of ue5m3. */
START_TEST(scales_have_every_value)
{
    static struct problem p;
    static uint32_t got[2][LANES][COLUMNS];
    struct form f;
    unsigned n = find_form(&kinds[KINDS - 1], &f);

    for (unsigned first = 0; first < 256; first += LANES) {
        choose_options(&p, &f, 1);
        make_numbers(&p);
        p.negate_a = false;
        for (unsigned m = 0; m < f.path->m; m++) {
            unsigned code = first + m;
            double scale = code == 255 ? NAN : code < 8 ? ldexp(code, -17) : ldexp(8 + code % 8, (int)code / 8 - 18);

            for (unsigned k = 0; k < p.stored; k++)
                p.a[m][k] = k < p.k / f.kind->scales; /* one block */
            for (unsigned v = 0; v < f.kind->scales; v++)
                p.scale_a[m][v] = scale;
        }
        for (unsigned column = 0; column < f.path->n; column++)
            for (unsigned v = 0; v < f.kind->scales; v++)
                p.scale_b[column][v] = 1;
        ok(run_problem(n, &p, 0, got));
        multiply(&p);
        put_d(&p);
        for (unsigned m = 0; m < f.path->m; m++)
            for (unsigned column = 0; column < f.path->n; column++)
                ck_bits32_at(got[0][m][column], p.cells[0][m][column], "scale 0x%x, column %u", first + m, column);
    }
}
END_TEST

/* Fields of the instruction descriptor that only sm_107 has, and that are not modelled, are errors. */
START_TEST(unknown_descriptors_are_reported)
{
    static const struct { const char *kind; uint32_t bits; } bad[] = {
        { "f16", 1u << 29 }, { "f8f6f4", 1u << 29 }, { "mxf8f6f4.block_scale.scale_vec::1X", 1u << 26 },
        { "mxf8f6f4.block_scale.scale_vec::1X", 1u << 31 }, { "mxf4.block_scale.scale_vec::2X", 1u << 26 },
        { "mxf4.block_scale.scale_vec::2X", 1u << 3 },
        { "mxf4nvf4.block_scale.scale_vec::4X", 2u << 23 }, /* ue5m3 */
    };
    static struct problem p;
    static uint32_t got[2][LANES][COLUMNS];
    unsigned k = 0, n;
    struct form f;

    while (strcmp(kinds[k].name, bad[_i].kind))
        k++;
    n = find_form(&kinds[k], &f);
    choose_options(&p, &f, 0);
    make_numbers(&p);
    ok(run_problem(n, &p, 0, got));
    ck_result(run_problem(n, &p, bad[_i].bits, got), PTXI_ERROR_LAUNCH_FAILED);
}
END_TEST

/* True if row `row` of the source is copied to this lane. */
static bool is_destination(unsigned shape, unsigned row, unsigned lane)
{
    switch (shape) {
    case 0: case 2: return lane == row;
    case 1: return lane == 31 + 32 * row; /* the last lane of each warp, as the address says */
    case 3: return lane % 64 == row;
    case 4: return lane / 64 * 32 + lane % 32 == row;
    default: return lane % 32 == row;
    }
}

static unsigned char unpack_byte(const unsigned char *unit, unsigned packing, unsigned k)
{
    unsigned bits = packing == 1 ? 6 : 4, code = 0;

    if (!packing)
        return unit[k];
    for (unsigned b = 0; b < bits; b++)
        code |= (unsigned)(unit[(k * bits + b) / 8] >> (k * bits + b) % 8 & 1) << b;
    return (unsigned char)(bits == 4 ? code << 2 : code);
}

static void run_other(unsigned number, unsigned ctas, struct problem *p, uint32_t (*got)[LANES][COLUMNS],
                      uint32_t address)
{
    uint64_t da = describe(p, false, 0), db = 0;
    uint32_t none = 0;
    void *params[] = { &image, &cells, &da, &db, &none, &address, &none };
    char name[16];

    ok(ptxiMemcpyHtoD(image, p->image, sizeof p->image));
    ok(ptxiMemcpyHtoD(cells, p->cells, sizeof p->cells));
    snprintf(name, sizeof name, "k%u", number);
    ok(launch_grid(name, ctas, THREADS, params));
    ok(ptxiMemcpyDtoH(got, cells, sizeof p->cells));
}

static struct problem other;
static uint32_t seen[2][LANES][COLUMNS];

START_TEST(copies_write_the_right_lanes)
{
    unsigned shape = (unsigned)_i % COPIES, packing = (unsigned)_i / COPIES % PACKINGS,
        ctas = (unsigned)_i / COPIES / PACKINGS + 1;
    const struct copy *c = &copies[shape];
    struct layout x;

    other = (struct problem){ .f = { .kind = &kinds[4] }, .swizzle = (unsigned)_i % 3 ? 1 : 0 };
    x = layout_of(other.swizzle, false);
    fill_random(other.image, sizeof other.image);
    fill_random(other.cells, sizeof other.cells);
    run_other(FORMS + (unsigned)_i, ctas, &other, seen, (shape == 1 ? 31 << 16 : 0) + 8);
    for (unsigned cta = 0; cta < ctas; cta++)
        for (unsigned lane = 0; lane < LANES; lane++)
            for (unsigned row = 0; row < c->rows; row++)
                for (unsigned b = 0; b < c->bytes && is_destination(shape, row, lane); b++)
                    ((unsigned char *)&other.cells[cta][lane][8])[b] =
                        unpack_byte(other.image[cta] + place(&x, false, 8, row, b / 16 * 16), packing, b % 16);
    for (unsigned k = 0; k < ctas * LANES * COLUMNS; k++)
        ck_bits32_at(seen[k / LANES / COLUMNS][k / COLUMNS % LANES][k % COLUMNS],
                     other.cells[k / LANES / COLUMNS][k / COLUMNS % LANES][k % COLUMNS],
                     "%s%s, lane %u, column %u", c->shape, packings[packing], k / COLUMNS % LANES, k % COLUMNS);
}
END_TEST

START_TEST(shift_moves_the_rows_of_a_warp)
{
    other = (struct problem){ .f = { .kind = &kinds[4] } };
    fill_random(other.cells, sizeof other.cells);
    run_other(FORMS + COPIES * PACKINGS * 2, 1, &other, seen, (32 << 16) + 16);
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned c = 0; c < COLUMNS; c++)
            ck_bits32_at(seen[0][lane][c],
                         other.cells[0][lane / 32 == 1 && lane < 63 && c / 8 == 2 ? lane + 1 : lane][c],
                         "lane %u, column %u", lane, c);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tcgen05");
    TCase *t = tcase_create("products");

    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_loop_test(t, products_are_exact, 0, KINDS - K96_KINDS - SM_107_KINDS);
    tcase_add_loop_test(t, unknown_descriptors_are_reported, 0, 7);
    tcase_add_loop_test(t, copies_write_the_right_lanes, 0, COPIES * PACKINGS * 2);
    tcase_add_test(t, shift_moves_the_rows_of_a_warp);
    suite_add_tcase(s, t);
    t = tcase_create("K = 96");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, set_up_k96, close_context);
    tcase_add_loop_test(t, products_are_exact, KINDS - K96_KINDS - SM_107_KINDS, KINDS - SM_107_KINDS);
    suite_add_tcase(s, t);
    t = tcase_create("sm_107");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, set_up_107, close_context);
    tcase_add_loop_test(t, products_are_exact, KINDS - SM_107_KINDS, KINDS);
    tcase_add_test(t, scales_have_every_value);
    suite_add_tcase(s, t);
    return run_suite(s);
}
