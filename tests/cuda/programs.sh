#!/bin/sh
# Tests all programs.
exec "$top_builddir/tests/cuda/programs" "$top_srcdir/tests/cuda"
