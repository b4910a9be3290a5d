#!/bin/sh
# Tests libcudart.so.12 with the headers and the library of CUDA 12.9, from the packages nvidia-cuda-runtime-cu12 and
# nvidia-cuda-nvcc-cu12 in the virtual environment of tests/clients. PTXI_CUDA12 overrides the directory that contains
# cuda_runtime and cuda_nvcc. Without the headers, the test is skipped.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
export LC_ALL=C
here=$top_srcdir/tests/standins
libs=$top_builddir/bindings/cudart/cuda12/.libs
cuda12=${PTXI_CUDA12:-$(echo "${PTXI_CLIENTS:-$top_builddir/clients}"/lib/python*/site-packages/nvidia)}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

skip()
{
    echo "tests/standins/cudart12 skipped: $1"
    exit 77
}

[ -z "${SANITIZE-}" ] || skip "the program would need the sanitizers"
[ -e "$libs/libcudart.so.12" ] || skip "this build has no shared library (--disable-shared)"
[ -e "$cuda12/cuda_runtime/lib/libcudart.so.12" ] || skip "no library of CUDA 12 in $cuda12"
[ -e "$cuda12/cuda_runtime/include/cuda_runtime_api.h" ] ||
    skip "no headers of CUDA 12 in $cuda12"

# The library exports the names of NVIDIA's library, no others, and with the same version.
names()
{
    $NM -D --defined-only "$1" | sed -n 's/.* T //p' | sort
}
names "$cuda12/cuda_runtime/lib/libcudart.so.12" > "$tmp/expected"
names "$libs/libcudart.so.12" > "$tmp/exported"
[ -s "$tmp/expected" ] && diff "$tmp/expected" "$tmp/exported" || {
    echo "the names that NVIDIA's library (<) and libcudart.so.12 (>) export are different"
    exit 1
}

flags="-std=gnu11 -I$cuda12/cuda_runtime/include -I$cuda12/cuda_nvcc/include"
# shellcheck disable=SC2086
$CC $flags -fsyntax-only -DCUDART_MAJOR=12 -I"$top_srcdir/include" -I"$top_srcdir/bindings/cudart" "$here/layouts.c"
# shellcheck disable=SC2086
$CC $flags -Wno-deprecated-declarations -o "$tmp/cudart12" "$here/cudart12.c" -L"$libs" -lcudart
LD_LIBRARY_PATH=$libs "$tmp/cudart12"
