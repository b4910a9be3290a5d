#!/bin/sh
# Compares the names and version nodes that libcudart exports with those of the real library, if it is beside nvcc.
# exports.missing lists the names that are still missing; it must be exact. `exports.sh update` writes it.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}" "${NM:=nm}"
library=$top_builddir/bindings/cudart/.libs/libcudart.so.13
list=$top_srcdir/tests/cudart/exports.missing

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
    "$NM" -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort
}

names "$real" > "$tmp/real"
names "$library" > "$tmp/ours"
LC_ALL=C comm -23 "$tmp/real" "$tmp/ours" > "$tmp/missing"
LC_ALL=C comm -13 "$tmp/real" "$tmp/ours" > "$tmp/more"
if [ "${1-}" = update ]; then
    cp "$tmp/missing" "$list"
    exit
fi
if [ -s "$tmp/more" ]; then
    echo "names that CUDA's library does not export:"
    cat "$tmp/more"
    exit 1
fi
diff -u "$list" "$tmp/missing" || { echo "exports.missing is not exact (- is exported now, + is missing)"; exit 1; }
echo "$(wc -l < "$tmp/ours") names are exported, $(wc -l < "$list") are missing"
