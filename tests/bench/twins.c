/* Single-threaded C versions of the benchmark kernels. TWINS is the name of the table defined by this build. Fused
 * multiply-adds are explicit where the kernels use them, so that results are bit-identical. */
#include "twins.h"

#include <math.h>
#include <string.h>

static void vecadd(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

static void saxpy(float alpha, const float *restrict x, float *restrict y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = fmaf(alpha, x[i], y[i]);
}

static void sgemm(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
    memset(c, 0, (size_t)n * n * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] = fmaf(a[i * n + k], b[k * n + j], c[i * n + j]);
}

static int escape(float cx, float cy, int limit)
{
    float zx = 0.0f, zy = 0.0f;
    int it;

    for (it = 0; it < limit; it++) {
        float y2 = zy * zy;
        if (fmaf(zx, zx, y2) > 4.0f)
            break;
        float t = fmaf(zx, zx, -y2) + cx;
        zy = fmaf(zx + zx, zy, cy);
        zx = t;
    }
    return it;
}

static void mandel(int *out, int width, int height, float x0, float y0, float step, int limit)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            out[y * width + x] = escape(fmaf((float)x, step, x0), fmaf((float)y, step, y0), limit);
}

static void nbody(const float *restrict body, float *restrict accel, int n, float eps2)
{
    for (int i = 0; i < n; i++) {
        const float *me = body + 4 * i;
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (int j = 0; j < n; j++) {
            const float *b = body + 4 * j;
            float dx = b[0] - me[0], dy = b[1] - me[1], dz = b[2] - me[2];
            float inv = 1.0f / sqrtf(fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, eps2))));
            float s = b[3] * inv * inv * inv;
            ax = fmaf(dx, s, ax);
            ay = fmaf(dy, s, ay);
            az = fmaf(dz, s, az);
        }
        accel[4 * i] = ax;
        accel[4 * i + 1] = ay;
        accel[4 * i + 2] = az;
        accel[4 * i + 3] = 0.0f;
    }
}

/* Computes the partial sum of each block of a grid-stride loop. Reads the input once, in order. */
static void reduce(const float *restrict in, float *restrict out, int n, int blocks, int block)
{
    memset(out, 0, (size_t)blocks * sizeof *out);
    for (int i = 0, b = 0; i < n; i += block) {
        int end = i + block < n ? i + block : n;
        float sum = 0.0f;
        for (int k = i; k < end; k++)
            sum += in[k];
        out[b] += sum;
        b = b + 1 < blocks ? b + 1 : 0;
    }
}

static void hist(const uint32_t *restrict words, uint32_t *restrict bins, int n)
{
    memset(bins, 0, 256 * sizeof *bins);
    for (int i = 0; i < n; i++) {
        uint32_t w = words[i];
        bins[w & 255]++;
        bins[w >> 8 & 255]++;
        bins[w >> 16 & 255]++;
        bins[w >> 24]++;
    }
}

static uint32_t rotl(uint32_t v, int s)
{
    return v << s | v >> (32 - s);
}

static uint32_t hash_one(uint32_t h, int rounds)
{
    uint32_t k = h ^ 0x9e3779b9u;

    for (int r = 0; r < rounds; r++) {
        k *= 0xcc9e2d51u;
        k = rotl(k, 15);
        k *= 0x1b873593u;
        h ^= k;
        h = rotl(h, 13);
        h = h * 5 + 0xe6546b64u;
        k += h ^ (h >> 16);
        h *= 0x85ebca6bu;
        h ^= h >> 13;
        k ^= k << 5;
        k ^= h >> 7;
        h += k ^ (uint32_t)r;
    }
    return h;
}

static void hash(const uint32_t *restrict in, uint32_t *restrict out, int n, int rounds)
{
    for (int i = 0; i < n; i++)
        out[i] = hash_one(in[i], rounds);
}

static void bitonic_run(int32_t *s)
{
    for (int size = 2; size <= BITONIC_RUN; size <<= 1)
        for (int stride = size >> 1; stride > 0; stride >>= 1)
            for (int t = 0; t < BITONIC_RUN / 2; t++) {
                int up = (t & (size >> 1)) == 0, pos = 2 * t - (t & (stride - 1));
                int32_t a = s[pos], b = s[pos + stride];
                if ((a > b) == up) {
                    s[pos] = b;
                    s[pos + stride] = a;
                }
            }
}

static void bitonic(int32_t *data, int runs)
{
    for (int r = 0; r < runs; r++)
        bitonic_run(data + (size_t)r * BITONIC_RUN);
}

static void stencil(const double *restrict in, double *restrict out, int n, double centre, double side)
{
    memcpy(out, in, (size_t)n * sizeof *out);
    for (int y = 1; y < n - 1; y++) {
        const double *row = in + (size_t)y * n;
        double *to = out + (size_t)y * n;
        to[0] = row[0];
        for (int x = 1; x < n - 1; x++)
            to[x] = fma(side, (row[x - n] + row[x + n]) + (row[x - 1] + row[x + 1]), centre * row[x]);
        to[n - 1] = row[n - 1];
    }
    memcpy(out + (size_t)(n - 1) * n, in + (size_t)(n - 1) * n, (size_t)n * sizeof *out);
}

/* One pass of a least-significant-digit-first radix sort, eight bits. */
static void radix_pass(const uint32_t *from, uint32_t *to, int shift)
{
    unsigned place[256] = {0}, sum = 0;

    for (int i = 0; i < RADIX_RUN; i++)
        place[from[i] >> shift & 255]++;
    for (int d = 0; d < 256; d++) {
        unsigned c = place[d];
        place[d] = sum;
        sum += c;
    }
    for (int i = 0; i < RADIX_RUN; i++)
        to[place[from[i] >> shift & 255]++] = from[i];
}

static void radix(uint32_t *keys, int runs)
{
    uint32_t other[RADIX_RUN];

    for (int r = 0; r < runs; r++) {
        uint32_t *run = keys + (size_t)r * RADIX_RUN;
        radix_pass(run, other, 0);
        radix_pass(other, run, 8);
        radix_pass(run, other, 16);
        radix_pass(other, run, 24);
    }
}

static void layernorm(const float *restrict in, const float *restrict gain, const float *restrict shift,
                      float *restrict out, int rows, int width, float eps)
{
    for (int r = 0; r < rows; r++) {
        const float *row = in + (size_t)r * width;
        float *to = out + (size_t)r * width;
        float sum = 0.0f, squares = 0.0f;
        for (int i = 0; i < width; i++)
            sum += row[i];
        float mean = sum / (float)width;
        for (int i = 0; i < width; i++)
            squares += (row[i] - mean) * (row[i] - mean);
        float scale = 1.0f / sqrtf(squares / (float)width + eps);
        for (int i = 0; i < width; i++)
            to[i] = (row[i] - mean) * scale * gain[i] + shift[i];
    }
}

static void spmv(const int *restrict start, const int *restrict column, const float *restrict value,
                 const float *restrict x, float *restrict y, int rows)
{
    for (int row = 0; row < rows; row++) {
        float sum = 0.0f;
        for (int k = start[row]; k < start[row + 1]; k++)
            sum = fmaf(value[k], x[column[k]], sum);
        y[row] = sum;
    }
}

static void search(const char *text, int length, const char *pattern, int plen, uint32_t *count)
{
    count[0] = 0;
    count[1] = UINT32_MAX;
    for (int i = 0; i + plen <= length; i++) {
        int k = 0;
        while (k < plen && text[i + k] == pattern[k])
            k++;
        if (k == plen && count[0]++ == 0)
            count[1] = (uint32_t)i;
    }
}

/* Texture position in units of 1/256 texel. */
static inline int texture_place(float x)
{
    return (int)floorf(x * 256 + 0.5f) - 128;
}

static inline int clamped(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static void rotate(const float *restrict in, float *restrict out, int n, float cosine, float sine)
{
    float half = 0.5f * (float)n;

    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            float dx = (float)x - half, dy = (float)y - half;
            int u = texture_place(fmaf(cosine, dx, fmaf(-sine, dy, half))),
                v = texture_place(fmaf(sine, dx, fmaf(cosine, dy, half)));
            int x0 = clamped(u >> 8, n), x1 = clamped((u >> 8) + 1, n), y0 = clamped(v >> 8, n),
                y1 = clamped((v >> 8) + 1, n);
            float a = (float)(u & 255) / 256, b = (float)(v & 255) / 256;
            float near = in[y0 * n + x0] * (1 - a) + in[y0 * n + x1] * a,
                  far = in[y1 * n + x0] * (1 - a) + in[y1 * n + x1] * a;
            out[y * n + x] = near * (1 - b) + far * b;
        }
}

#include "twins_untuned_inl.h"

const struct twins TWINS = {
    .vecadd = vecadd,
    .saxpy = saxpy,
    .sgemm = sgemm,
    .mandel = mandel,
    .nbody = nbody,
    .reduce = reduce,
    .hist = hist,
    .hash = hash,
    .bitonic = bitonic,
    .stencil = stencil,
    .radix = radix,
    .layernorm = layernorm,
    .spmv = spmv,
    .search = search,
    .rotate = rotate,
    .heat = heat,
    .compact = compact,
    .conv5 = conv5,
    .kmeans = kmeans,
    .fft256 = fft256,
    .probe = probe,
    .softmax = softmax,
    .transpose = transpose,
    .walsh = walsh,
    .options = options,
    .scan = scan,
};
