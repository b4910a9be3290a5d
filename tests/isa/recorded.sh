#!/bin/sh
# What real PTX spells has a row, and the front end judges as ptxas did when it was asked.
isa=$top_srcdir/tests/isa
"$top_builddir"/tests/isa/legality spelled < "$isa"/spellings.txt || exit 1
"$top_builddir"/tests/isa/verdicts "$isa"/frame.ptx < "$isa"/verdicts.txt || exit 1
