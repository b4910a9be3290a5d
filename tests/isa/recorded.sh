#!/bin/sh
# Checks that all forms found in real PTX have a row, and compares the front end with recorded verdicts of ptxas, except
# for intended differences.
isa=$top_srcdir/tests/isa
"$top_builddir"/tests/isa/legality spelled < "$isa"/spellings.txt || exit 1
for f in verdicts modules; do
    "$top_builddir"/tests/isa/verdicts "$isa"/frame.ptx < "$isa"/$f.txt || exit 1
done
sed -n 's/^> //p' "$isa"/legality.known | "$top_builddir"/tests/isa/verdicts -n "$isa"/frame.ptx || exit 1
