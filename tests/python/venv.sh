# shellcheck shell=sh
# The beginning of the scripts that run tests of Python in a virtual environment. They source it, after setting
#     name       the name of the tests
#     venv       the directory of the virtual environment
#     create     the command that creates it, in words
#     required   not empty: tests that cannot run are a failure
: "${top_srcdir:?}" "${top_builddir:?}" "${name:?}" "${venv:?}" "${create:?}"
library=$top_builddir/.libs/libptxi.so

# skip REASON
skip()
{
    echo "$name did not run: $1"
    [ -z "${required-}" ] || exit 1
    exit 77
}

[ -z "${SANITIZE-}" ] || skip "this build is for sanitizers, and Python is not linked with them"
[ -e "$library" ] || skip "this build has no shared library (--disable-shared)"
[ -x "$venv/bin/python" ] || skip "no virtual environment in $venv; $create"
PYTHONPATH=$top_srcdir/bindings/python PYTHONDONTWRITEBYTECODE=1 PTXI_LIBRARY=$library
export PYTHONPATH PYTHONDONTWRITEBYTECODE PTXI_LIBRARY

# run_pytest ARGUMENT...
run_pytest()
{
    "$venv/bin/python" -m pytest -q -p ptxi.pytest_plugin -p no:cacheprovider "$@"
}
