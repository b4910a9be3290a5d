#!/bin/sh
# Checks the limits of CONTRIBUTING.md for lines, macros and conditionals.
: "${top_srcdir:?}"
[ -n "${PYTHON3:-}" ] || { echo "skipped: no python3"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/check-style.py"
