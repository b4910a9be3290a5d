#!/bin/sh
# Runs the ScoR suite (github.com/csl-iisc/ScoR) with the race checker and compares the result of each program with its
# label: scor.sh SUITE_DIR [PTXI [WORK_DIR]]
# SUITE_DIR is a copy of the suite, PTXI the command of the build (default ./ptxi). WORK_DIR keeps the compiled
# programs. A race is found if there is an error or a warning. The exit status is 1 if one is missed or a report is
# false.
set -u
suite=$(cd "$1" && pwd) ptxi=$(realpath "${2:-./ptxi}") out=${3:-$(mktemp -d)}
out=$(mkdir -p "$out" && cd "$out" && pwd)
export NVCC="${NVCC:-nvcc}"
flags="-arch=compute_80 -cudart shared -lineinfo"
. "$(dirname "$0")/judge.sh"

build_app()
{
    app=$1 racey=$2
    [ -x "$out/$app.$racey" ] && return
    copy=$out/build.$app.$racey
    cp -r "$suite/benchmarks/$app" "$copy" &&
        make -s -C "$copy" RACEY="$racey" ARCH="$flags" > "$out/$app.$racey.log" 2>&1 &&
        mv "$copy/$app" "$out/$app.$racey"
    rm -rf "$copy"
}

# The input of an application. They read it from standard input.
input_of()
{
    case $1 in
    1dconv) awk 'BEGIN { print 9, 200000; for (i = 0; i < 200009; i++) print i % 7 }' ;;
    graph-*) awk 'BEGIN { n = 60; print n, 4 * (n - 9); for (i = 0; i < n - 9; i++) for (k = 1; k <= 4; k++)
                          print i, i + k * 2 }' ;;
    matrix-multiplication) awk 'BEGIN { print 64, 64, 64; for (i = 0; i < 8192; i++) print i % 5 }' ;;
    reduction) awk 'BEGIN { print 40000; for (i = 0; i < 40000; i++) print i % 3 }' ;;
    rule-110) awk 'BEGIN { print 20000, 3; for (i = 0; i < 20000; i++) print i % 2 }' ;;
    uts) echo 3 3 1 ;;
    esac
}

for source in "$suite"/microbenchmarks/src/*.cu; do
    name=$(basename "$source" .cu)
    [ -x "$out/$name" ] || $NVCC $flags "$source" -o "$out/$name" 2> "$out/$name.log"
    case $name in norace*) label=clean ;; *) label=race ;; esac
    judge "$name" $label < /dev/null
done
verdict "microbenchmarks"
for app in 1dconv graph-coloring graph-connectivity matrix-multiplication reduction rule-110 uts; do
    for racey in 0 1; do
        build_app $app $racey
        [ $racey = 1 ] && label=race || label=clean
        input_of $app > "$out/$app.in"
        # uts needs blocks that advance together
        [ $app = uts ] && export PTXI_SCHED=fair || unset PTXI_SCHED
        judge "$app.$racey" $label < "$out/$app.in"
    done
done
verdict "applications"
exit $failed
