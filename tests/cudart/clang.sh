#!/bin/sh
# Compiles the programs with clang in place of nvcc, and tests them as run.sh does: clang.sh [NAME...]
# CLANG is the compiler [the newest clang++]. The programs that are left out need what clang does not have.
set -u
: "${top_srcdir:?}" "${top_builddir:?}" "${NVCC=}"
here=$(cd "$top_srcdir/tests/cudart" && pwd)

skip()
{
    echo "the programs were not compiled with clang: $1"
    exit 77
}

# Managed variables, clusters, device functions in other files, and fat binaries as files
left_out='clusters dynamic functions library limits linked managed noptx plugins pointers'

[ -n "$NVCC" ] || skip "configure found no nvcc, and so no CUDA toolkit"
CUDA_PATH=$(dirname "$(dirname "$(readlink -f "$NVCC")")")
: "${CLANG:=$(ls /usr/bin/clang++-* 2> /dev/null | sort -t- -k2 -n | tail -1)}"
CUDART_TESTS=$top_builddir/tests/cudart/clang-programs
export CLANG CUDA_PATH CUDART_TESTS
mkdir -p "$CUDART_TESTS"
echo '__global__ void k() {}' > "$CUDART_TESTS/empty.cu"
[ -n "$CLANG" ] || skip "there is no clang++"
"$here/clang-nvcc.sh" -c -o "$CUDART_TESTS/empty.o" "$CUDART_TESTS/empty.cu" > "$CUDART_TESTS/empty.log" 2>&1 ||
    skip "$CLANG does not support the toolkit in $CUDA_PATH: $(grep -m1 error "$CUDART_TESTS/empty.log")"
[ $# -gt 0 ] ||
    set -- $(sed -n 's/^\([a-z0-9_]*\): .*/\1/p' "$here/programs.txt" | grep -v -x -F "$(printf '%s\n' $left_out)")
NVCC=$here/clang-nvcc.sh "$here/run.sh" "$@"
