#!/bin/sh
# Tests all functions. Sanitizers are slow, so with them only some functions are tested.
# shellcheck disable=SC2086
exec "$top_builddir/tests/cuda/functions" "$top_srcdir/tests/cuda" ${SANITIZE:+sin mad e4m3 complex}
