#!/bin/sh
# Makes a recording with the library in place of a GPU and verifies it. The library must agree with its own recording
# and reject a modified one. Needs the shared library and Python.
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
if "$top_builddir/tests/conformance/verify" cases "$tmp/vote/cases.rec" vote; then
    exit 1
fi

# Test show and dump, which print the driver's results for single rows: 2^1 and its neighbours. The range has more rows
# than a case.
plan=$tmp/ex2
mkdir "$plan"
"$top_builddir/tests/conformance/plan" write "$plan" ex2.approx.f32
name='ex2.approx.f32 %r0, %r1'
"$PYTHON3" "$here/record.py" --driver "$library" --prefix ptxi dump "$plan" "$name" 0x3f800000 20000 "$plan/dump"
[ "$(od -An -tx4 -N4 "$plan/dump")" = ' 40000000' ]
[ "$(wc -c < "$plan/dump")" = 80000 ]
"$PYTHON3" "$here/record.py" --driver "$library" --prefix ptxi show "$plan" "$name" 16380 100 > "$plan/show"
[ "$(wc -l < "$plan/show")" = 4 ]
