#!/bin/sh
# Compares the kernels that run in windows, and those that are refused, with a list. UPDATE=1 rewrites it.
: "${top_srcdir:?}" "${top_builddir:?}"
expected=$top_srcdir/tests/scale/windows.expected
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
unset PTXI_CHECK PTXI_DEVICE PTXI_SCHED PTXI_WORKERS PTXI_ON_FAULT
"$top_builddir/tests/scale/windows" "$top_srcdir/tests/bench" "$top_srcdir/tests/cuda" > "$out"
status=$?
if [ -n "${UPDATE-}" ]; then
    grep -v '^FAIL' "$out" > "$expected"
fi
diff "$expected" "$out" || status=1
echo "$(grep -c ': identical' "$out") kernels identical, $(grep -c ': refused' "$out") refused"
exit $status
