/* Occurrences of a short pattern in a text. Each thread tests one position, by loads of bytes and with early exits.
 * Each warp makes a vote and one atomic operation. count[0] is the number of matches, count[1] the first position. The
 * block size is a multiple of 32. */
extern "C" __global__ void search(const char *text, int length, const char *pattern, int plen, unsigned *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool hit = i + plen <= length;

    for (int k = 0; hit && k < plen; k++)
        if (text[i + k] != pattern[k])
            hit = false;
    unsigned hits = __ballot_sync(0xffffffffu, hit);
    if (hits && threadIdx.x % 32 == __ffs(hits) - 1) {
        atomicAdd(&count[0], __popc(hits));
        atomicMin(&count[1], (unsigned)i);
    }
}
