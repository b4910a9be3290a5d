#!/bin/sh
# Builds the examples with the frameworks that are installed, and checks that their failing tests show the report.
# A framework that is absent is named. The test is skipped if there is no C++ compiler or no framework.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
cxx=${CXX:-g++}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
[ -z "${SANITIZE-}" ] || { echo "skipped: the library is built for sanitizers"; exit 77; }
[ -e "$top_builddir/.libs/libptxi.so" ] || { echo "skipped: there is no shared library"; exit 77; }
command -v "$cxx" > /dev/null || { echo "skipped: there is no C++ compiler"; exit 77; }
library=$(cd "$top_builddir" && pwd)/.libs
here=$top_srcdir/samples/frameworks
ran=0

# example NAME HEADER LIBRARY...: one test of the example passes, the other one fails with the report.
example()
{
    name=$1 header=$2
    shift 2
    if ! echo "#include <$header>" | "$cxx" -std=c++17 -fsyntax-only -x c++ - 2> /dev/null; then
        echo "$name: not installed, so its example did not run"
        return
    fi
    "$cxx" -std=c++17 -Wall -Wextra -Werror -I"$top_srcdir/include" -DKERNELS="\"$here/kernels.ptx\"" \
        "$here/$name.cpp" -o "$dir/$name" -L"$library" -Wl,-rpath,"$library" -lptxi "$@" || exit 1
    "$dir/$name" > "$dir/out" 2>&1 && { echo "$name: the failing test passed"; cat "$dir/out"; exit 1; }
    for text in 'scale' 'ld.global.f32 %f' '1 *passed\|PASSED.*1 test'; do
        grep -q "$text" "$dir/out" || { echo "$name: no '$text'"; cat "$dir/out"; exit 1; }
    done
    ran=$((ran + 1))
}

example gtest gtest/gtest.h -lgtest -lpthread
example catch2 catch2/catch.hpp -lpthread
example doctest doctest/doctest.h -lpthread

nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [ -x "$nvcc" ]; then
    "$nvcc" -ptx -arch=sm_80 -std=c++17 -I"$top_srcdir/include" "$here/expect.cu" -o "$dir/expect.ptx" || exit 1
    "$PTXI" run "$dir/expect.ptx" -k check -g 2 -b 4 -a 's32[8]=0,3,6,9,12,15,17,21' > "$dir/out" 2>&1 && exit 1
    grep -q 'PTXI_EXPECT(x\[i\] == 3 \* i) failed in block (1,0,0), thread (2,0,0): 17 == 18' "$dir/out" ||
        { cat "$dir/out"; exit 1; }
    "$PTXI" run "$dir/expect.ptx" -k check -g 2 -b 4 -a 's32[8]=ramp:0:3' || exit 1
    ran=$((ran + 1))
else
    echo "nvcc: not installed, so PTXI_EXPECT was not tested"
fi
[ "$ran" -gt 0 ] || exit 77
