/* GoogleTest: PTXI_EXPECT_LAUNCH(module.kernel("k")(grid, block, ...)) fails the test with the report if the launch
 * fails, and PTXI_ASSERT_LAUNCH also ends it. */
#ifndef PTXI_GTEST_HPP
#define PTXI_GTEST_HPP

#include "ptxi.hpp"

#include <gtest/gtest.h>

#define PTXI_ADD_FAILURE_(text) ADD_FAILURE() << text
#define PTXI_FAIL_(text) FAIL() << text
#define PTXI_EXPECT_LAUNCH(...) PTXI_LAUNCH_((__VA_ARGS__), PTXI_ADD_FAILURE_)
#define PTXI_ASSERT_LAUNCH(...) PTXI_LAUNCH_((__VA_ARGS__), PTXI_FAIL_)

#endif
