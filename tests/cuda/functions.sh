#!/bin/sh
# All functions; with sanitizers, which are slow, some of each kind.
# shellcheck disable=SC2086
exec "$top_builddir/tests/cuda/functions" "$top_srcdir/tests/cuda" ${SANITIZE:+sin mad e4m3 complex}
