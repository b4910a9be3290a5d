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
if [ "$(nproc)" != 1 ]; then
    [ "$(echo "$out" | grep -c '^[a-z_]* *2  *[0-9.]* *[0-9.]* *[0-9.]*$')" = 9 ] || exit 1
fi
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --tiers) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c '| right |$')" = 28 ] || exit 1
out=$("$top_builddir/tests/bench/ptxi-bench" --quick --tracking) || { echo "$out"; exit 1; }
echo "$out"
[ "$(echo "$out" | grep -c '^| [a-z_0-9]* | [0-9.]* | ')" -ge 24 ] || exit 1
# Figures as JSON, from which `make plots` draws.
json=$(mktemp)
trap 'rm -f "$json"' EXIT
"$top_builddir/tests/bench/ptxi-bench" --quick --json "$json" > /dev/null || exit 1
python3 - "$json" << 'END'
import json, sys
data = json.load(open(sys.argv[1]))
print(data['host'], data['tier'], *(f'{len(data[name])} {name}' for name in ('kernels', 'families', 'scaling')))
assert len(data['kernels']) == 28 and all(row['right'] and row['native_ms'] > 0 for row in data['kernels'])
assert len(data['families']) > 60 and {'integer', 'conversion', 'matrix'} < {row['family'] for row in data['families']}
assert data['processors'] < 2 or {row['workers'] for row in data['scaling']} >= {2}
END
