#!/bin/sh
# Recorded outputs of scalar forms against the library's. scalar.known lists the forms that differ; any change to that
# list fails, a form that no longer differs too. Forms that cannot be executed yet are only counted.
here=$top_srcdir/tests/conformance
out=scalar.$$.tmp
trap 'rm -f "$out" "$out.differs"' EXIT
"$top_builddir/tests/conformance/replay" "$here/scalar.forms" "$here/scalar.rec" > "$out"
[ $? -le 1 ] || { cat "$out"; exit 1; }
tail -1 "$out"
sed -n 's/^differs: \(.*\) (term.*/\1/p' "$out" | sort -u > "$out.differs"
sort -u "$here/scalar.known" | diff - "$out.differs" || { echo "(< known to differ, > differs)"; exit 1; }
