#!/bin/sh
# Runs every sample that has a file NAME.expected, and compares its output with the file.
# Numbers that depend on the machine are replaced by '#'.
set -u
out=$(mktemp -d) || exit 1
trap 'rm -rf "$out"' EXIT
failed=0
count=0
for expected in "$top_srcdir"/samples/*.expected; do
    name=$(basename "$expected" .expected)
    if [ "$name" = nvrtc ] && { [ ! -e "$top_builddir/samples/nvrtc" ] || [ -n "${SANITIZE-}" ]; }; then
        echo "sample nvrtc did not run: configure found no NVRTC, or NVRTC does not support this build for sanitizers"
        continue
    fi
    count=$((count + 1))
    "$top_builddir/samples/$name" > "$out/raw" 2> "$out/err"
    status=$?
    sed -E -e 's,[0-9.]+ (ms|million|G/s),# \1,g' \
        -e 's,^device 0: .* run by [0-9]+ host,device 0: # run by # host,' "$out/raw" > "$out/got"
    if [ $status -ne 0 ] || ! diff -u "$expected" "$out/got" > "$out/diff"; then
        echo "FAIL: sample $name, exit status $status"
        cat "$out/diff" "$out/err" 2> /dev/null
        failed=1
    fi
done
echo "$count samples run"
[ "$count" -gt 0 ] && exit $failed
