#!/bin/sh
# The tests of the Python package, in the virtual environment that `./bootstrap check` makes. Where they cannot run they say
# why, and are skipped; with PTXI_REQUIRE_PYTHON set, as .ci/run does, that is a failure.
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

[ -z "${SANITIZE-}" ] || skip "this build is for sanitizers, which Python is not linked with"
[ -e "$library" ] || skip "this build has no shared library (--disable-shared)"
cmp -s "$venv/requirements.txt" "$top_srcdir/tests/python/requirements.txt" ||
    skip "no virtual environment in $venv; ./bootstrap check makes one, from the network"

PYTHONPATH=$top_srcdir/bindings/python PYTHONDONTWRITEBYTECODE=1 PTXI_LIBRARY=$library
export PYTHONPATH PYTHONDONTWRITEBYTECODE PTXI_LIBRARY
exec "$venv/bin/python" -m pytest -q -p ptxi.pytest_plugin -p no:cacheprovider "$top_srcdir/tests/python"
