#!/bin/sh
# Checks the container file, the action and the notebook.
: "${top_srcdir:?}"
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$top_srcdir/tests/packages/ci_files.py" "$top_srcdir"
