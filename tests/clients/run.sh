#!/bin/sh
# Tests kernels that other programs compile, and programs for the CUDA driver. These programs are large, so the build
# does not install them. This command installs them:
#
#     python3 -m venv build/clients && build/clients/bin/pip install -r tests/clients/requirements.txt
#
# PTXI_CLIENTS overrides the directory build/clients. If the virtual environment is missing, the script reports a
# skipped test. If one program is missing, only its tests are skipped.
# PyCUDA, CuPy and Warp are tested if they are in the virtual environment. They need more than pip; doc/clients.md
# says what.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
venv=${PTXI_CLIENTS:-$top_builddir/clients}
library=$top_builddir/.libs/libptxi.so

skip()
{
    echo "tests/clients skipped: $1"
    exit 77
}

[ -z "${SANITIZE-}" ] || skip "this build is for sanitizers, and Python is not linked with them"
[ -e "$library" ] || skip "this build has no shared library (--disable-shared)"
[ -x "$venv/bin/python" ] ||
    skip "no virtual environment in $venv; see the comment in $0 for the command that creates it"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PYTHONPATH=$top_srcdir/bindings/python PYTHONDONTWRITEBYTECODE=1 PTXI_LIBRARY=$library TRITON_CACHE_DIR=$tmp
PTXI_BINDINGS=$top_builddir/bindings PTXI_DRIVER=$top_builddir/bindings/cuda/.libs
export PYTHONPATH PYTHONDONTWRITEBYTECODE PTXI_LIBRARY PTXI_BINDINGS PTXI_DRIVER TRITON_CACHE_DIR
if [ -n "${PTXI_CLIENTS_TABLE-}" ]; then
    "$venv/bin/python" "$top_srcdir/tests/clients/table.py"
    exit
fi
"$venv/bin/python" -m pytest -q -rs -p ptxi.pytest_plugin -p no:cacheprovider "$top_srcdir/tests/clients"
