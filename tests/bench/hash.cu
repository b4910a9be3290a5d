/* Rounds of an integer hash: each thread executes one dependent chain of multiplications, rotations (funnel shifts) and
 * exclusive ors. */
__device__ static unsigned rotl(unsigned v, int s)
{
    return __funnelshift_l(v, v, s);
}

extern "C" __global__ void hash(const unsigned *in, unsigned *out, int n, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    unsigned h = in[i], k = h ^ 0x9e3779b9u;
#pragma unroll 4
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
        h += k ^ (unsigned)r;
    }
    out[i] = h;
}
