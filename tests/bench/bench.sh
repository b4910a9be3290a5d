#!/bin/sh
# The benchmark program on small problems: results right, table and extras printed.
out=$("$top_builddir/tests/bench/ptxi-bench" --quick) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c ' right (')" = 15 ] && echo "$out" | grep -q 'launch and synchronise'
