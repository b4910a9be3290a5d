// Tests of a kernel with doctest. The second one fails: it starts more threads than the buffer has elements.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "ptxi_doctest.hpp"

TEST_CASE("multiplies")
{
    ptxi::context context{"sm_90"};
    ptxi::module module = ptxi::module::load_file(KERNELS);
    ptxi::buffer<float> x{1, 2, 3, 4};

    PTXI_REQUIRE_LAUNCH(module.kernel("scale")(1, 4, x, 2.0f));
    REQUIRE((x.get() == std::vector<float>{2, 4, 6, 8}));
}

TEST_CASE("out of bounds")
{
    ptxi::context context{"sm_90"};
    ptxi::module module = ptxi::module::load_file(KERNELS);
    ptxi::buffer<float> x{1, 2, 3, 4};

    PTXI_CHECK_LAUNCH(module.kernel("scale")(1, 32 * 8, x, 2.0f));
}
