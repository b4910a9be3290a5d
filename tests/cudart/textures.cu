// Textures of linear memory, pitched memory and arrays: addressing modes, filters, normalised reads, borders.
#include "show.h"

__global__ void fetch1d(cudaTextureObject_t t, float *out, const float *x)
{
    out[threadIdx.x] = tex1D<float>(t, x[threadIdx.x]);
}

__global__ void fetch1d_linear(cudaTextureObject_t t, int *out)
{
    out[threadIdx.x] = tex1Dfetch<int>(t, (int)threadIdx.x * 3 - 2);
}

__global__ void fetch2d(cudaTextureObject_t t, float *out, const float2 *at)
{
    out[threadIdx.x] = tex2D<float>(t, at[threadIdx.x].x, at[threadIdx.x].y);
}

__global__ void fetch_pixels(cudaTextureObject_t t, float4 *out)
{
    out[threadIdx.x] = tex2D<float4>(t, threadIdx.x + 0.5f, 0.5f);
}

__global__ void gather(cudaTextureObject_t t, float4 *out)
{
    *out = tex2Dgather<float4>(t, 1.0f, 1.0f, 0);
}

static float *out;

static void try_modes(cudaArray_t array, cudaTextureAddressMode mode, cudaTextureFilterMode filter, int normalised)
{
    const float coordinates[8] = { -1.25f, -0.25f, 0.25f, 0.5f, 1.0f, 1.75f, 3.75f, 5.125f };
    float host[8], scaled[8], *x;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;

    for (int i = 0; i < 8; i++)
        scaled[i] = normalised ? coordinates[i] / 4 : coordinates[i];
    MUST(cudaMalloc(&x, sizeof scaled));
    MUST(cudaMemcpy(x, scaled, sizeof scaled, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    d.addressMode[0] = mode;
    d.filterMode = filter;
    d.normalizedCoords = normalised;
    d.borderColor[0] = 99;
    MUST(cudaCreateTextureObject(&t, &r, &d, nullptr));
    fetch1d<<<1, 8>>>(t, out, x);
    fetch(host, out, 8);
    printf("mode %d filter %d normalised %d", mode, filter, normalised);
    show_floats("", host, 8);
    MUST(cudaDestroyTextureObject(t));
    MUST(cudaFree(x));
}

static void try_pitched()
{
    const float2 at[6] = { { 0.5f, 0.5f }, { 1.0f, 1.0f }, { 2.5f, 1.5f }, { 1.25f, 0.75f }, { -1, 0.5f }, { 9, 9 } };
    float host[6];
    float2 *coordinates;
    void *memory;
    size_t pitch;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    const float texels[2][3] = { { 1, 2, 3 }, { 10, 20, 30 } };

    MUST(cudaMallocPitch(&memory, &pitch, sizeof texels[0], 2));
    MUST(cudaMemcpy2D(memory, pitch, texels, sizeof texels[0], sizeof texels[0], 2, cudaMemcpyHostToDevice));
    MUST(cudaMalloc(&coordinates, sizeof at));
    MUST(cudaMemcpy(coordinates, at, sizeof at, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = 3;
    r.res.pitch2D.height = 2;
    r.res.pitch2D.pitchInBytes = pitch;
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    d.filterMode = cudaFilterModeLinear;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
    fetch2d<<<1, 6>>>(t, out, coordinates);
    fetch(host, out, 6);
    show_floats("pitched", host, 6);
    cudaResourceDesc back;
    cudaTextureDesc desc;
    SHOW(cudaGetTextureObjectResourceDesc(&back, t));
    printf("type %d width %zu height %zu\n", back.resType, back.res.pitch2D.width, back.res.pitch2D.height);
    SHOW(cudaGetTextureObjectTextureDesc(&desc, t));
    printf("mode %d filter %d\n", desc.addressMode[0], desc.filterMode);
    r.res.pitch2D.pitchInBytes = pitch + 4;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
    r.res.pitch2D.pitchInBytes = pitch;
    r.res.pitch2D.devPtr = (char *)memory + 4;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
}

static void try_linear()
{
    int host[8];
    int *memory;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    const int texels[12] = { 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

    MUST(cudaMalloc(&memory, sizeof texels));
    MUST(cudaMemcpy(memory, texels, sizeof texels, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = memory;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = sizeof texels;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
    fetch1d_linear<<<1, 8>>>(t, (int *)out);
    fetch(host, (int *)out, 8);
    show_ints("linear, out of range 0", host, 8);
    SHOW(cudaCreateTextureObject(&t, &r, nullptr, nullptr));
    SHOW(cudaCreateTextureObject(nullptr, &r, &d, nullptr));
    SHOW(cudaCreateTextureObject(&t, nullptr, &d, nullptr));
    d.filterMode = cudaFilterModeLinear;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
    cudaChannelFormatDesc formats[] = { cudaCreateChannelDesc<char>(), cudaCreateChannelDesc<int>(),
                                        cudaCreateChannelDesc<short2>(), cudaCreateChannelDesc<float4>() };
    for (const cudaChannelFormatDesc &f : formats) {
        size_t width = 0;
        SHOW(cudaDeviceGetTexture1DLinearMaxWidth(&width, &f, 0));
        printf("widest: %zu\n", width);
    }
}

// Bytes as fractions, colours in sRGB, and a gather of four texels.
static void try_pixels()
{
    const uchar4 texels[4] = { { 0, 51, 102, 255 }, { 128, 1, 2, 3 }, { 255, 254, 253, 252 }, { 9, 8, 7, 6 } };
    float4 host[2];
    cudaArray_t array;
    cudaChannelFormatDesc c = cudaCreateChannelDesc<uchar4>();
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;

    MUST(cudaMallocArray(&array, &c, 2, 2, cudaArrayTextureGather));
    MUST(cudaMemcpy2DToArray(array, 0, 0, texels, 8, 8, 2, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    d.readMode = cudaReadModeNormalizedFloat;
    for (d.sRGB = 0; d.sRGB < 2; d.sRGB++) {
        SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
        fetch_pixels<<<1, 2>>>(t, (float4 *)out);
        fetch(host, (float4 *)out, 2);
        show_floats("normalised", &host[0].x, 8);
    }
    d.sRGB = 0;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
    gather<<<1, 1>>>(t, (float4 *)out);
    fetch(host, (float4 *)out, 1);
    show_floats("gather", &host[0].x, 4);
    d.readMode = cudaReadModeElementType;
    d.filterMode = cudaFilterModeLinear;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
}

int main()
{
    const float texels[4] = { 1, 2, 4, 8 };
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    cudaArray_t array;

    MUST(cudaMalloc(&out, 4096));
    MUST(cudaMallocArray(&array, &c, 4));
    MUST(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 16, 1, cudaMemcpyHostToDevice));
    for (int filter = 0; filter < 2; filter++) {
        try_modes(array, cudaAddressModeClamp, (cudaTextureFilterMode)filter, 0);
        try_modes(array, cudaAddressModeBorder, (cudaTextureFilterMode)filter, 0);
        for (int mode = 0; mode < 4; mode++)
            try_modes(array, (cudaTextureAddressMode)mode, (cudaTextureFilterMode)filter, 1);
    }
    try_pitched();
    try_linear();
    try_pixels();
    return 0;
}
