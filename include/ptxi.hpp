/* libptxi for C++17: handles that free what they own, typed buffers, launches. Needs only ptxi.h.
 *
 *     ptxi::context context{"sm_90"};
 *     ptxi::module module = ptxi::module::load_file("lerp.ptx");
 *     ptxi::buffer<float> x{{1, 2, 3, 4}};
 *     module.kernel("scale")({1}, {4}, x, 2.0f);
 *     std::vector<float> result = x.get();
 *
 * A call that fails throws ptxi::error. A launch waits for the kernel; if the kernel fails, what() is the report.
 * ptxi_gtest.hpp, ptxi_catch2.hpp and ptxi_doctest.hpp turn that into a failed test. */
#ifndef PTXI_HPP
#define PTXI_HPP

#include "ptxi.h"

#include <cstddef>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ptxi {

/* A call failed. what() has the library's report or diagnostics, if there are any. */
class error : public std::runtime_error {
public:
    error(ptxiResult result, const std::string &text) : std::runtime_error(text), result_(result) {}
    ptxiResult result() const noexcept { return result_; }

private:
    ptxiResult result_;
};

namespace detail {

inline std::string describe(ptxiResult r, const char *call)
{
    const char *name = nullptr, *text = nullptr;

    ptxiGetErrorName(r, &name);
    ptxiGetErrorString(r, &text);
    return std::string(call) + ": " + (name ? name : "unknown error") + (text ? std::string(": ") + text : "");
}

/* The text of the last report, if it is about this result. */
inline std::string report(ptxiResult r, const char *call)
{
    ptxiReport report = {};

    report.size = sizeof report;
    if (ptxiGetLastReport(nullptr, &report) == PTXI_SUCCESS && report.result == r && report.text)
        return report.text;
    return describe(r, call);
}

inline void check(ptxiResult r, const char *call)
{
    if (r != PTXI_SUCCESS)
        throw error(r, report(r, call));
}

/* An object of the library, which `Destroy` frees. */
template <typename T, ptxiResult (*Destroy)(T)> class handle {
public:
    handle() = default;
    explicit handle(T value) : value_(value) {}
    handle(handle &&other) noexcept : value_(std::exchange(other.value_, T{})) {}
    handle &operator=(handle &&other) noexcept
    {
        std::swap(value_, other.value_);
        return *this;
    }
    ~handle()
    {
        if (value_)
            Destroy(value_);
    }
    T get() const noexcept { return value_; }

private:
    T value_{};
};

} // namespace detail

/* A context, which is current for the thread as long as it lives. */
class context {
public:
    explicit context(const char *profile = nullptr)
    {
        ptxiContext c = nullptr;

        detail::check(ptxiInit(0), "ptxiInit");
        if (profile)
            detail::check(ptxiDeviceSetProfile(0, profile), "ptxiDeviceSetProfile");
        detail::check(ptxiCtxCreate(&c, 0, 0), "ptxiCtxCreate");
        handle_ = detail::handle<ptxiContext, ptxiCtxDestroy>(c);
    }
    ptxiContext get() const noexcept { return handle_.get(); }
    void synchronize() const { detail::check(ptxiCtxSynchronize(), "ptxiCtxSynchronize"); }

private:
    detail::handle<ptxiContext, ptxiCtxDestroy> handle_;
};

/* Elements in device memory. */
template <typename T> class buffer {
    static_assert(std::is_trivially_copyable<T>::value, "kernels get the bytes of the elements");

public:
    explicit buffer(std::size_t count) : count_(count)
    {
        ptxiDevicePtr p = 0;

        if (count)
            detail::check(ptxiMemAlloc(&p, count * sizeof(T)), "ptxiMemAlloc");
        handle_ = detail::handle<ptxiDevicePtr, ptxiMemFree>(p);
    }
    explicit buffer(const std::vector<T> &values) : buffer(values.size()) { set(values); }
    buffer(std::initializer_list<T> values) : buffer(std::vector<T>(values)) {}

    std::size_t size() const noexcept { return count_; }
    ptxiDevicePtr address() const noexcept { return handle_.get(); }

    void set(const std::vector<T> &values)
    {
        if (values.size() != count_)
            throw std::length_error("the buffer has another number of elements");
        if (count_)
            detail::check(ptxiMemcpyHtoD(address(), values.data(), count_ * sizeof(T)), "ptxiMemcpyHtoD");
    }
    std::vector<T> get() const
    {
        std::vector<T> values(count_);

        if (count_)
            detail::check(ptxiMemcpyDtoH(values.data(), address(), count_ * sizeof(T)), "ptxiMemcpyDtoH");
        return values;
    }

private:
    std::size_t count_;
    detail::handle<ptxiDevicePtr, ptxiMemFree> handle_;
};

struct dim3 {
    dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    unsigned x, y, z;
};

namespace detail {

template <typename T> ptxiDevicePtr argument(const buffer<T> &b) { return b.address(); }
template <typename T> const T &argument(const T &value)
{
    static_assert(std::is_trivially_copyable<T>::value, "a parameter is passed by its bytes");
    return value;
}

} // namespace detail

/* A kernel. Its module must outlive it. The arguments must have the types of the parameters; a buffer is a pointer. */
class kernel {
public:
    explicit kernel(ptxiFunction f) : function_(f) {}
    ptxiFunction get() const noexcept { return function_; }

    template <typename... Args> void operator()(dim3 grid, dim3 block, const Args &...args) const
    {
        launch(grid, block, 0, args...);
    }
    /* `shared`: bytes of dynamic shared memory. */
    template <typename... Args> void launch(dim3 grid, dim3 block, unsigned shared, const Args &...args) const
    {
        auto values = std::make_tuple(detail::argument(args)...);

        check_sizes<std::decay_t<decltype(detail::argument(args))>...>();
        std::apply([&](auto &...value) { start(grid, block, shared, { const_cast<void *>(as_void(&value))... }); },
                   values);
    }

private:
    static const void *as_void(const void *p) { return p; }

    template <typename... Values> void check_sizes() const
    {
        const std::vector<std::size_t> given = { sizeof(Values)... };
        std::size_t offset = 0, size = 0;

        for (std::size_t k = 0; k < given.size(); k++)
            if (ptxiFuncGetParamInfo(function_, k, &offset, &size) != PTXI_SUCCESS || size != given[k])
                throw std::invalid_argument("argument " + std::to_string(k) + " does not fit the kernel's parameter");
        if (ptxiFuncGetParamInfo(function_, given.size(), &offset, &size) == PTXI_SUCCESS)
            throw std::invalid_argument("the kernel has more parameters");
    }
    void start(dim3 g, dim3 b, unsigned shared, std::vector<void *> params) const
    {
        detail::check(ptxiLaunchKernel(function_, g.x, g.y, g.z, b.x, b.y, b.z, shared, nullptr, params.data(),
                                       nullptr),
                      "ptxiLaunchKernel");
        detail::check(ptxiCtxSynchronize(), "ptxiCtxSynchronize");
    }

    ptxiFunction function_;
};

/* A module. Invalid PTX throws an error with all diagnostics. */
class module {
public:
    explicit module(const std::string &ptx)
    {
        ptxiModule m = nullptr;
        ptxiResult r = ptxiModuleLoadData(&m, ptx.c_str());

        if (r != PTXI_SUCCESS)
            throw error(r, diagnostics(r));
        handle_ = detail::handle<ptxiModule, ptxiModuleUnload>(m);
    }
    static module load_file(const std::string &path)
    {
        std::ifstream file(path, std::ios::binary);

        if (!file)
            throw std::runtime_error("cannot read " + path);
        return module(std::string(std::istreambuf_iterator<char>(file), {}));
    }
    ptxiModule get() const noexcept { return handle_.get(); }

    ptxi::kernel kernel(const char *name) const
    {
        ptxiFunction f = nullptr;

        detail::check(ptxiModuleGetFunction(&f, get(), name), name);
        return ptxi::kernel(f);
    }

private:
    static std::string diagnostics(ptxiResult r)
    {
        std::string text;
        ptxiDiagnostic d = {};

        d.size = sizeof d;
        for (unsigned k = 0; ptxiGetLastDiagnostic(k, &d) == PTXI_SUCCESS; k++)
            text += d.text;
        return text.empty() ? detail::describe(r, "ptxiModuleLoadData") : text;
    }

    detail::handle<ptxiModule, ptxiModuleUnload> handle_;
};

} // namespace ptxi

/* For the headers of test frameworks. If a launch of the statement fails, failure(a << b ...) gets the statement and the
 * report. A macro, because a lambda cannot use structured bindings in C++17. */
#define PTXI_LAUNCH_(statement, failure)                 \
    do {                                                 \
        std::string ptxi_report_;                        \
        try {                                            \
            statement;                                   \
        } catch (const ::ptxi::error &ptxi_error_) {     \
            ptxi_report_ = ptxi_error_.what();           \
        }                                                \
        if (!ptxi_report_.empty())                       \
            failure(#statement << "\n" << ptxi_report_); \
    } while (0)

#endif
