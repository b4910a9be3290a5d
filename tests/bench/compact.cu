/* Stream compaction: keeps the numbers above a limit. A warp counts its lanes with a ballot and reserves room with one
 * atomic operation. */
extern "C" __global__ void compact(const unsigned *in, unsigned *out, unsigned *count, int n, unsigned limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned x = i < n ? in[i] : 0, base = 0;
    bool keep = x > limit;
    unsigned lanes = __ballot_sync(0xffffffffu, keep);

    if (lane == 0 && lanes)
        base = atomicAdd(count, (unsigned)__popc(lanes));
    base = __shfl_sync(0xffffffffu, base, 0);
    if (keep)
        out[base + __popc(lanes & ((1u << lane) - 1))] = x;
}
