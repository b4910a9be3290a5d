#!/bin/sh
# Runs the benchmark program on small problems. Checks results and output.
out=$("$top_builddir/tests/bench/ptxi-bench" --quick) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c ' right (')" = 28 ] && echo "$out" | grep -q 'launch and synchronise' || exit 1
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --families) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c '^| .*`')" -gt 60 ] || exit 1
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --matrix) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c '^| `.* |$')" -ge 16 ] || exit 1
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --sync) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c '^| [a-z]* .* |$')" -gt 30 ] || exit 1
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --atomics) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c '^| `.* |$')" -ge 17 ] || exit 1
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --textures) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c '^| `.* |$')" -ge 20 ] || exit 1
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --scaling) || { echo "$out"; exit 1; }
echo "$out"
[ "$(nproc)" = 1 ] || [ "$(echo "$out" | grep -c '^[a-z_]* *2  *[0-9.]* *[0-9.]* *[0-9.]*$')" = 9 ] || exit 1
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --tiers) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c '| right |$')" = 28 ]
