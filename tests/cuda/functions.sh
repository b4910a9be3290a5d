#!/bin/sh
exec "$top_builddir/tests/cuda/functions" "$top_srcdir/tests/cuda"
