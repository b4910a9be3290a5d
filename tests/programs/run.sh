#!/bin/sh
# Builds published CUDA programs from unchanged source and runs them with the libraries of a build of libptxi.
#
#     run.sh CHECKOUT [SAMPLE...]             NVIDIA/cuda-samples, all of them or some
#     run.sh --polybench CHECKOUT [NAME...]   sgrauerg/polybenchGpu
#
# Each program judges itself: its exit status, and words such as FAILED in its output. samples.txt lists the programs
# that do not pass, with the reason. The script fails if another one does not pass, or if one of these passes.
# Environment: top_builddir, the build [build]; NVCC; OUT, where to build [tests/programs/out in the build]; JOBS, the
# number of compilers at once [2]; LIMIT seconds for a run [120]. What has been built in OUT is not built again.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${top_builddir:=$here/../../build}" "${JOBS:=2}" "${LIMIT:=120}"
: "${NVCC:=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
top_builddir=$(cd "$top_builddir" && pwd) || exit 1
: "${OUT:=$top_builddir/tests/programs/out}"
export REAL_NVCC="$NVCC" OUT LIMIT JOBS top_builddir NVCC

# ---- cuda-samples: one folder with a CMakeLists.txt for each sample

# Compiles a sample. The first one that CMake configures leaves its findings about the compilers for all others.
build_sample()
{
    source=$1 dir=$OUT/samples/$(basename "$1") found=$OUT/samples/.compilers
    [ -e "$dir/.built" ] && return
    rm -rf "$dir"
    mkdir -p "$dir/CMakeFiles"
    [ ! -d "$found" ] || cp -R "$found"/* "$dir/CMakeFiles/"
    if cmake -S "$source" -B "$dir" -DCMAKE_CUDA_COMPILER="$here/nvcc.sh" -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared \
        > "$dir/log" 2>&1; then
        if [ ! -d "$found" ]; then
            mkdir -p "$found.$$" && cp -R "$dir"/CMakeFiles/[0-9]* "$found.$$" && mv "$found.$$" "$found"
        fi
        make -C "$dir" -k >> "$dir/log" 2>&1
    fi
    # Samples look for their data beside the program.
    [ ! -d "$source/data" ] || [ -e "$dir/data" ] || ln -s "$source/data" "$dir/data"
    touch "$dir/.built"
}

# Prints the argument lists with which a sample tests itself, one a line, from the list that comes with the samples.
arguments_of()
{
    python3 - "$1" "$checkout/test_args.json" << \EOF
import json
import sys

entry = json.load(open(sys.argv[2])).get(sys.argv[1], {})
for run in entry.get('runs', [entry]):
    print(' '.join(run.get('args', [])))
EOF
}

# Why there is no program: the first error of CMake or of the compiler.
build_error()
{
    sed -n -e 's/^ *Target "[^"]*" links to:.*/it needs a library that is not installed/p' \
        -e 's/.*Could NOT find \([A-Za-z0-9]*\).*/it needs \1/p' -e 's/.*- \([A-Za-z]*\) not found.*/it needs \1/p' \
        -e 's/.*fatal error: \([^:]*\): No such file.*/it needs \1/p' -e 's/.*: error: \(.*\)/\1/p' \
        -e 's/.*undefined reference to \(.*\)/it does not link: \1/p' \
        -e 's/.*cannot find \(-l[a-zA-Z]*\).*/it needs \1/p' \
        "$1" | head -1
}

# Words by which programs say that their results are wrong, though their status is 0
says_failed()
{
    grep -v -e 'as expected' -e Assertion "$1" | grep -q -i -E 'FAILED|Result = FAIL|(^|[^a-z])FAIL!|mismatch'
}

# Runs a program once, and prints a line: result, seconds, name, reason.
run_once()
{
    name=$1 dir=$2
    shift 2
    t0=$(date +%s%N)
    (cd "$dir" && timeout -k 5 "$LIMIT" "./$name" "$@" > "$dir/$name.out" 2>&1 < /dev/null)
    status=$?
    seconds=$(echo "$t0 $(date +%s%N)" | awk '{ printf "%.1f", ($2 - $1) / 1e9 }')
    reason=
    case $status in
    0)
        result=passed
        ! says_failed "$dir/$name.out" || result=wrong reason=$(grep -i -m 1 -e FAIL -e mismatch "$dir/$name.out") ;;
    2) result=waived reason=$(tail -1 "$dir/$name.out") ;;
    124 | 137) result=slow reason="more than $LIMIT s" ;;
    *)
        result=failed
        reason="status $status: $(grep -i -m 1 -E 'error|fail' "$dir/$name.out" || tail -1 "$dir/$name.out")" ;;
    esac
    printf '%s\t%s\t%s\t%s\n' "$result" "$seconds" "$name" "$(echo "$reason" | cut -c1-150)"
}

# Arguments of samples are words without spaces.
# shellcheck disable=SC2086
run_sample()
{
    name=$(basename "$1") dir=$OUT/samples/$(basename "$1")
    programs=$(find "$dir" -maxdepth 1 -type f -perm -u+x ! -name '*.so*')
    if [ -z "$programs" ]; then
        printf 'unbuilt\t0\t%s\t%s\n' "$name" "$(build_error "$dir/log" | cut -c1-150)"
        return
    fi
    for program in $programs; do
        base=$(basename "$program")
        arguments_of "$base" | while IFS= read -r arguments; do
            run_once "$base" "$dir" $arguments
        done
    done
}

# The worst result of the runs of each program
summarize()
{
    awk -F '\t' '
        BEGIN { split("unbuilt failed wrong slow waived passed", order, " "); for (i in order) rank[order[i]] = i }
        { seconds[$3] += $2 }
        !($3 in result) { names[++n] = $3 }
        !($3 in result) || rank[$1] < rank[result[$3]] { result[$3] = $1; reason[$3] = $4 }
        END {
            for (i = 1; i <= n; i++) {
                name = names[i]
                printf "%s\t%.1f\t%s\t%s\n", result[name], seconds[name], name, reason[name]
            }
        }'
}

# Prints the table, and compares it with the list of the programs that do not pass.
judge()
{
    awk -F '\t' -v list="$here/samples.txt" '
        BEGIN {
            while ((getline line < list) > 0)
                if (line !~ /^#/ && split(line, word, " ") > 1) {
                    known[word[1]] = substr(line, length(word[1]) + 2)
                }
        }
        {
            count[$1]++
            good = $1 == "passed"
            text = good ? "" : ($3 in known ? known[$3] : $4)
            if (good == ($3 in known)) {
                text = good ? "passes, but is in samples.txt" : "NOT IN samples.txt: " $4
                wrong++
            }
            printf "%-8s %7.1f s  %-36s %s\n", $1, $2, $3, text
        }
        END {
            for (k in count)
                printf "%d %s  ", count[k], k
            printf "\n"
            exit wrong > 0
        }'
}

# ---- PolyBench: each program compares the results of the GPU with those of the CPU
# cudaThreadSynchronize() does not exist any more in CUDA 13.

build_polybench()
{
    source=$1 name=$(basename "$1")
    mkdir -p "$OUT/polybench"
    [ -x "$OUT/polybench/$name" ] && return
    "$here/nvcc.sh" -O3 -DcudaThreadSynchronize=cudaDeviceSynchronize -cudart shared -o "$OUT/polybench/$name" \
        "$source"/*.cu > "$OUT/polybench/$name.log" 2>&1
}

run_polybench()
{
    name=$(basename "$1") dir=$OUT/polybench
    if [ ! -x "$dir/$name" ]; then
        printf 'unbuilt\t0\t%s\t%s\n' "$name" "$(build_error "$dir/$name.log" | cut -c1-150)"
        return
    fi
    # MVT is a race that a GPU always wins: a warp rewrites a word that another one has read, without a barrier.
    [ "$name" != MVT ] || export PTXI_SCHED=fair
    run_once "$name" "$dir" | awk -F '\t' -v OFS='\t' -v out="$dir/$name.out" '
        {
            # The program has ended when its line comes.
            while ((getline line < out) > 0)
                if (line ~ /Non-Matching/) {
                    checked = 1
                    if (line !~ /: 0$/)
                        wrong = line
                }
            if ($1 == "passed" && wrong != "") {
                $1 = "wrong"
                $4 = wrong
            } else if ($1 == "passed" && !checked) {
                $1 = "waived"
                $4 = "it has no check"
            }
            print
        }'
    unset PTXI_SCHED
}

case ${1-} in
--build-sample) build_sample "$2"; exit ;;
--build-polybench) build_polybench "$2"; exit ;;
esac
kind=sample
if [ "${1-}" = --polybench ]; then
    kind=polybench
    shift
fi
checkout=$(cd "${1:?usage: run.sh [--polybench] CHECKOUT [NAME...]}" && pwd) || exit 1
shift
mkdir -p "$OUT"
if [ $kind = sample ]; then
    sources=$(find "$checkout/Samples" -mindepth 3 -name CMakeLists.txt -exec dirname {} \; | LC_ALL=C sort)
else
    sources=$(find "$checkout/CUDA" -mindepth 2 -name '*.cu' -exec dirname {} \; | LC_ALL=C sort -u)
fi
if [ $# -gt 0 ]; then
    pattern=$(printf '/%s$|' "$@")
    sources=$(echo "$sources" | grep -E "${pattern%|}")
fi
# The first one alone, for what CMake finds out about the compilers
echo "$sources" | head -1 | xargs -n 1 "$0" --build-$kind
echo "$sources" | xargs -P "$JOBS" -n 1 "$0" --build-$kind
LD_LIBRARY_PATH=$top_builddir/bindings/cudart/.libs:$top_builddir/bindings/cuda/.libs:$top_builddir/.libs
LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(dirname "$(dirname "$NVCC")")/lib64
export LD_LIBRARY_PATH
for source in $sources; do
    run_$kind "$source"
done | tee "$OUT/$kind.runs" | summarize | judge
