#!/bin/sh
# Makes the recordings on a machine with a GPU: on-gpu.sh OUT [options of record.py]. It needs a C compiler and Python,
# and uses ptxas.
# ONLY=matrix records only matrix instructions, ONLY=textures only textures and surfaces, ONLY=scalar only the rest.
# PTXI_SEED=N records with different operands. Run `verify` with the same seed.
# PTXI_CASES=TEXT records only the cases with TEXT in their names, for `record.py merge`.
set -e
top=$(cd "$(dirname "$0")/../.." && pwd)
out=${1:?"usage: on-gpu.sh OUT [options]"}
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$top"
mkdir "$tmp/isa" "$tmp/plan"
${CC:-cc} -std=gnu11 -Ilibptxi -o "$tmp/gen" libptxi/isa/gen*.c
"$tmp/gen" header > "$tmp/isa/op.gen.h"
"$tmp/gen" tables > "$tmp/isa.gen.c"
cd tests/conformance
${CC:-cc} -std=gnu11 -O1 -I../../libptxi -I"$tmp" -I.. -o "$tmp/plan/plan" plan.c \
    matrix.c matrix_group.c matrix_pool.c matrix_other.c cases.c case_build.c case_kernel.c \
    chains.c fragments.c warpgroups.c wmma.c words.c column.c \
    ../../libptxi/isa/isa.c "$tmp/isa.gen.c" -lm
"$tmp/plan/plan" write "$tmp/plan" "${PTXI_CASES-}"
"$tmp/plan/plan" matrix "$tmp/plan"
case $ONLY in
'' | matrix) python3 record.py matrix "$tmp/plan" "$out" ;;
esac
case $ONLY in
'' | scalar) python3 record.py record "$tmp/plan" "$out" "$@" ;;
esac
case $ONLY in
'' | textures) python3 textures.py "$out" ;;
esac
