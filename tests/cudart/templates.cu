// Templates, lambdas and functors as kernels and as arguments of kernels (--extended-lambda).
#include "show.h"

#include <utility>

template<typename T, int N> struct Vector {
    T v[N];
    __host__ __device__ T sum() const
    {
        T s = 0;
        for (int i = 0; i < N; i++)
            s += v[i];
        return s;
    }
};

template<typename T, int N> __global__ void sums(Vector<T, N> a, T *out)
{
    *out = a.sum();
}

template<typename F> __global__ void apply(F f, int *out)
{
    out[threadIdx.x] = f(threadIdx.x);
}

template<typename... Args> __global__ void count_arguments(int *out, Args... args)
{
    *out = sizeof...(Args) + (0 + ... + (int)args);
}

namespace deep {
namespace deeper {
template<class A, class B> __global__ void sizes(int *out)
{
    out[0] = sizeof(std::pair<A, B>);
}
}
}

struct Functor {
    int k;
    __device__ int operator()(int x) const { return k * x; }
};

__device__ int global_function(int x)
{
    return x + 100;
}

template<int (*F)(int)> __global__ void call_by_template(int *out)
{
    *out = F(7);
}

int main()
{
    int *out, host[4], captured = 30;
    double *sum, value;

    MUST(cudaMalloc(&out, sizeof host));
    MUST(cudaMalloc(&sum, sizeof *sum));
    sums<double, 5><<<1, 1>>>(Vector<double, 5>{ { 1, 2, 3, 4, 0.5 } }, sum);
    fetch(&value, sum, 1);
    printf("sums<double, 5>: %g\n", value);
    apply<<<1, 4>>>([=] __device__(int x) { return x + captured; }, out);
    fetch(host, out, 4);
    show_ints("lambda", host, 4);
    auto both = [captured] __host__ __device__(int x) { return x * x - captured; };
    apply<<<1, 4>>>(both, out);
    fetch(host, out, 4);
    show_ints("lambda of host and device", host, 4);
    printf("on the host: %d\n", both(3));
    apply<<<1, 4>>>(Functor{ 9 }, out);
    fetch(host, out, 4);
    show_ints("functor", host, 4);
    count_arguments<<<1, 1>>>(out, 1, 2.0, 'a', 4ULL);
    fetch(host, out, 1);
    printf("variadic: %d\n", host[0]);
    deep::deeper::sizes<char, double><<<1, 1>>>(out);
    fetch(host, out, 1);
    printf("sizes: %d\n", host[0]);
    call_by_template<global_function><<<1, 1>>>(out);
    fetch(host, out, 1);
    printf("function as template argument: %d\n", host[0]);
    // Two instances have two addresses and two sets of attributes.
    printf("instances differ: %d\n", (void *)sums<double, 5> != (void *)sums<double, 4>);
    return 0;
}
