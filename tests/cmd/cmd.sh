#!/bin/sh
# Tests the output of `ptxi`. The script runs each line "$ COMMAND" of a .session file and compares the output with the
# lines after it. A last line "? N" is a nonzero exit status. Numbers before "ms" and "billion" are replaced by '#'.
# $T is a temporary directory, $B the one of the test programs. With UPDATE=1, the script rewrites the .session files.
: "${top_srcdir:?}" "${PTXI:?}"
here=$top_srcdir/tests/cmd
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
PATH=$(dirname "$PTXI"):$PATH
T=$tmp
B=$top_builddir/tests/cmd
unset PTXI_CHECK PTXI_CHECK_FORMAT PTXI_CHECK_OUTPUT PTXI_CHECK_RULES
unset PTXI_DEVICE PTXI_SCHED PTXI_SCHED_SEED PTXI_WORKERS PTXI_ON_FAULT PTXI_REPORT PTXI_STATS
export PATH T B
cd "$here" || exit 1
have_shared=
[ -n "${SANITIZE-}" ] || [ ! -e "$top_builddir/lib/ptxi/libcuda.so.1" ] || have_shared=yes
failed=0
count=0

replay()
{
    grep '^\$ ' "$1" | while IFS= read -r line; do
        printf '%s\n' "$line"
        sh -c "${line#\$ }" > "$tmp/out" 2>&1 < /dev/null
        status=$?
        sed -E -e 's/[0-9.]+ (ms|billion)/# \1/g' -e "s,$tmp/,,g" -e "s,$B/,,g" -e "s,$top_builddir/,BUILD/,g" \
            "$tmp/out"
        [ $status -eq 0 ] || echo "? $status"
    done
}

for session in *.session; do
    if [ "$session" = fatbin.session ] && [ "${READS_COMPRESSED:?}" = no ]; then
        echo "$session is skipped: the library was built without liblz4 or libzstd"
        continue
    fi
    if [ "$session" = exec.session ] && [ -z "$have_shared" ]; then
        echo "$session is skipped: the library was built without shared libraries, or for sanitizers"
        continue
    fi
    if [ "$session" = terminal.session ] && ! script -qec true /dev/null > "$tmp/out" 2>&1 < /dev/null; then
        echo "$session is skipped: no terminal can be made: $(head -n 1 "$tmp/out")"
        continue
    fi
    replay "$session" > "$tmp/got"
    count=$((count + $(grep -c '^\$ ' "$session")))
    if [ -n "${UPDATE-}" ]; then
        cp "$tmp/got" "$session"
    elif ! diff -u "$session" "$tmp/got"; then
        failed=1
    fi
done
echo "$count commands tested"
[ "$count" -gt 0 ] && exit $failed
