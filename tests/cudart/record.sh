#!/bin/sh
# Records the output of all programs on a machine with a GPU and nvcc: record.sh OUT [NAME...]
# OUT/expected.tar.gz has NAME.expected for each program (standard output and exit status) and the results of calls.
# OUT/record.log tells which programs did not compile, and what they wrote to standard error.
# The programs run on one device, with the shared runtime of the toolkit, for at most 20 s; the calls for 150 s.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?"usage: record.sh OUT [NAME...]"}
shift
: "${NVCC:=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
: "${ARCH:=-arch=sm_90}" "${JOBS:=$(getconf _NPROCESSORS_ONLN)}"
export NVCC ARCH JOBS CUDA_VISIBLE_DEVICES=0
export LD_LIBRARY_PATH="$(dirname "$(dirname "$NVCC")")/lib64:${LD_LIBRARY_PATH-}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$out" "$tmp/expected"
log=$out/record.log
{
    "$NVCC" --version | tail -2
    nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader
    [ $# -gt 0 ] || set -- $(sed -n 's/^\([a-z0-9_]*\): .*/\1/p' "$here/programs.txt")
    date +%T
    "$here/build.sh" "$tmp/build" "$@"
    date +%T
    for name; do
        if [ ! -x "$tmp/build/$name" ]; then
            tail -5 "$tmp/build/$name.log"
            continue
        fi
        limit=20
        [ "$name" != calls ] || limit=150
        LIMIT=$limit "$here/run-one.sh" "$tmp/build" "$name"
        cp "$tmp/build/$name.out" "$tmp/expected/$name.expected"
        tail -1 "$tmp/build/$name.out" | sed "s/^/$name: /"
        head -c 2000 "$tmp/build/$name.err"
    done
    date +%T
} > "$log" 2>&1
tar -C "$tmp/expected" -czf "$out/expected.tar.gz" .
tail -3 "$log"
