// Algorithms of Thrust, for clean.sh; NVCC_FLAGS are --extended-lambda.
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <cstdio>
int main()
{
    thrust::device_vector<int> v(5000), k(5000);
    thrust::sequence(v.begin(), v.end());
    thrust::transform(v.begin(), v.end(), k.begin(), [] __device__ (int x) { return x * 31 % 97; });
    thrust::sort_by_key(k.begin(), k.end(), v.begin());
    int s = thrust::reduce(v.begin(), v.end());
    thrust::exclusive_scan(v.begin(), v.end(), k.begin());
    printf("%d\n", s);
    return s != 5000 * 4999 / 2;
}
