#!/bin/sh
# What real PTX spells has a row, and the front end judges as ptxas did when it was asked, but for what is meant to differ.
isa=$top_srcdir/tests/isa
"$top_builddir"/tests/isa/legality spelled < "$isa"/spellings.txt || exit 1
for f in verdicts modules; do
    "$top_builddir"/tests/isa/verdicts "$isa"/frame.ptx < "$isa"/$f.txt || exit 1
done
sed -n 's/^> //p' "$isa"/legality.known | "$top_builddir"/tests/isa/verdicts -n "$isa"/frame.ptx || exit 1
