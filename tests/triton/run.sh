#!/bin/sh
# Tests the backend of Triton, with torch. Both are large, so the build does not install them. This command does:
#
#     python3 -m venv build/triton && build/triton/bin/pip install -r tests/triton/requirements.txt
#
# Triton needs Python 3.11 or later. PTXI_TRITON_VENV overrides the directory build/triton. If the virtual environment
# is missing, the script says that no test ran, and exits with status 77.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
name=tests/triton venv=${PTXI_TRITON_VENV:-$top_builddir/triton} create="$0 has the command that creates it"
# shellcheck source=tests/python/venv.sh
. "$top_srcdir/tests/python/venv.sh"
"$venv/bin/python" -c 'import numpy, pytest, torch, triton' ||
    skip "packages of tests/triton/requirements.txt are missing"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# What pip would install, so that Triton finds the backend
mkdir "$tmp/site" "$tmp/site/ptxi-0.dist-info"
printf 'Metadata-Version: 2.1\nName: ptxi\nVersion: 0\n' > "$tmp/site/ptxi-0.dist-info/METADATA"
printf '[triton.backends]\nptxi = ptxi_triton\n' > "$tmp/site/ptxi-0.dist-info/entry_points.txt"
PYTHONPATH=$PYTHONPATH:$tmp/site
TRITON_CACHE_DIR=$tmp/triton TORCHINDUCTOR_CACHE_DIR=$tmp/inductor TRITON_DEFAULT_FP_FUSION=1
export TRITON_CACHE_DIR TORCHINDUCTOR_CACHE_DIR TRITON_DEFAULT_FP_FUSION
run_pytest -rs --show-capture=stdout "$top_srcdir/tests/triton" "$@"
