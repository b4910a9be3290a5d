#!/bin/sh
# Checks the limits of CONTRIBUTING.md for lines, macros and conditionals.
: "${top_srcdir:?}"
[ -n "${PYTHON3:-}" ] || { echo "no python3: not checked"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/check-style.py"
