#!/bin/sh
# The generated parts of the documents are what `make doc` would write.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
sh "$top_srcdir/doc/refresh.sh" "$tmp"
bad=0
for f in README.md doc/instructions.md; do
    diff -u "$top_srcdir/$f" "$tmp/$f" | head -40
    cmp -s "$top_srcdir/$f" "$tmp/$f" || bad=1
done
grep -q '^| all |' "$tmp/README.md" || { echo "README.md has lost the markers of its counts"; bad=1; }
[ $bad = 0 ] || echo "run 'make doc'"
sed -n '/^<!-- counts/,/^<!-- end/p' "$tmp/README.md" | grep -v '^<!--'
exit $bad
