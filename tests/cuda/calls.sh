#!/bin/sh
# Compares the results of driver calls with calls.rec, a recording of NVIDIA's driver on an H200
# (cases of memory_cases.py: on an H100).
# `calls.py libcuda.so.1` makes the recording.
set -u
: "${top_srcdir:?}" "${top_builddir:?}"
library=$top_builddir/bindings/cuda/.libs/libcuda.so.1

skip()
{
    echo "the driver's calls were not compared: $1"
    exit 77
}

[ -z "${SANITIZE-}" ] || skip "this build is for sanitizers, which Python is not linked with"
[ -e "$library" ] || skip "this build has no shared library (--disable-shared)"
[ -n "${PYTHON3-}" ] || skip "there is no Python"
here=$top_srcdir/tests/cuda
LD_LIBRARY_PATH=$top_builddir/.libs exec "$PYTHON3" -B "$here/calls.py" "$library" "$here/calls.rec"
