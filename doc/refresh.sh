#!/bin/sh
# Writes the generated parts of the documents: doc/reference/instructions.md, doc/layers.svg, doc/reference/ptxi.1, and
# what is between markers in doc/reference/coverage.md (counts) and doc/reference/runtime.md (unsupported functions).
# Writes to the source tree, or to the directory given as an argument. `make doc` runs it.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
to=${1:-$top_srcdir}
recordings=$top_srcdir/tests/conformance
mkdir -p "$to/doc/reference"
"$top_builddir/doc/instructions" page "$recordings/cases.rec" "$recordings/matrix.rec" \
    > "$to/doc/reference/instructions.md.new"
"$top_builddir/doc/instructions" counts "$recordings/cases.rec" "$recordings/matrix.rec" > "$to/counts.new"
cudart=$top_srcdir/bindings/cudart
awk -v output=table -f "$cudart/generate.awk" "$cudart/functions.txt" > "$to/unsupported.new"

# insert PART FILE: replaces the lines between the markers of the part with those of $to/FILE.new.
insert()
{
    awk -v part="$1" -v from="$to/$2.new" '
        $0 == "<!-- end of " part " -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- " part ", by make doc -->" { inside = 1; while ((getline line < from) > 0) print line }'
}

insert counts counts < "$top_srcdir/doc/reference/coverage.md" > "$to/doc/reference/coverage.md.new"
insert 'unsupported functions' unsupported < "$top_srcdir/doc/reference/runtime.md" > "$to/doc/reference/runtime.md.new"
rm "$to/counts.new" "$to/unsupported.new"
for f in doc/reference/instructions.md doc/reference/runtime.md doc/reference/coverage.md; do
    mv "$to/$f.new" "$to/$f"
done
if [ -n "${PYTHON3:-}" ]; then
    "$PYTHON3" "$top_srcdir/tests/check-layers.py" --svg "$top_srcdir" > "$to/doc/layers.svg.new"
    mv "$to/doc/layers.svg.new" "$to/doc/layers.svg"
    "$PYTHON3" "$top_srcdir/doc/site/build.py" man "$top_srcdir" "$top_builddir/ptxi" > "$to/doc/reference/ptxi.1.new"
    mv "$to/doc/reference/ptxi.1.new" "$to/doc/reference/ptxi.1"
else
    echo "no python3: doc/layers.svg and doc/reference/ptxi.1 were not generated" >&2
fi
