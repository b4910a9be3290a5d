#!/bin/sh
# Executes the code blocks of all pages; see run_blocks.py.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
python=$top_builddir/venv/bin/python
[ -x "$python" ] || python=python3
[ -z "${SANITIZE-}" ] || { echo "skipped: this build is for sanitizers"; exit 77; }
[ -e "$top_builddir/.libs/libptxi.so" ] || { echo "skipped: this build has no shared library"; exit 77; }
unset MAKEFLAGS MFLAGS MAKELEVEL # those of `make check`; a reader's make has none
"$python" -c 'import numpy' 2> /dev/null || { echo "skipped: no NumPy"; exit 77; }
exec "$python" "$top_srcdir/tests/docs/run_blocks.py" "$top_srcdir" "$top_builddir"
