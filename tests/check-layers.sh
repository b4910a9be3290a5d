#!/bin/sh
# Directories and files of the library depend on each other in one direction.
: "${top_srcdir:?}"
[ -n "${PYTHON3:-}" ] || { echo "no python3: not checked"; exit 77; }
exec "$PYTHON3" "$top_srcdir/tests/check-layers.py"
