#!/bin/sh
# Checks that the directories and files of the library have no cyclic dependencies.
: "${top_srcdir:?}"
[ -n "${PYTHON3:-}" ] || { echo "skipped: no python3"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/check-layers.py"
