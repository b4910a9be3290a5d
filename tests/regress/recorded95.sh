#!/bin/sh
# Runs ptx95.py, which on-gpu.sh runs on a GPU, with the library in place of a GPU. Needs the shared library and Python.
library=$top_builddir/.libs/libptxi.so
[ -n "$PYTHON3" ] && [ -e "$library" ] && [ -z "$SANITIZE" ] || exit 77
export PTXI_DEVICE=sm_90 PYTHONDONTWRITEBYTECODE=1
exec "$PYTHON3" "$top_srcdir/tests/regress/ptx95.py" --driver "$library" --prefix ptxi
