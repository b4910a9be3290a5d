/* doctest: PTXI_CHECK_LAUNCH(module.kernel("k")(grid, block, ...)) fails the test case with the report if the
 * launch fails, and PTXI_REQUIRE_LAUNCH also ends it. Include this file after doctest.h. */
#ifndef PTXI_DOCTEST_HPP
#define PTXI_DOCTEST_HPP

#include "ptxi.hpp"

#define PTXI_CHECK_LAUNCH(...) PTXI_LAUNCH_((__VA_ARGS__), FAIL_CHECK)
#define PTXI_REQUIRE_LAUNCH(...) PTXI_LAUNCH_((__VA_ARGS__), FAIL)

#endif
