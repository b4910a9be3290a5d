#!/bin/sh
# The way from the table to a recording and back, with the library in the place of a GPU: it agrees with itself, and not with a
# recording that is changed. Needs the shared library and Python.
library=$top_builddir/.libs/libptxi.so
here=$top_srcdir/tests/conformance
[ -n "$PYTHON3" ] && [ -e "$library" ] && [ -z "$SANITIZE" ] || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
set -e
for text in shf.l slct.f64 atom.add.f64 vote; do
    mkdir "$tmp/$text"
    "$top_builddir/tests/conformance/plan" write "$tmp/$text" $text
    "$PYTHON3" "$here/record.py" --driver "$library" --prefix ptxi record "$tmp/$text" "$tmp/$text"
    "$top_builddir/tests/conformance/verify" cases "$tmp/$text/cases.rec" $text
done
"$PYTHON3" - "$tmp/vote/cases.rec" <<'EOF'
import sys
data = bytearray(open(sys.argv[1], 'rb').read())
data[-1] ^= 1
open(sys.argv[1], 'wb').write(data)
EOF
! "$top_builddir/tests/conformance/verify" cases "$tmp/vote/cases.rec" vote
