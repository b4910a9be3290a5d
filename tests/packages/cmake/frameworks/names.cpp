// Names that CMake or Catch2 could read as something else.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

TEST_CASE("one; two") { REQUIRE(true); }
TEST_CASE("three, four $x ${y} \"z\"") { REQUIRE(true); }
TEST_CASE("vectors[3]") { REQUIRE(true); }
