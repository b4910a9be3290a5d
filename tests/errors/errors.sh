# Parses each tests/errors/*.ptx and compares the messages with the .stderr file of the same name.
# With UPDATE=1, the script rewrites the .stderr files.
here=$top_srcdir/tests/errors
out=${TMPDIR:-/tmp}/ptxi-errors.$$
trap 'rm -f "$out"' EXIT
failed=0
for f in "$here"/*.ptx; do
    want=${f%.ptx}.stderr
    "$top_builddir/tests/errors/parse_file" "$f" 2> "$out"
    status=$?
    if [ -n "$UPDATE" ]; then
        cp "$out" "$want"
    fi
    if [ "$status" -gt 1 ]; then
        echo "$f: unexpected exit status $status"
        failed=1
    elif [ "$status" = 0 ] && grep -q ': error: ' "$out"; then
        echo "$f: errors were reported, but the exit status is 0"
        failed=1
    elif ! diff -u "$want" "$out"; then
        failed=1
    fi
done
exit $failed
