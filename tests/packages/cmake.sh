#!/bin/sh
# Tests ptxi_add_ptx() and ptxi_discover_tests() with an installation and with the frameworks that are installed.
# Usage: cmake.sh SOURCE_DIR INSTALLATION
set -eu
top=${1:?} installed=${2:?}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cxx=${CXX:-g++}
set --

fail()
{
    echo "failed: $*"
    cat "$tmp/log"
    exit 1
}

# have NAME HEADER
have()
{
    if echo "#include <$2>" | "$cxx" -std=c++17 -fsyntax-only -x c++ - 2> /dev/null; then
        echo "-DHAVE_$1=1"
    else
        echo "$1: not installed" >&2
    fi
}

command -v "$cxx" > /dev/null && command -v cmake > /dev/null || { echo "skipped: no cmake or no $cxx"; exit 77; }
set -- $(have GTEST gtest/gtest.h) $(have CATCH2 catch2/catch.hpp) $(have DOCTEST doctest/doctest.h)
[ $# -gt 0 ] || exit 77
[ ! -x "${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}" ] || set -- "$@" -DHAVE_NVCC=1
cmake -S "$top/tests/packages/cmake/frameworks" -B "$tmp/build" -DCMAKE_PREFIX_PATH="$installed" \
    -DSAMPLES="$(cd "$top/samples" && pwd)" "$@" > "$tmp/log" 2>&1 || fail "cmake"
cmake --build "$tmp/build" >> "$tmp/log" 2>&1 || fail "the build"
cd "$tmp/build"
ctest --output-on-failure > "$tmp/log" 2>&1 && fail "tests that must fail have passed"
expect()
{
    grep -q "$1" "$tmp/log" || fail "no line '$1'"
}
for have; do
    case $have in
    -DHAVE_GTEST=1) expect 'g/Scale.Multiplies .*Passed'; expect 'g/Scale.OutOfBounds .*Failed' ;;
    -DHAVE_CATCH2=1)
        expect 'c/multiplies .*Passed'; expect 'c/out of bounds .*Failed'
        expect 'one; two .*Passed'; expect 'three, four $x ${y} "z" .*Passed'; expect 'vectors\[3\] .*Passed' ;;
    -DHAVE_DOCTEST=1) expect 'd/multiplies .*Passed'; expect 'd/out of bounds .*Failed' ;;
    -DHAVE_NVCC=1) expect ' cuda .*Passed' ;;
    esac
done
expect 'ld.global.f32 %f'
echo "ptxi_discover_tests: ok ($(grep -c ' Passed ' "$tmp/log") tests passed; others failed, as they must)"
