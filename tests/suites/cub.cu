// Algorithms of CUB on the device, for clean.sh.
#include <cub/cub.cuh>
#include <algorithm>
#include <cstdio>
#include <vector>

int main()
{
    const int n = 20000;
    std::vector<int> h(n), r(n);
    int *in, *out, *sum, *histogram, total;
    void *scratch = nullptr;
    size_t bytes = 0, most = 0;
    long expected = 0;
    bool ok = true;

    for (int i = 0; i < n; i++)
        h[i] = i * 7 % 13;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMalloc(&histogram, 16 * sizeof(int));
    cudaMemcpy(in, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    for (int run = 0; run < 2; run++) { // the first one asks for the size of the scratch memory
        cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n);
        most = std::max(most, bytes);
        if (run)
            cudaMemcpy(r.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
        cub::DeviceReduce::Sum(scratch, bytes, in, sum, n);
        most = std::max(most, bytes);
        cub::DeviceHistogram::HistogramEven(scratch, bytes, in, histogram, 14, 0, 13, n);
        most = std::max(most, bytes);
        cub::DeviceSelect::Unique(scratch, bytes, in, out, histogram, n);
        most = std::max(most, bytes);
        cub::DeviceRadixSort::SortKeys(scratch, bytes, in, out, n); // in one sweep, with more than one tile
        most = std::max(most, bytes);
        if (!run)
            cudaMalloc(&scratch, bytes = most);
    }
    cudaMemcpy(&total, sum, sizeof total, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        ok &= r[i] == (expected += h[i]);
    ok &= total == expected;
    puts(ok ? "ok" : "wrong");
    return !ok;
}
