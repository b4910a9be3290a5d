/* A kernel that calls functions of a device library. nvcc -rdc=true leaves the functions extern. */
struct Ray {
    float3 from, to;
};

extern "C" __device__ float3 bend(Ray ray, float index);
extern "C" __device__ void note(const char *what, float value);

extern "C" __global__ void trace(float3 *out, float index)
{
    int t = threadIdx.x;
    Ray ray = { make_float3((float)t, 0.0f, 0.0f), make_float3(0.0f, 1.0f, (float)t) };

    out[t] = bend(ray, index);
    if (t == 3)
        note("thread 3", out[t].z);
}
