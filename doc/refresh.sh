#!/bin/sh
# Write the generated parts of the documents anew: doc/instructions.md, and the counts between the markers in README.md.
# Into the source tree, or with an argument into that directory. Run by `make doc`.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
to=${1:-$top_srcdir}
recordings=$top_srcdir/tests/conformance
mkdir -p "$to/doc"
"$top_builddir/doc/instructions" page "$recordings/cases.rec" "$recordings/matrix.rec" > "$to/doc/instructions.md.new"
"$top_builddir/doc/instructions" counts "$recordings/cases.rec" "$recordings/matrix.rec" > "$to/counts.new"
awk -v counts="$to/counts.new" '
    /^<!-- end of counts -->$/ { inside = 0 }
    !inside { print }
    /^<!-- counts, by make doc -->$/ { inside = 1; while ((getline line < counts) > 0) print line }
' "$top_srcdir/README.md" > "$to/README.md.new"
rm "$to/counts.new"
mv "$to/doc/instructions.md.new" "$to/doc/instructions.md"
mv "$to/README.md.new" "$to/README.md"
