#!/bin/sh
# Runs the launches of other tests in windows, too (windowed.c), and counts what was found: recorded cases, recorded
# matrices, programs for the CUDA runtime (as far as they have been built), and samples that `make check-programs` has
# built in SAMPLES_OUT.
#
#     windowed.sh [KIND...]      cases, matrix, cudart, samples; default: cases of one kind, which takes seconds
#
# PTXI_CASES=TEXT selects cases. WINDOWED_COUNTS: the numbers of windows [1,2,3,7,0]; 0: one for each cluster. Grids of
# recorded cases have 128 clusters and more. Of 64 cases, 63 are tried as grids of 12 clusters, and the kernel that sums
# results three times for each grid; WINDOWED_CLUSTERS, WINDOWED_WHOLE and WINDOWED_TIMES change that (windowed.c).
# KEEP=FILE gets a line for each launch. The script fails if a launch has other memory in windows.
set -u
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:=gcc}"
build=$(cd "$top_builddir" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0
[ $# -gt 0 ] || { set -- cases; : "${PTXI_CASES=add.sat}"; }
unset PTXI_CHECK PTXI_DEVICE PTXI_SCHED PTXI_WORKERS PTXI_ON_FAULT
WINDOWED_COUNTS=${WINDOWED_COUNTS:-1,2,3,7,0}
export WINDOWED_COUNTS WINDOWED_LOG

# report KIND: what its log says; kernels are counted by their names
report()
{
    [ -s "$WINDOWED_LOG" ] || { echo "$1: no launches"; return; }
    [ -z "${KEEP-}" ] || sed "s/^/$1 /" "$WINDOWED_LOG" >> "$KEEP"
    awk -v kind="$1" '
        { split($3, word, ":"); n[word[1]]++; if (!(($1, word[1]) in seen)) { seen[$1, word[1]]; k[word[1]]++ } }
        END { for (w in n) printf "%s: %d launches of %d kernels %s\n", kind, n[w], k[w], w }' "$WINDOWED_LOG" | sort
    grep -v -e ' identical' -e ' DIFFERENT' "$WINDOWED_LOG" | sed -E 's/^[^ ]+ [0-9]+ //' | sort | uniq -c | sort -rn |
        head -12
    if grep -q ' DIFFERENT' "$WINDOWED_LOG"; then
        grep ' DIFFERENT' "$WINDOWED_LOG" | head -20
        status=1
    fi
}

# preload PROGRAM: runs it in its folder with the library
preload()
{
    (cd "$(dirname "$1")" && LD_PRELOAD=$tmp/windowed.so LD_LIBRARY_PATH=$build/lib/ptxi:$build/.libs \
        timeout "${LIMIT:-20}" "./$(basename "$1")" < /dev/null > /dev/null 2>&1)
}

make_library()
{
    [ -e "$tmp/windowed.so" ] || "$CC" -std=gnu11 -O2 -shared -fPIC -I"$top_srcdir/include" -o "$tmp/windowed.so" \
        "$top_srcdir/tests/scale/windowed.c" -ldl -lpthread
}

for kind; do
    WINDOWED_LOG=$tmp/$kind.log
    case $kind in
    cases | matrix)
        part=${PTXI_CASES-}
        [ "$kind" = cases ] || part="${PTXI_PARTS:-1} $part"
        # shellcheck disable=SC2086 # two words
        WINDOWED_CLUSTERS=${WINDOWED_CLUSTERS-12} WINDOWED_WHOLE=${WINDOWED_WHOLE-64} \
            WINDOWED_TIMES=${WINDOWED_TIMES-3} "$build/tests/scale/verify_windows" "$kind" \
            "$top_srcdir/tests/conformance/$kind.rec" ${part:-''} || status=1
        ;;
    cudart)
        make_library || exit 1
        for p in "${CUDART_TESTS:-$build/tests/cudart/programs}"/*; do
            case $p in *.so | *.log) continue ;; esac
            [ ! -f "$p" ] || [ ! -x "$p" ] || preload "$p"
        done
        ;;
    samples)
        make_library || exit 1
        for d in "${SAMPLES_OUT:-$build/tests/programs/out}"/samples/*/; do
            name=$(basename "$d")
            case $name in
            clock | clock_nvrtc | simpleHyperQ) continue ;; # the results are times
            esac
            [ ! -x "$d$name" ] || preload "$d$name"
        done
        ;;
    *) echo "unknown: $kind"; exit 2 ;;
    esac
    report "$kind"
done
exit $status
