#!/bin/sh
# Writes the generated parts of the documents: doc/instructions.md, doc/layers.svg, and the counts between
# the markers in README.md. Writes to the source tree, or to the directory given as an argument. `make doc` runs it.
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
if [ -n "${PYTHON3:-}" ]; then
    "$PYTHON3" "$top_srcdir/tests/check-layers.py" --svg "$top_srcdir" > "$to/doc/layers.svg.new"
    mv "$to/doc/layers.svg.new" "$to/doc/layers.svg"
else
    echo "no python3: doc/layers.svg was not generated" >&2
fi
