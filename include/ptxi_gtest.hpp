/* GoogleTest: PTXI_EXPECT_LAUNCH(module.kernel("k")(grid, block, ...)) fails the test with the report if the launch
 * fails, and PTXI_ASSERT_LAUNCH also ends it. */
#ifndef PTXI_GTEST_HPP
#define PTXI_GTEST_HPP

#include "ptxi.hpp"

#include <gtest/gtest.h>

#define PTXI_LAUNCH_(statement, failure)                    \
    do {                                                    \
        std::string ptxi_report_;                           \
        try {                                               \
            statement;                                      \
        } catch (const ::ptxi::error &ptxi_error_) {        \
            ptxi_report_ = ptxi_error_.what();              \
        }                                                   \
        if (!ptxi_report_.empty())                          \
            failure() << #statement << "\n" << ptxi_report_; \
    } while (0)
#define PTXI_EXPECT_LAUNCH(...) PTXI_LAUNCH_((__VA_ARGS__), ADD_FAILURE)
#define PTXI_ASSERT_LAUNCH(...) PTXI_LAUNCH_((__VA_ARGS__), FAIL)

#endif
