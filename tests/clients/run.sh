#!/bin/sh
# Tests kernels that other programs compile, and programs for the CUDA driver. These programs are large, so the build
# does not install them. This command installs them:
#
#     python3 -m venv build/clients && build/clients/bin/pip install -r tests/clients/requirements.txt
#
# PTXI_CLIENTS overrides the directory build/clients. If the virtual environment is missing, the script reports a
# skipped test. If one program is missing, only its tests are skipped.
# PyCUDA, CuPy and Warp are tested if they are in the virtual environment. They need more than pip;
# doc/reference/clients.md says what.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
name=tests/clients venv=${PTXI_CLIENTS:-$top_builddir/clients} create="$0 has the command that creates it"
# shellcheck source=tests/python/venv.sh
. "$top_srcdir/tests/python/venv.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
TRITON_CACHE_DIR=$tmp PTXI_BINDINGS=$top_builddir/bindings PTXI_DRIVER=$top_builddir/bindings/cuda/.libs
export PTXI_BINDINGS PTXI_DRIVER TRITON_CACHE_DIR
if [ -n "${PTXI_CLIENTS_TABLE-}" ]; then
    "$venv/bin/python" "$top_srcdir/tests/clients/table.py"
    exit
fi
run_pytest -rs "$top_srcdir/tests/clients"
