// Tests of a kernel with GoogleTest. The second one fails: it starts more threads than the buffer has elements.
#include "ptxi_gtest.hpp"

class Scale : public ::testing::Test {
protected:
    ptxi::context context{"sm_90"};
    ptxi::module module = ptxi::module::load_file(KERNELS);
    ptxi::buffer<float> x{1, 2, 3, 4};
};

TEST_F(Scale, Multiplies)
{
    PTXI_ASSERT_LAUNCH(module.kernel("scale")(1, 4, x, 2.0f));
    EXPECT_EQ(x.get(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(Scale, OutOfBounds) { PTXI_EXPECT_LAUNCH(module.kernel("scale")(1, 32 * 8, x, 2.0f)); }

int main(int argc, char **argv)
{
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
