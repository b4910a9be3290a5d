#!/bin/sh
# Runs the tests of ptxi.scale with real components: pools of processes, Dask, and mpi4py with MPICH. They need a
# virtual environment of their own, which the script creates with pip. What is absent is named; with
# PTXI_REQUIRE_SCALE, as in .ci/run, that is a failure.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
venv=${PTXI_SCALE_VENV:-$top_builddir/scale-venv}
tests=$(cd "$top_srcdir/tests/scale" && pwd)
library=$(cd "$top_builddir" && pwd)/.libs/libptxi.so

absent()
{
    echo "check-scale: $1"
    [ -z "${PTXI_REQUIRE_SCALE-}" ] || exit 1
}

[ -e "$library" ] || { absent "this build has no shared library"; exit 77; }
if ! cmp -s "$venv/requirements.txt" "$tests/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv" && "$venv/bin/python" -m pip install -q --disable-pip-version-check --retries 1 \
        --timeout 20 -r "$tests/requirements.txt" && cp "$tests/requirements.txt" "$venv/" ||
        { absent "pip cannot install tests/scale/requirements.txt"; exit 77; }
fi
command -v mpiexec > /dev/null || absent "mpiexec is absent (Debian: mpich): the test of MPI does not run"

PYTHONPATH=$(cd "$top_srcdir" && pwd)/bindings/python:$tests PYTHONDONTWRITEBYTECODE=1 PTXI_LIBRARY=$library
export PYTHONPATH PYTHONDONTWRITEBYTECODE PTXI_LIBRARY
exec "$venv/bin/python" -m pytest -q -rs -p no:cacheprovider "$@" "$tests"
