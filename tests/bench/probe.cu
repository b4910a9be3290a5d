/* Looks keys up in a hash table with linear probing. Key 0 marks an empty slot. */
extern "C" __global__ void probe(const uint2 *table, unsigned mask, const unsigned *key, unsigned *value, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    unsigned k = key[i], at = k * 0x9e3779b1u >> 7, found = 0xffffffffu;

    for (;; at++) {
        uint2 slot = table[at & mask];
        if (slot.x == k)
            found = slot.y;
        if (slot.x == k || slot.x == 0)
            break;
    }
    value[i] = found;
}
