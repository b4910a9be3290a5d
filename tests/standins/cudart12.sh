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

# The library exports the names of NVIDIA's library. Functions that libcudart.so.13 does not have yet, in comparison
# with NVIDIA's, may be missing.
names()
{
    $NM -D --defined-only "$1" | sed -n 's/.* T //p' | sort
}
names "$cuda12/cuda_runtime/lib/libcudart.so.12" > "$tmp/expected"
names "$libs/libcudart.so.12" > "$tmp/exported"
real13=${CUDA_HOME:-/usr/local/cuda}/lib64/libcudart.so.13
: > "$tmp/pending"
if [ -e "$real13" ]; then
    names "$real13" | sed 's/@.*//' > "$tmp/expected13"
    names "$top_builddir/bindings/cudart/.libs/libcudart.so.13" | sed 's/@.*//' > "$tmp/exported13"
    comm -23 "$tmp/expected13" "$tmp/exported13" | sed 's/.*/^&(_v2)?(_ptsz)?@/' > "$tmp/pending"
fi
grep -vE -f "$tmp/pending" "$tmp/expected" > "$tmp/required" || true
comm -23 "$tmp/required" "$tmp/exported" > "$tmp/missing"
comm -13 "$tmp/expected" "$tmp/exported" > "$tmp/extra"
[ -s "$tmp/required" ] && [ ! -s "$tmp/missing" ] && [ ! -s "$tmp/extra" ] || {
    echo "missing:"; cat "$tmp/missing"; echo "not in NVIDIA's library:"; cat "$tmp/extra"
    exit 1
}
echo "$(wc -l < "$tmp/exported") of $(wc -l < "$tmp/expected") functions of libcudart.so.12"

flags="-std=gnu11 -I$cuda12/cuda_runtime/include -I$cuda12/cuda_nvcc/include"
# shellcheck disable=SC2086
$CC $flags -fsyntax-only -DCUDART_MAJOR=12 -I"$top_srcdir/include" -I"$top_srcdir/bindings/cudart" "$here/layouts.c"
# shellcheck disable=SC2086
$CC $flags -Wno-deprecated-declarations -o "$tmp/cudart12" "$here/cudart12.c" -L"$libs" -lcudart
LD_LIBRARY_PATH=$libs "$tmp/cudart12"
