#!/bin/sh
# Kernels that other programs compile, and programs made for the CUDA driver. They are large, so no build fetches them:
#
#     python3 -m venv build/clients && build/clients/bin/pip install -r tests/clients/requirements.txt
#
# (the directory of the build, or PTXI_CLIENTS). Without it nothing is run, and that is said; nor is a test whose program is missing.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
venv=${PTXI_CLIENTS:-$top_builddir/clients}
library=$top_builddir/.libs/libptxi.so

skip()
{
    echo "the tests of clients did not run: $1"
    exit 77
}

[ -z "${SANITIZE-}" ] || skip "this build is for sanitizers, which Python is not linked with"
[ -e "$library" ] || skip "this build has no shared library (--disable-shared)"
[ -x "$venv/bin/python" ] || skip "no virtual environment in $venv; $0 says how to make one"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PYTHONPATH=$top_srcdir/bindings/python PYTHONDONTWRITEBYTECODE=1 PTXI_LIBRARY=$library TRITON_CACHE_DIR=$tmp
PTXI_DRIVER=$top_builddir/bindings/cuda/.libs
export PYTHONPATH PYTHONDONTWRITEBYTECODE PTXI_LIBRARY PTXI_DRIVER TRITON_CACHE_DIR
"$venv/bin/python" -m pytest -q -rs -p ptxi.pytest_plugin -p no:cacheprovider "$top_srcdir/tests/clients"
