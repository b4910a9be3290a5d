#!/bin/sh
# Runs the tests of the Python package in the virtual environment that `./bootstrap check` creates. If the tests cannot
# run, the script prints the reason and reports a skipped test. If PTXI_REQUIRE_PYTHON is set, as in .ci/run, it fails.
set -u
: "${top_srcdir:?}" "${top_builddir:?}" "${PTXI:?}"
name=tests/python venv=${PTXI_VENV:-$top_builddir/venv} required=${PTXI_REQUIRE_PYTHON-}
create="./bootstrap check creates one and needs a network"
# shellcheck source=tests/python/venv.sh
. "$top_srcdir/tests/python/venv.sh"

cmp -s "$venv/requirements.txt" "$top_srcdir/tests/python/requirements.txt" ||
    skip "the virtual environment in $venv is not that of tests/python/requirements.txt; $create"
run_pytest "$top_srcdir/tests/python"
