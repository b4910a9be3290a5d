/* C versions of the benchmark kernels that the library is not tuned for. Part of twins.c. */
#include <stdlib.h>

static void heat(const float *restrict in, float *restrict out, int n, float centre, float side)
{
    size_t row = (size_t)n, layer = row * row;

    memcpy(out, in, layer * row * sizeof *out);
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++) {
            const float *from = in + (size_t)z * layer + (size_t)y * row;
            float *to = out + (from - in);

            for (int x = 1; x < n - 1; x++) {
                float sum = ((from[x - 1] + from[x + 1]) + (from[x - n] + from[x + n])) +
                            (from[x - (ptrdiff_t)layer] + from[x + layer]);
                to[x] = fmaf(side, sum, centre * from[x]);
            }
        }
}

static void compact(const uint32_t *restrict in, uint32_t *restrict out, uint32_t *count, int n, uint32_t limit)
{
    uint32_t kept = 0;

    for (int i = 0; i < n; i++)
        if (in[i] > limit)
            out[kept++] = in[i];
    *count = kept;
}

static void conv5(const float *restrict in, float *restrict out, int width, int height, const float *restrict mask)
{
    enum { BORDER = 2 };
    float *rows = malloc(5 * ((size_t)width + 2 * BORDER) * sizeof *rows);

    if (!rows)
        abort();
    for (int y = 0; y < height; y++) {
        size_t pitch = (size_t)width + 2 * BORDER;
        float *to = out + (size_t)y * (size_t)width;

        for (int r = 0; r < 5; r++) {
            int from = y + r - BORDER < 0 ? 0 : y + r - BORDER;
            const float *row = in + (size_t)(from < height ? from : height - 1) * (size_t)width;
            float *padded = rows + (size_t)r * pitch;

            memcpy(padded + BORDER, row, (size_t)width * sizeof *row);
            padded[0] = padded[1] = row[0];
            padded[width + 2] = padded[width + 3] = row[width - 1];
        }
        for (int x = 0; x < width; x++) {
            float sum = 0.0f;

            for (int r = 0; r < 5; r++)
                for (int c = 0; c < 5; c++)
                    sum = fmaf(mask[r * 5 + c], rows[(size_t)r * pitch + (size_t)(x + c)], sum);
            to[x] = sum;
        }
    }
    free(rows);
}

static void kmeans(const float *restrict point, const float *restrict centre, int *restrict nearest, int n)
{
    enum { BLOCK = 64 };
    float least[BLOCK];

    for (int first = 0; first < n; first += BLOCK) {
        int count = n - first < BLOCK ? n - first : BLOCK;

        for (int c = 0; c < KMEANS_CENTRES; c++)
            for (int i = 0; i < count; i++) {
                float distance = 0.0f;

                for (int d = 0; d < KMEANS_DIMENSIONS; d++) {
                    float off = point[(size_t)d * (size_t)n + (size_t)(first + i)] - centre[c * KMEANS_DIMENSIONS + d];
                    distance = fmaf(off, off, distance);
                }
                if (c == 0 || distance < least[i]) {
                    least[i] = distance;
                    nearest[first + i] = c;
                }
            }
    }
}

/* Numbers are pairs of a real and an imaginary part. */
static void fft256(const float *restrict in, const float *restrict root, float *restrict out, int runs)
{
    enum { HALF = FFT_POINTS / 2 };
    float data[2][2 * FFT_POINTS];

    for (int r = 0; r < runs; r++) {
        memcpy(data[0], in + (size_t)r * 2 * FFT_POINTS, sizeof data[0]);
        for (int s = 0; 1 << s < FFT_POINTS; s++) {
            const float *restrict from = data[s & 1];
            float *restrict to = data[~s & 1];
            int span = 1 << s;

            for (int t = 0; t < HALF; t += span)
                for (int k = 0; k < span; k++) {
                    const float *a = from + 2 * (t + k), *b = a + 2 * HALF, *w = root + 2 * k * (HALF / span);
                    float *at = to + 2 * (2 * t + k);
                    float re = fmaf(b[0], w[0], -(b[1] * w[1])), im = fmaf(b[0], w[1], b[1] * w[0]);

                    at[0] = a[0] + re;
                    at[1] = a[1] + im;
                    at[2 * span] = a[0] - re;
                    at[2 * span + 1] = a[1] - im;
                }
        }
        memcpy(out + (size_t)r * 2 * FFT_POINTS, data[0], sizeof data[0]);
    }
}

static void probe(const uint32_t *restrict table, uint32_t mask, const uint32_t *restrict key,
                  uint32_t *restrict value, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t at = PROBE_HASH(key[i]) & mask;

        while (table[2 * at] != key[i] && table[2 * at])
            at = (at + 1) & mask;
        value[i] = table[2 * at] == key[i] ? table[2 * at + 1] : UINT32_MAX;
    }
}

static void softmax(const float *restrict in, float *restrict out, int rows, int width)
{
    for (int r = 0; r < rows; r++) {
        const float *from = in + (size_t)r * (size_t)width;
        float *to = out + (size_t)r * (size_t)width, most = from[0], sum = 0.0f;

        for (int i = 1; i < width; i++)
            most = from[i] > most ? from[i] : most;
        for (int i = 0; i < width; i++)
            sum += to[i] = expf(from[i] - most);
        for (int i = 0; i < width; i++)
            to[i] *= 1.0f / sum;
    }
}

static void transpose(const float *restrict in, float *restrict out, int n)
{
    enum { TILE = 32 };

    for (int y0 = 0; y0 < n; y0 += TILE)
        for (int x0 = 0; x0 < n; x0 += TILE)
            for (int x = x0; x < x0 + TILE; x++)
                for (int y = y0; y < y0 + TILE; y++)
                    out[(size_t)x * (size_t)n + (size_t)y] = in[(size_t)y * (size_t)n + (size_t)x];
}

static void walsh(float *data, int runs)
{
    for (int r = 0; r < runs; r++) {
        float *s = data + (size_t)r * WALSH_RUN;

        for (int stride = 1; stride < WALSH_RUN; stride <<= 1)
            for (int first = 0; first < WALSH_RUN; first += 2 * stride)
                for (int k = first; k < first + stride; k++) {
                    float a = s[k], b = s[k + stride];

                    s[k] = a + b;
                    s[k + stride] = a - b;
                }
    }
}

static float normal(float d)
{
    float k = 1.0f / fmaf(0.2316419f, fabsf(d), 1.0f);
    float poly = k * fmaf(k, fmaf(k, fmaf(k, fmaf(k, 1.330274429f, -1.821255978f), 1.781477937f), -0.356563782f),
                          0.319381530f);
    float tail = 0.39894228f * expf(-0.5f * d * d) * poly;

    return d > 0 ? 1.0f - tail : tail;
}

static void options(const float *restrict price, const float *restrict strike, const float *restrict years,
                    float *restrict call, float *restrict put, int n, float rate, float volatility)
{
    for (int i = 0; i < n; i++) {
        float s = price[i], x = strike[i], t = years[i], root = sqrtf(t);
        float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root, n1 = normal(d1), n2 = normal(d2), later = x * expf(-rate * t);

        call[i] = s * n1 - later * n2;
        put[i] = later * (1.0f - n2) - s * (1.0f - n1);
    }
}

static void scan(const int32_t *restrict in, int32_t *restrict out, int runs)
{
    for (int r = 0; r < runs; r++) {
        int32_t sum = 0;

        for (size_t i = (size_t)r * SCAN_RUN; i < ((size_t)r + 1) * SCAN_RUN; i++)
            out[i] = sum += in[i];
    }
}
