/* C++ on the device: virtual functions, multiple inheritance, templates, constructors and destructors, operators,
 * lambdas, function objects, references, placement new, member pointers, static members. */
#ifndef __CUDACC_RTC__
#include <new>
#endif

class Shape {
public:
    __device__ Shape(int id) : id_(id) {}
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
    __device__ virtual int sides() const { return 0; }
    __device__ int id() const { return id_; }

protected:
    int id_;
};

class Square : public Shape {
public:
    __device__ Square(int id, int a) : Shape(id), a_(a) {}
    __device__ int area() const override { return a_ * a_; }
    __device__ int sides() const override { return 4; }

private:
    int a_;
};

class Box : public Square {
public:
    __device__ Box(int id, int a, int b) : Square(id, a), b_(b) {}
    __device__ int area() const override { return Square::area() + b_; }

private:
    int b_;
};

class Disc : public Shape {
public:
    __device__ Disc(int id, int r) : Shape(id), r_(r) {}
    __device__ int area() const override { return 3 * r_ * r_ + id_; }

private:
    int r_;
};

__device__ __noinline__ int describe(const Shape &s)
{
    return s.area() * 10 + s.sides() + s.id();
}

/* Each thread has an object of one of three classes, so virtual calls diverge. */
extern "C" __global__ void virtuals(const int *in, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    alignas(Box) char room[sizeof(Box) > sizeof(Disc) ? sizeof(Box) : sizeof(Disc)];
    Shape *s;

    if (t >= n)
        return;
    int a = in[t] & 255;
    switch (in[t] >> 8 & 3) {
    case 0: s = new (room) Square(t, a); break;
    case 1: s = new (room) Box(t, a, 1000); break;
    default: s = new (room) Disc(t, a); break;
    }
    out[t] = describe(*s);
    s->~Shape();
}

struct Reader {
    __device__ virtual int read(int k) = 0;
    int reads = 0;
};

struct Writer {
    __device__ virtual void write(int v) = 0;
    int written = 5;
};

struct File : Reader, Writer {
    int data[8];
    __device__ int read(int k) override { reads++; return data[k & 7]; }
    __device__ void write(int v) override { data[written++ & 7] = v; }
};

__device__ __noinline__ void produce(Writer &w, int v)
{
    for (int i = 0; i < 6; i++)
        w.write(v + i * i);
}

__device__ __noinline__ int consume(Reader &r)
{
    int sum = 0;

    for (int i = 0; i < 8; i += 1 + (sum & 1))
        sum = sum * 3 + r.read(i);
    return sum;
}

/* Pointers to the second base class are adjusted. Its functions are called through thunks. */
extern "C" __global__ void inheritance(const int *in, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    File f;

    if (t >= n)
        return;
    for (int i = 0; i < 8; i++)
        f.data[i] = i;
    produce(f, in[t] & 1023);
    out[2 * t] = consume(f);
    out[2 * t + 1] = f.reads * 100 + f.written;
}

template <typename T, int N> struct Vec {
    T v[N];

    __device__ T &operator[](int i) { return v[i]; }
    __device__ const T &operator[](int i) const { return v[i]; }
    __device__ Vec operator+(const Vec &o) const
    {
        Vec r;
        for (int i = 0; i < N; i++)
            r[i] = v[i] + o[i];
        return r;
    }
    template <typename F> __device__ auto map(F f) const -> Vec<decltype(f(v[0])), N>
    {
        Vec<decltype(f(v[0])), N> r;
        for (int i = 0; i < N; i++)
            r[i] = f(v[i]);
        return r;
    }
};

template <typename T> __device__ T sum() { return T(0); }
template <typename T, typename... Rest> __device__ T sum(T first, Rest... rest) { return first + sum<T>(rest...); }

template <int N> struct Factorial {
    static constexpr long long value = N * Factorial<N - 1>::value;
};
template <> struct Factorial<0> {
    static constexpr long long value = 1;
};

extern "C" __global__ void templates(const int *in, long long *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t >= n)
        return;
    int k = in[t] & 7;
    Vec<int, 5> a{{1, 2, 3, 4, t}}, b{{k, k, k, k, k}};
    auto c = (a + b).map([=](int v) { return (long long)v * v + k; });
    out[t] = c[k % 5] + sum<long long>(c[0], c[1], c[2]) + (k & 1 ? Factorial<15>::value : Factorial<9>::value);
}

struct Counter {
    int &total;
    int step;

    __device__ Counter(int &t, int s) : total(t), step(s) { total += step; }
    __device__ Counter(const Counter &o) : total(o.total), step(o.step + 1) { total += step * 10; }
    __device__ ~Counter() { total = total * 2 - step; }
    __device__ int get() const { return total; }
    __device__ int twice() const { return 2 * total; }
};

__device__ __noinline__ int by_copy(Counter c)
{
    return c.get();
}

/* The order of constructors and destructors, also if a loop ends early, and pointers to members. */
extern "C" __global__ void lifetimes(const int *in, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, total = 0, seen = 0;

    if (t >= n)
        return;
    {
        Counter a(total, 3);
        for (int i = 0; i < (in[t] & 3); i++) {
            Counter b(total, i);
            if (in[t] & 4)
                break;
            seen += by_copy(b);
        }
        int (Counter::*get)() const = in[t] & 8 ? &Counter::get : &Counter::twice;
        seen += (a.*get)();
    }
    out[2 * t] = total;
    out[2 * t + 1] = seen;
}

/* Each thread builds a list in the device heap, walks it and frees it. */
struct Node {
    int value;
    Node *next;
};

extern "C" __global__ void heap(const int *in, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    Node *head = nullptr;

    if (t >= n)
        return;
    for (int i = 0; i < (in[t] & 7); i++)
        head = new Node{in[t] >> i & 255, head};
    for (int k = 1; head; k++) {
        sum = sum * 3 + head->value * k;
        Node *next = head->next;
        delete head;
        head = next;
    }
    out[t] = sum;
}
