#!/bin/sh
# Tests the backend of Triton, with torch. Both are large, so the build does not install them. This command does:
#
#     python3 -m venv build/triton && build/triton/bin/pip install -r tests/triton/requirements.txt
#
# Triton needs Python 3.11 or later. PTXI_TRITON_VENV overrides the directory build/triton. If the virtual environment
# is missing, the script says that no test ran, and exits with status 77.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
venv=${PTXI_TRITON_VENV:-$top_builddir/triton}
library=$top_builddir/.libs/libptxi.so

skip()
{
    echo "tests/triton did not run: $1"
    exit 77
}

[ -z "${SANITIZE-}" ] || skip "this build is for sanitizers, and Python is not linked with them"
[ -e "$library" ] || skip "this build has no shared library (--disable-shared)"
[ -x "$venv/bin/python" ] ||
    skip "no virtual environment in $venv; see the comment in $0 for the command that creates it"
"$venv/bin/python" -c 'import numpy, pytest, torch, triton' ||
    skip "packages of tests/triton/requirements.txt are missing"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# What pip would install, so that Triton finds the backend
mkdir "$tmp/site" "$tmp/site/ptxi-0.dist-info"
printf 'Metadata-Version: 2.1\nName: ptxi\nVersion: 0\n' > "$tmp/site/ptxi-0.dist-info/METADATA"
printf '[triton.backends]\nptxi = ptxi_triton\n' > "$tmp/site/ptxi-0.dist-info/entry_points.txt"
PYTHONPATH=$top_srcdir/bindings/python:$tmp/site PYTHONDONTWRITEBYTECODE=1 PTXI_LIBRARY=$library
TRITON_CACHE_DIR=$tmp/triton TORCHINDUCTOR_CACHE_DIR=$tmp/inductor TRITON_DEFAULT_FP_FUSION=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE PTXI_LIBRARY
export TRITON_CACHE_DIR TORCHINDUCTOR_CACHE_DIR TRITON_DEFAULT_FP_FUSION
"$venv/bin/python" -m pytest -q -rs --show-capture=stdout -p ptxi.pytest_plugin -p no:cacheprovider \
    "$top_srcdir/tests/triton" "$@"
