#!/bin/sh
# Runs the tests of Triton's GSan and ConSan (github.com/triton-lang/triton, python/test/gsan and
# python/test/gluon/test_consan.py) with the checks of libptxi: triton.sh PYTHON LIBRARY TEST_FILE [PYTEST_OPTION...]
# PYTHON has torch, Triton, NumPy and pytest; LIBRARY is the build's libptxi.so. Kernels are compiled for PTXI_DEVICE
# (default sm_90). triton_pairs.py says which tests pass.
set -eu
python=$1 PTXI_LIBRARY=$(realpath "$2")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/ptxi-0.dist-info"
printf 'Metadata-Version: 2.1\nName: ptxi\nVersion: 0\n' > "$tmp/ptxi-0.dist-info/METADATA"
printf '[triton.backends]\nptxi = ptxi_triton\n' > "$tmp/ptxi-0.dist-info/entry_points.txt"
export PTXI_LIBRARY PTXI_DEVICE="${PTXI_DEVICE:-sm_90}" PYTHONDONTWRITEBYTECODE=1 TRITON_DEFAULT_FP_FUSION=1
export PYTHONPATH="$here/../../bindings/python:$here:$tmp" TRITON_CACHE_DIR="$tmp/cache"
"$python" -m pytest -q -p triton_pairs -p no:cacheprovider "$@"
