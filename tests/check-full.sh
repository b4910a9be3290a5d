#!/bin/sh
# Runs the whole test suite at each CPU level of this host, with 1, 2 and 5 workers, in builds for 32 and 64 lanes.
# `make check-full` runs it in a configured build directory. The builds are in full-32 and full-64.
# LEVELS, WORKERS and LANES select a part: make check-full LANES=32 LEVELS=v3
set -u
: "${top_srcdir:?}" "${top_builddir:?}" "${MAKE:=make}" "${CC:=cc}"
failed=0
runs=0

for lanes in ${LANES:-32 64}; do
    dir=$top_builddir/full-$lanes
    echo "== building for $lanes lanes in $dir"
    mkdir -p "$dir" && cd "$dir" || exit 1
    if [ ! -e Makefile ] && ! "$top_srcdir/configure" -q CC="$CC" CFLAGS="${CFLAGS--g}" --with-lanes="$lanes"; then
        exit 1
    fi
    $MAKE -s || exit 1
    $MAKE -s tests/levels || exit 1
    for level in ${LEVELS:-$(tests/levels)}; do
        tests/levels | grep -qx "$level" || { echo "this host does not support CPU level '$level'"; exit 1; }
        for workers in ${WORKERS:-1 2 5}; do
            echo "== lanes $lanes, level $level, workers $workers"
            runs=$((runs + 1))
            PTXI_CPU=$level PTXI_WORKERS=$workers VERBOSE=1 $MAKE -s check || {
                echo "== FAILED: lanes $lanes, level $level, workers $workers"
                failed=$((failed + 1))
            }
        done
    done
done
echo "== $runs runs of the suite, $failed failed"
[ "$runs" -gt 0 ] && [ "$failed" = 0 ]
