#!/bin/sh
# Sessions with the `ptxi` command. Each line "$ COMMAND" of a .session file is run, and its output must be the lines after
# it. A last line "? N" is an exit status other than 0. Times are replaced by '#'. With UPDATE=1 the files are rewritten.
: "${top_srcdir:?}" "${PTXI:?}"
here=$top_srcdir/tests/cmd
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
PATH=$(dirname "$PTXI"):$PATH
T=$tmp
unset PTXI_DEVICE PTXI_SCHED PTXI_SCHED_SEED
export PATH T
cd "$here" || exit 1
failed=0
count=0

replay()
{
    grep '^\$ ' "$1" | while IFS= read -r line; do
        printf '%s\n' "$line"
        sh -c "${line#\$ }" > "$tmp/out" 2>&1
        status=$?
        sed -E -e 's/[0-9.]+ (ms|billion)/# \1/g' -e "s,$tmp/,,g" "$tmp/out"
        [ $status -eq 0 ] || echo "? $status"
    done
}

for session in *.session; do
    replay "$session" > "$tmp/got"
    count=$((count + $(grep -c '^\$ ' "$session")))
    if [ -n "${UPDATE-}" ]; then
        cp "$tmp/got" "$session"
    elif ! diff -u "$session" "$tmp/got"; then
        failed=1
    fi
done
echo "$count commands"
[ "$count" -gt 0 ] && exit $failed
