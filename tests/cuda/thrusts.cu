/* Thrust algorithms with thrust::seq. Each thread processes its own slice. */
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>

enum { SLICE = 24 };

struct Digit {
    __device__ int operator()(int v) const { return v >> 3 & 15; }
};

/* Keys to be sorted are not negative, because this version of Thrust sorts negative ints after the others. */
struct Positive {
    __device__ int operator()(int v) const { return v & 0x7fffffff; }
};

__device__ static unsigned digest(const int *v, int n)
{
    unsigned h = 2166136261u;

    for (int i = 0; i < n; i++)
        h = (h ^ (unsigned)v[i]) * 16777619u;
    return h;
}

extern "C" __global__ void algorithms(const int *in, unsigned *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, v[SLICE], w[SLICE], u[2 * SLICE];

    if (t >= n)
        return;
    const int *first = in + SLICE * t, *last = first + SLICE;
    unsigned *o = out + 16 * t;
    thrust::transform(thrust::seq, first, last, v, Digit());
    o[0] = (unsigned)thrust::reduce(thrust::seq, v, v + SLICE, 100);
    o[1] = (unsigned)thrust::count(thrust::seq, v, v + SLICE, 3);
    o[2] = (unsigned)(thrust::max_element(thrust::seq, v, v + SLICE) - v);
    o[3] = (unsigned)thrust::inner_product(thrust::seq, v, v + SLICE, first, 7);
    o[4] = (unsigned)thrust::transform_reduce(thrust::seq, first, last, Digit(), -100, thrust::maximum<int>());
    thrust::inclusive_scan(thrust::seq, v, v + SLICE, w);
    o[5] = digest(w, SLICE);
    thrust::exclusive_scan(thrust::seq, v, v + SLICE, w, 1, thrust::multiplies<int>());
    o[6] = digest(w, SLICE);
    thrust::copy(thrust::seq, v, v + SLICE, w);
    o[7] = (unsigned)(thrust::unique(thrust::seq, w, w + SLICE) - w);
    thrust::transform(thrust::seq, first, last, w, Positive());
    thrust::sort(thrust::seq, w, w + SLICE);
    o[8] = digest(w, SLICE);
    o[9] = (unsigned)(thrust::lower_bound(thrust::seq, w, w + SLICE, Positive()(first[5])) - w);
    thrust::sequence(thrust::seq, w, w + SLICE);
    thrust::stable_sort_by_key(thrust::seq, v, v + SLICE, w, thrust::greater<int>());
    o[10] = digest(w, SLICE);
    thrust::transform(thrust::seq, first, last, w, Digit());
    int kept = (int)(thrust::remove_if(thrust::seq, w, w + SLICE, [](int x) { return x < 4; }) - w);
    o[11] = digest(w, kept);
    auto pairs = thrust::make_zip_iterator(thrust::make_tuple(first, thrust::make_counting_iterator(0)));
    auto best = thrust::reduce(thrust::seq, pairs, pairs + SLICE, thrust::make_tuple(0, -1),
                               [](thrust::tuple<int, int> a, thrust::tuple<int, int> b) {
                                   return (unsigned)thrust::get<0>(b) % 1000 > (unsigned)thrust::get<0>(a) % 1000
                                              ? b : a;
                               });
    o[12] = (unsigned)thrust::get<1>(best);
    thrust::sort(thrust::seq, v, v + SLICE);
    thrust::transform(thrust::seq, first, last, w, [](int x) { return x & 31; });
    thrust::sort(thrust::seq, w, w + SLICE);
    thrust::merge(thrust::seq, v, v + SLICE, w, w + SLICE, u);
    o[13] = digest(u, 2 * SLICE);
    o[14] = digest(u, (int)(thrust::set_intersection(thrust::seq, v, v + SLICE, w, w + SLICE, u) - u));
    thrust::copy(thrust::seq, first, last, w);
    thrust::reverse(thrust::seq, w, w + SLICE);
    thrust::stable_partition(thrust::seq, w, w + SLICE, [](int x) { return x & 1; });
    o[15] = digest(w, SLICE);
}
