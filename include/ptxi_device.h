/* For CUDA C++ code of kernels: PTXI_EXPECT(a == b) prints the expression, the values, the file and line, the block and
 * the thread if it is false, and fails the launch. It needs nothing of libptxi, so it works on a GPU, too. */
#ifndef PTXI_DEVICE_H
#define PTXI_DEVICE_H

#include <stdio.h>

namespace ptxi_device {

__device__ inline void print(bool x) { printf("%s", x ? "true" : "false"); }
__device__ inline void print(int x) { printf("%d", x); }
__device__ inline void print(unsigned x) { printf("%u", x); }
__device__ inline void print(long x) { printf("%ld", x); }
__device__ inline void print(unsigned long x) { printf("%lu", x); }
__device__ inline void print(long long x) { printf("%lld", x); }
__device__ inline void print(unsigned long long x) { printf("%llu", x); }
__device__ inline void print(double x) { printf("%.17g", x); }
__device__ inline void print(float x) { printf("%.9g", (double)x); }
__device__ inline void print(const void *x) { printf("%p", x); }

/* A comparison with its operands. */
template <typename L, typename R> struct comparison {
    L left;
    R right;
    const char *op;
    bool holds;

    __device__ void show() const
    {
        print(left);
        printf(" %s ", op);
        print(right);
    }
};

/* What stands alone, or on the left of a comparison. */
template <typename L> struct operand {
    L left;
    bool holds;

    __device__ void show() const { print(left); }
#define PTXI_COMPARE_(op)                                                                  \
    template <typename R> __device__ comparison<L, R> operator op(const R &right) const    \
    {                                                                                      \
        return { left, right, #op, left op right };                                        \
    }
    PTXI_COMPARE_(==) PTXI_COMPARE_(!=) PTXI_COMPARE_(<) PTXI_COMPARE_(<=) PTXI_COMPARE_(>) PTXI_COMPARE_(>=)
#undef PTXI_COMPARE_
};

/* `begin() << a == b` is (begin() << a) == b. */
struct begin {
    template <typename L> __device__ operand<L> operator<<(const L &left) const { return { left, (bool)left }; }
};

template <typename T> __device__ void expect(const T &x, const char *text, const char *file, int line)
{
    if (x.holds)
        return;
    printf("%s:%d: PTXI_EXPECT(%s) failed in block (%u,%u,%u), thread (%u,%u,%u): ", file, line, text, blockIdx.x,
           blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    x.show();
    printf("\n");
    __trap();
}

} // namespace ptxi_device

#define PTXI_EXPECT(...) \
    ::ptxi_device::expect(::ptxi_device::begin() << __VA_ARGS__, #__VA_ARGS__, __FILE__, __LINE__)

#endif
