#!/bin/sh
# Compares the names and version nodes that libcudart exports with those of CUDA's library, if it is beside nvcc.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}" "${NM:=nm}"
library=$top_builddir/bindings/cudart/.libs/libcudart.so.13

skip()
{
    echo "the exported names were not compared: $1"
    [ -z "${PTXI_REQUIRE_NVCC-}" ] || exit 1
    exit 77
}

[ -e "$library" ] || { echo "this build has no shared library"; exit 77; }
[ -n "${NVCC-}" ] || skip "configure found no nvcc"
real=$(dirname "$(dirname "$NVCC")")/lib64/libcudart.so.13
[ -e "$real" ] || skip "there is no $real"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Defined names with their version node, without the node's own symbol
names()
{
    # The name of the tool may have options.
    # shellcheck disable=SC2086
    $NM -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort
}

names "$real" > "$tmp/real"
names "$library" > "$tmp/ours"
[ -s "$tmp/real" ] || { echo "$NM lists no names of $real"; exit 1; }
diff -u "$tmp/real" "$tmp/ours" || { echo "the names differ (- is missing, + is not in CUDA's library)"; exit 1; }
echo "the $(wc -l < "$tmp/ours") names of CUDA's library"
