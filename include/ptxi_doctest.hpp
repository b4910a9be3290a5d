/* doctest: PTXI_CHECK_LAUNCH(module.kernel("k")(grid, block, ...)) fails the test case with the report if the
 * launch fails, and PTXI_REQUIRE_LAUNCH also ends it. Include this file after doctest.h. */
#ifndef PTXI_DOCTEST_HPP
#define PTXI_DOCTEST_HPP

#include "ptxi.hpp"

#define PTXI_LAUNCH_(statement, failure)                      \
    do {                                                      \
        std::string ptxi_report_;                             \
        try {                                                 \
            statement;                                        \
        } catch (const ::ptxi::error &ptxi_error_) {          \
            ptxi_report_ = ptxi_error_.what();                \
        }                                                     \
        if (!ptxi_report_.empty())                            \
            failure(#statement << "\n" << ptxi_report_);      \
    } while (0)
#define PTXI_CHECK_LAUNCH(...) PTXI_LAUNCH_((__VA_ARGS__), FAIL_CHECK)
#define PTXI_REQUIRE_LAUNCH(...) PTXI_LAUNCH_((__VA_ARGS__), FAIL)

#endif
