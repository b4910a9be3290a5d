#!/bin/sh
# Runs the tests of the Python package in the virtual environment that `./bootstrap check` creates. If the tests cannot
# run, the script prints the reason and reports a skipped test. If PTXI_REQUIRE_PYTHON is set, as in .ci/run, it fails.
set -u
: "${top_srcdir:?}" "${top_builddir:?}" "${PTXI:?}"
venv=${PTXI_VENV:-$top_builddir/venv}
library=$top_builddir/.libs/libptxi.so

skip()
{
    echo "the tests of the Python package did not run: $1"
    [ -z "${PTXI_REQUIRE_PYTHON-}" ] || exit 1
    exit 77
}

[ -z "${SANITIZE-}" ] || skip "this build is for sanitizers, and Python is not linked with them"
[ -e "$library" ] || skip "this build has no shared library (--disable-shared)"
cmp -s "$venv/requirements.txt" "$top_srcdir/tests/python/requirements.txt" ||
    skip "no virtual environment in $venv; ./bootstrap check creates one and needs a network"

PYTHONPATH=$top_srcdir/bindings/python PYTHONDONTWRITEBYTECODE=1 PTXI_LIBRARY=$library
export PYTHONPATH PYTHONDONTWRITEBYTECODE PTXI_LIBRARY
exec "$venv/bin/python" -m pytest -q -p ptxi.pytest_plugin -p no:cacheprovider "$top_srcdir/tests/python"
