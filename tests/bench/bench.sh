#!/bin/sh
# Runs the benchmark program on small problems. Checks results and output.
bench=$top_builddir/tests/bench/ptxi-bench

# quick OPTION COUNT PATTERN: runs the program with --quick and OPTION. At least COUNT lines must have PATTERN.
quick()
{
    # shellcheck disable=SC2086
    out=$("$bench" --quick $1) || { echo "$out"; exit 1; }
    echo "$out"
    lines=$(echo "$out" | grep -c "$3")
    [ "$lines" -ge "$2" ] || { echo "ptxi-bench --quick $1: $lines lines, and not $2, have $3"; exit 1; }
}

quick '' 28 ' right ('
echo "$out" | grep -q 'launch and synchronise' || exit 1
# With sanitizers these take 40 s. Their instructions have tests of their own.
if [ -z "${SANITIZE-}" ]; then
    quick --families 61 '^| .*`'
    quick --matrix 16 '^| `.* |$'
    quick --sync 31 '^| [a-z]* .* |$'
    quick --atomics 17 '^| `.* |$'
    quick --textures 20 '^| `.* |$'
fi
if [ "$(nproc)" != 1 ]; then
    quick --scaling 9 '^[a-z_]* *2  *[0-9.]* *[0-9.]* *[0-9.]*$'
fi
quick --tiers 28 '| right |$'
quick --tracking 24 '^| [a-z_0-9]* | [0-9.]* | '
[ -z "${SANITIZE-}" ] || exit 0
# Figures as JSON, from which `make plots` draws.
json=$(mktemp)
trap 'rm -f "$json"' EXIT
"$bench" --quick --json "$json" > /dev/null || exit 1
python3 - "$json" << 'END'
import json, sys
data = json.load(open(sys.argv[1]))
print(data['host'], data['tier'], *(f'{len(data[name])} {name}' for name in ('kernels', 'families', 'scaling')))
assert len(data['kernels']) == 28 and all(row['right'] and row['native_ms'] > 0 for row in data['kernels'])
assert len(data['families']) > 60 and {'integer', 'conversion', 'matrix'} < {row['family'] for row in data['families']}
assert data['processors'] < 2 or {row['workers'] for row in data['scaling']} >= {2}
END
