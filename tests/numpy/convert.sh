#!/bin/sh
# Compares conversions between floating-point formats with NumPy.
: "${top_srcdir:?}" "${PTXI:?}"
for python in "${PYTHON3-}" /usr/bin/python3; do
    if [ -x "$python" ] && "$python" -c 'import numpy' 2> /dev/null; then
        exec "$python" "$top_srcdir/tests/numpy/convert.py" "$PTXI"
    fi
done
echo "skipped: no Python with NumPy (Debian package python3-numpy)"
exit 77
