#!/bin/sh
# Runs the programs with labels of HiRace's artifact (github.com/JohnJacobsonIII/HiRace-Artifact-SC24) with the race
# checker, and compares each result with the label, which is part of the name:
#     hirace.sh SUITE_DIR [PTXI [WORK_DIR [GRAPH...]]]
# SUITE_DIR is a copy of the artifact, PTXI the command of the build (default ./ptxi). WORK_DIR keeps the compiled
# programs. A GRAPH is the name of a file of indigo/input; default: those of at least 100 nodes. Blocks and threads are
# those of the artifact. The exit status is 1 if a race is missed or a report is false.
set -u
suite=$(cd "$1" && pwd) ptxi=$(realpath "${2:-./ptxi}") out=${3:-$(mktemp -d)}
out=$(mkdir -p "$out" && cd "$out" && pwd)
NVCC=${NVCC:-nvcc} blocks=1024 threads=256
[ $# -gt 3 ] && shift 3 && graphs=$* ||
    graphs="DAG_100n_200e.egr DAG_200n_400e.egr counterDAG_200n_1000e.egr power_law_200n_1000e.egr"
. "$(dirname "$0")/judge.sh"
export NVCC suite out
find "$suite/indigo/indigo_sources" -name '*.cu' | sort > "$out/sources.txt"
xargs -P "$(nproc)" -I{} sh -c 'name=$(basename "{}" .cu)
    [ -x "$out/$name" ] || $NVCC -arch=compute_80 -cudart shared -lineinfo -I"$suite/indigo/indigo_include" "{}" \
        -o "$out/$name" > "$out/$name.log" 2>&1' < "$out/sources.txt"
for graph in $graphs; do
    while read -r source; do
        name=$(basename "$source" .cu)
        case $name in *atomicBug* | *guardBug* | *syncBug* | *raceBug*) label=race ;; *) label=clean ;; esac
        judge "$name" $label "$suite/indigo/input/$graph" $threads $blocks < /dev/null
    done < "$out/sources.txt"
    verdict "$graph"
done
exit $failed
