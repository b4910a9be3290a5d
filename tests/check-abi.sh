#!/bin/sh
# Checks that the shared library exports exactly the functions that include/ptxi.h declares, that libptxi.map lists each
# of them in one node, and that all files have the same version.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}" "${NM:=nm}"
lib=$top_builddir/.libs/libptxi.so
header=$top_srcdir/include/ptxi.h
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if [ ! -e "$lib" ]; then
    echo "skipped: no $lib; this build has no shared library (--disable-shared)"
    exit 77
fi
$NM -D --defined-only "$lib" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    grep -vE '^(_init|_fini|__(asan|ubsan|tsan|odr_asan|start_asan|stop_asan)[A-Za-z0-9_.]*)$' |
    sort > "$tmp/exported" || true
# A declaration may span lines: join them, then take the name before the first parenthesis.
tr '\n' ' ' < "$header" | tr ';' '\n' | sed -nE 's/.*PTXI_API[^(]*[ *](ptxi[A-Za-z0-9]+) *\(.*/\1/p' |
    sort > "$tmp/declared"
sed -n 's/^ *\(ptxi[A-Za-z0-9]*\);$/\1/p' "$top_srcdir/libptxi/libptxi.map" | sort > "$tmp/mapped"
if ! diff -u "$tmp/declared" "$tmp/mapped"; then
    echo "include/ptxi.h (-) and libptxi/libptxi.map (+) differ: list a new function in the node of its release"
    exit 1
fi
if ! diff -u "$tmp/declared" "$tmp/exported"; then
    echo "include/ptxi.h (-) and the exported symbols (+) differ"
    exit 1
fi

want=$(sed -n 's/^#define PTXI_VERSION_[MP][A-Z]* *\([0-9][0-9]*\).*/\1/p' "$header" | paste -s -d .)
have=$(sed -n 's/^Version: //p' "$top_builddir/libptxi.pc")
if [ "$want" != "$have" ]; then
    echo "ptxi.h says version $want, libptxi.pc says $have: run autoreconf"
    exit 1
fi
echo "$(wc -l < "$tmp/declared") functions exported, version $want"
