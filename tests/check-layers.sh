#!/bin/sh
# Checks that the directories and files of the library have no cyclic dependencies.
: "${top_srcdir:?}"
[ -n "${PYTHON3:-}" ] || { echo "no python3: not checked"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/check-layers.py"
