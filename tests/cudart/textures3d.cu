// Textures of three dimensions, layers, cubes and mipmaps, and views of them.
#include "show.h"

__global__ void fetch3d(cudaTextureObject_t t, float *out)
{
    out[0] = tex3D<float>(t, 0.5f, 0.5f, 0.5f);
    out[1] = tex3D<float>(t, 1.5f, 2.5f, 1.5f);
    out[2] = tex3D<float>(t, 1.0f, 1.0f, 1.0f);
    out[3] = tex3D<float>(t, 0.75f, 1.25f, 0.5f);
}

__global__ void fetch_layers(cudaTextureObject_t t, float *out)
{
    out[0] = tex2DLayered<float>(t, 0.5f, 0.5f, 0);
    out[1] = tex2DLayered<float>(t, 1.5f, 2.5f, 1);
    out[2] = tex2DLayered<float>(t, 1.0f, 0.5f, 1);
    out[3] = tex2DLayered<float>(t, 0.5f, 0.5f, 7);
}

__global__ void fetch_cube(cudaTextureObject_t t, float *out)
{
    out[0] = texCubemap<float>(t, 1, 0.1f, 0.1f);
    out[1] = texCubemap<float>(t, -1, 0.1f, 0.1f);
    out[2] = texCubemap<float>(t, 0.1f, 1, 0.1f);
    out[3] = texCubemap<float>(t, 0.1f, -1, 0.1f);
    out[4] = texCubemap<float>(t, 0.1f, 0.1f, 1);
    out[5] = texCubemap<float>(t, 0.1f, 0.1f, -1);
    out[6] = texCubemap<float>(t, 0.1f, -0.7f, -1);
}

__global__ void fetch_levels(cudaTextureObject_t t, float *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = tex2DLod<float>(t, 0.5f, 0.5f, i);
    out[4] = tex2DLod<float>(t, 0.5f, 0.5f, 0.5f);
    out[5] = tex2DGrad<float>(t, 0.5f, 0.5f, make_float2(0.5f, 0), make_float2(0, 0.5f));
}

static float *out;

static void fill(cudaArray_t array, cudaExtent extent, float first)
{
    float texels[256];
    cudaMemcpy3DParms copy = {};

    for (int i = 0; i < 256; i++)
        texels[i] = first + i;
    copy.srcPtr = make_cudaPitchedPtr(texels, extent.width * 4, extent.width * 4, extent.height);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    SHOW(cudaMemcpy3D(&copy));
}

static cudaTextureObject_t make_texture(cudaArray_t array, const cudaResourceViewDesc *view = nullptr,
                                        int normalized = 0)
{
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;

    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    for (cudaTextureAddressMode &m : d.addressMode)
        m = cudaAddressModeClamp;
    d.filterMode = cudaFilterModeLinear;
    d.normalizedCoords = normalized;
    SHOW(cudaCreateTextureObject(&t, &r, &d, view));
    return t;
}

static void show_output(const char *label, int n)
{
    float host[8];

    fetch(host, out, n);
    show_floats(label, host, n);
}

static void try_mipmaps(const cudaChannelFormatDesc *c)
{
    cudaMipmappedArray_t pyramid;
    cudaArray_t level;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;

    SHOW(cudaMallocMipmappedArray(&pyramid, c, make_cudaExtent(8, 8, 0), 4));
    for (int i = 0; i < 4; i++) {
        SHOW(cudaGetMipmappedArrayLevel(&level, pyramid, i));
        fill(level, make_cudaExtent(8 >> i, 8 >> i, 1), 1000 * i);
    }
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = pyramid;
    d.normalizedCoords = 1;
    d.filterMode = d.mipmapFilterMode = cudaFilterModeLinear;
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    d.maxMipmapLevelClamp = 3;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
    fetch_levels<<<1, 1>>>(t, out);
    show_output("levels", 6);
    d.mipmapLevelBias = 1;
    d.maxMipmapLevelClamp = 2;
    SHOW(cudaCreateTextureObject(&t, &r, &d, nullptr));
    fetch_levels<<<1, 1>>>(t, out);
    show_output("levels with bias and clamp", 6);
}

int main()
{
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    cudaArray_t array;

    MUST(cudaMalloc(&out, 4096));
    SHOW(cudaMalloc3DArray(&array, &c, make_cudaExtent(2, 3, 2)));
    fill(array, make_cudaExtent(2, 3, 2), 0);
    fetch3d<<<1, 1>>>(make_texture(array), out);
    show_output("3D", 4);
    SHOW(cudaMalloc3DArray(&array, &c, make_cudaExtent(2, 3, 2), cudaArrayLayered));
    fill(array, make_cudaExtent(2, 3, 2), 100);
    fetch_layers<<<1, 1>>>(make_texture(array), out);
    show_output("layers", 4);
    SHOW(cudaMalloc3DArray(&array, &c, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
    fill(array, make_cudaExtent(4, 4, 6), 0);
    fetch_cube<<<1, 1>>>(make_texture(array), out);
    show_output("cube", 7);
    fetch_cube<<<1, 1>>>(make_texture(array, nullptr, 1), out);
    show_output("cube with normalized coordinates", 7);
    try_mipmaps(&c);

    cudaResourceViewDesc view = {}, back = {};
    MUST(cudaMalloc3DArray(&array, &c, make_cudaExtent(2, 3, 4), cudaArrayLayered));
    fill(array, make_cudaExtent(2, 3, 4), 500);
    view.format = cudaResViewFormatFloat1;
    view.width = 2;
    view.height = 3;
    view.depth = 4;
    view.firstLayer = 2;
    view.lastLayer = 3;
    cudaTextureObject_t t = make_texture(array, &view);
    fetch_layers<<<1, 1>>>(t, out);
    show_output("layers of a view", 3);
    SHOW(cudaGetTextureObjectResourceViewDesc(&back, t));
    printf("layers %u to %u\n", back.firstLayer, back.lastLayer);
    view.lastLayer = 9;
    make_texture(array, &view);
    SHOW(cudaDestroyTextureObject(t));
    SHOW(cudaDestroyTextureObject(0));
    SHOW(cudaGetLastError());
    return 0;
}
