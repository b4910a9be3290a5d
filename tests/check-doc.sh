#!/bin/sh
# Checks that the generated parts of the documents are up to date, that files named in the documents exist, and that
# doc/reference/environment.md has the variables that the code reads.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
tmp=$(mktemp -d)
environment=doc/reference/environment.md runtime=doc/reference/runtime.md coverage=doc/reference/coverage.md
trap 'rm -rf "$tmp"' EXIT
sh "$top_srcdir/doc/refresh.sh" "$tmp"
bad=0
for f in $coverage doc/reference/instructions.md $runtime; do
    diff -u "$top_srcdir/$f" "$tmp/$f" | head -40
    cmp -s "$top_srcdir/$f" "$tmp/$f" || bad=1
done
if [ -e "$tmp/doc/layers.svg" ]; then
    cmp "$top_srcdir/doc/layers.svg" "$tmp/doc/layers.svg" || bad=1
    cmp "$top_srcdir/doc/reference/ptxi.1" "$tmp/doc/reference/ptxi.1" || bad=1
fi
name='\b(tests|libptxi|tools|bindings|samples|doc)/[A-Za-z0-9_./-]+\.(c|h|def|sh|py|awk|rec|md)\b'
for f in $(cd "$top_srcdir" && grep -ohE "$name" README.md CONTRIBUTING.md doc/*.md doc/*/*.md | sort -u); do
    case $f in
    *instructions.md) ;;
    *)
        [ -e "$top_srcdir/$f" ] || [ -e "$top_srcdir/libptxi/$f" ] || {
            echo "the documents name $f, which does not exist"
            bad=1
        }
        ;;
    esac
done
variables()
{
    grep -rhoE "(getenv\(|environ\.get\(|read_status\(|\.variable = )[\"']PTXI_[A-Z_]+" "$top_srcdir/libptxi" \
        "$top_srcdir/tools" "$top_srcdir/bindings" --include='*.c' --include='*.py' | grep -oE 'PTXI_.*' | sort -u
}
variables > "$tmp/read"
grep -oE '`PTXI_[A-Z_]+' "$top_srcdir/$environment" | tr -d '`' | sort -u > "$tmp/documented"
diff "$tmp/read" "$tmp/documented" || { echo "$environment has other variables (>) than the code (<)"; bad=1; }
grep -q '^| `cudaGetExportTable`' "$tmp/$runtime" || { echo "$runtime: the table is missing"; bad=1; }
grep -q '^| all |' "$tmp/$coverage" || { echo "$coverage: the table of counts is missing"; bad=1; }
[ $bad = 0 ] || echo "run 'make doc'"
sed -n '/^<!-- counts/,/^<!-- end/p' "$tmp/$coverage" | grep -v '^<!--'
exit $bad
