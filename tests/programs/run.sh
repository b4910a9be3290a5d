#!/bin/sh
# Builds published CUDA programs from unchanged source and runs them with the libraries of a build of libptxi.
#
#     run.sh CHECKOUT [SAMPLE...]             NVIDIA/cuda-samples, all of them or some
#     run.sh --polybench CHECKOUT [NAME...]   sgrauerg/polybenchGpu
#
# Each program judges itself: by its exit status and by words such as FAILED in its output. The results are
#   passed, failed (by status), wrong (by words), slow (stopped after LIMIT), unbuilt (does not compile),
#   waived   the program says that it cannot test anything here
#   left     left out: the program needs a library, a display or a machine that a CPU with libptxi does not have
# The script fails if a program has another result than passed or left and is not in samples.txt with a reason, or if
# a program that is in samples.txt passes. The last line is for programs: a count for each result, and seconds.
# Some samples take minutes. Use a build with optimization and without assertions, on a machine that is not busy.
# Environment: top_builddir, the build [build]; NVCC; OUT, where to build [tests/programs/out in the build]; JOBS, the
# number of compilers at once [2]; LIMIT seconds for a run [600]. What has been built in OUT is not built again.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${top_builddir:=$here/../../build}" "${JOBS:=2}" "${LIMIT:=600}"
: "${NVCC:=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
top_builddir=$(cd "$top_builddir" && pwd) || exit 1
: "${OUT:=$top_builddir/tests/programs/out}"
export REAL_NVCC="$NVCC" OUT LIMIT JOBS top_builddir NVCC

# ---- cuda-samples: one folder with a CMakeLists.txt for each sample

# Prints the runs with which a sample tests itself, one a line, from the list that comes with the samples: the number
# of GPUs, and the arguments. Prints nothing if the list says that the sample cannot test itself.
runs_of()
{
    python3 - "$1" "$checkout/test_args.json" << \EOF
import json
import sys

entry = json.load(open(sys.argv[2])).get(sys.argv[1], {})
if not entry.get('skip'):
    for run in entry.get('runs', [entry]):
        print(entry.get('min_gpus', 1), *run.get('args', []))
EOF
}

# Prints why a sample is left out without a try. Libraries of the CUDA toolkit contain their own static runtime, which
# cannot be replaced.
left_out()
{
    library=$(sed -n -E 's/.*CUDA::(cublas|cufft|curand|cusolver|cusparse|npp|nvjpeg).*/\1/p' "$1/CMakeLists.txt" |
        head -1)
    case $1 in
    */7_libNVVM/*) library=libNVVM ;;
    esac
    if [ -n "$library" ]; then
        echo "it needs $library"
    elif [ "$(runs_of "$(basename "$1")" | wc -l)" = 0 ]; then
        echo "it cannot test itself without a display"
    fi
}

# Compiles a sample. The first one that CMake configures leaves its findings about the compilers for all others.
build_sample()
{
    source=$1 dir=$OUT/samples/$(basename "$1") found=$OUT/samples/.compilers
    [ -e "$dir/.built" ] || [ -n "$(left_out "$source")" ] && return
    rm -rf "$dir"
    mkdir -p "$dir/CMakeFiles"
    [ ! -d "$found" ] || cp -R "$found"/* "$dir/CMakeFiles/"
    if cmake -S "$source" -B "$dir" -DCMAKE_CUDA_COMPILER="$here/nvcc.sh" -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared \
        > "$dir/log" 2>&1; then
        if [ ! -d "$found" ]; then
            mkdir -p "$found.$$" && cp -R "$dir"/CMakeFiles/[0-9]* "$found.$$"
            mv -T "$found.$$" "$found" 2> /dev/null || rm -rf "$found.$$" # another one was faster
        fi
        make -C "$dir" -k >> "$dir/log" 2>&1
    fi
    # Samples look for their data beside the program.
    [ ! -d "$source/data" ] || [ -e "$dir/data" ] || ln -s "$source/data" "$dir/data"
    touch "$dir/.built"
}

# What CMake or the compiler did not find
missing_library()
{
    sed -n -e 's/.*Could NOT find \([A-Za-z0-9]*\).*/\1/p' \
        -e 's/.* package configuration file provided by "\([A-Za-z0-9]*\)".*/\1/p' \
        -e 's/^ *\([A-Z_a-z]*_LIB\(RARY\)*\)$/\1/p' -e 's/^ *\(CUDA::[a-z_A-Z]*\)$/\1/p' \
        -e 's/.*[- ]\([A-Za-z0-9]*\)\( libraries\)* not found.*/\1/p' -e 's/.*is Windows-only.*/Windows/p' \
        -e 's/.*fatal error: \([^:]*\): No such file.*/\1/p' \
        -e 's/.*cannot find -l\([-_.a-zA-Z0-9]*\).*/lib\1/p' \
        -e "s/.*No rule to make target '[^']*\/\(lib[^']*\)'.*/\1/p" \
        -e 's/.*undefined reference to .cu[A-Za-z]*\(EGL\).*/\1/p' \
        "$1" | head -1
}

# Compiler errors
build_error()
{
    sed -n -e 's/.*: error: \(.*\)/\1/p' -e 's/.*undefined reference to \(.*\)/undefined reference to \1/p' \
        -e 's/.*ptxas fatal *: *//p' "$1" | head -1
}

# ---- running

# Prints the words of a program that say that its results are wrong, though its status is 0. LU makes launches without
# blocks, which are rejected and reported.
complaint()
{
    grep -v -i -e 'as expected' -e 'Assertion .* failed' -e '^error: the launch of kernel' \
        -e '(%) of bytes mismatched' "$1" |
        grep -i -m 1 -E '(^|[^a-z])FAIL(ED|URE)?([^a-z]|$)|[1-9] failures|mismatch|Error!'
}

# result NAME SECONDS RESULT REASON: a line of the table
result()
{
    printf '%s\t%s\t%s\t%s\n' "$3" "$2" "$1" "$(echo "$4" | tr '\t' ' ' | cut -c1-150)"
}

# Runs a program once, and prints the result.
run_once()
{
    name=$1 dir=$2 out=$2/$1.out
    shift 2
    t0=$(date +%s%N)
    (cd "$dir" && timeout -k 5 "$LIMIT" "$top_builddir/ptxi" exec "./$name" "$@" > "$out" 2>&1 < /dev/null)
    status=$?
    seconds=$(echo "$t0 $(date +%s%N)" | awk '{ printf "%.1f", ($2 - $1) / 1e9 }')
    case $status in
    0)
        if words=$(complaint "$out"); then
            result "$name" "$seconds" wrong "$words"
        elif words=$(grep -i -m 1 -E 'waiv(ed|ing)' "$out"); then
            result "$name" "$seconds" waived "$words"
        else
            result "$name" "$seconds" passed ""
        fi
        ;;
    2) result "$name" "$seconds" waived "$(grep -v '^ *$' "$out" | tail -1)" ;;
    124 | 137) result "$name" "$seconds" slow "more than $LIMIT s" ;;
    *)
        words=$(grep -i -m 1 -E 'error|fail' "$out" || tail -1 "$out")
        result "$name" "$seconds" failed "status $status: $words"
        ;;
    esac
}

# Arguments of samples are words without spaces.
# shellcheck disable=SC2086
run_program()
{
    name=$(basename "$1")
    runs_of "$name" > "$1.runs"
    while read -r gpus arguments; do
        PTXI_DEVICE=$(yes sm_90 | head -n "$gpus" | paste -s -d ,)
        export PTXI_DEVICE
        run_once "$name" "$(dirname "$1")" $arguments
    done < "$1.runs"
}

run_sample()
{
    name=$(basename "$1") dir=$OUT/samples/$(basename "$1") reason=$(left_out "$1")
    if [ -n "$reason" ]; then
        result "$name" 0 left "$reason"
        return
    fi
    programs=$(find "$dir" -maxdepth 1 -type f -perm -u+x ! -name '*.so*')
    library=$(missing_library "$dir/log")
    if [ -n "$programs" ]; then
        for program in $programs; do
            run_program "$program"
        done
    elif [ -n "$library" ]; then
        result "$name" 0 left "it needs $library"
    else
        result "$name" 0 unbuilt "$(build_error "$dir/log")"
    fi
}

# ---- the table

# The worst result of the runs of each program
summarize()
{
    awk -F '\t' '
        BEGIN { split("unbuilt failed wrong slow waived left passed", order, " "); for (i in order) rank[order[i]] = i }
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
                if (line !~ /^#/ && split(line, word, " ") > 1)
                    known[word[1]] = substr(line, length(word[1]) + 2)
        }
        {
            count[$1]++
            seconds += $2
            good = $1 == "passed" || $1 == "left"
            text = good || !($3 in known) ? $4 : known[$3]
            if (good == ($3 in known)) {
                text = text (good ? "passes, but is in samples.txt" : "  NOT IN samples.txt")
                unexpected++
            }
            printf "%-8s %7.1f s  %-36s %s\n", $1, $2, $3, text
        }
        END {
            split("passed waived left slow wrong failed unbuilt", order, " ")
            for (i = 1; i in order; i++)
                printf "%s=%d ", order[i], count[order[i]]
            printf "unexpected=%d seconds=%.1f\n", unexpected, seconds
            exit unexpected > 0
        }'
}

# ---- PolyBench: each program compares the results of the GPU with those of the CPU

# Options of the compiler for a program. cudaThreadSynchronize() does not exist any more in CUDA 13.
options_of()
{
    echo -O3 -DcudaThreadSynchronize=cudaDeviceSynchronize
    case $1 in
    # The program divides by differences that almost cancel. If the CPU rounds a product that the GPU does not round,
    # one of its 2 million values differs by more than the 2.5 % that the program permits.
    ADI) echo -fmad=false ;;
    # It calls a function of this file, which all other programs include.
    DOITGEN) echo -include "$checkout/common/polybench.c" ;;
    esac
}

# shellcheck disable=SC2046
build_polybench()
{
    source=$1 name=$(basename "$1")
    mkdir -p "$OUT/polybench"
    [ -x "$OUT/polybench/$name" ] && return
    "$here/nvcc.sh" $(options_of "$name") -cudart shared -o "$OUT/polybench/$name" "$source"/*.cu \
        > "$OUT/polybench/$name.log" 2>&1
}

# Prints the result of a program by what it says about its comparison.
judge_polybench()
{
    awk -F '\t' -v OFS='\t' -v out="$1" '
        {
            # The program has ended when its line comes.
            while ((getline line < out) > 0)
                if (line ~ /Non-Matching|Number of misses/) {
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
}

run_polybench()
{
    name=$(basename "$1") dir=$OUT/polybench
    if [ ! -x "$dir/$name" ]; then
        result "$name" 0 unbuilt "$(build_error "$dir/$name.log")"
        return
    fi
    # MVT is a race that a GPU always wins: a warp rewrites a word that another one has read, without a barrier.
    [ "$name" != MVT ] || export PTXI_SCHED=fair
    run_once "$name" "$dir" | judge_polybench "$dir/$name.out"
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
export checkout
mkdir -p "$OUT"
if [ $kind = sample ]; then
    sources=$(find "$checkout/Samples" -mindepth 3 -name CMakeLists.txt -exec grep -L add_subdirectory {} + |
        sed 's|/[^/]*$||' | LC_ALL=C sort)
else
    sources=$(find "$checkout/CUDA" -mindepth 2 -name '*.cu' -exec dirname {} \; | LC_ALL=C sort -u)
fi
if [ $# -gt 0 ]; then
    pattern=$(printf '/%s$|' "$@")
    sources=$(echo "$sources" | grep -E "${pattern%|}")
fi
echo "$sources" | xargs -P "$JOBS" -n 1 "$0" --build-$kind
for source in $sources; do
    run_$kind "$source"
done | tee "$OUT/$kind.runs" | summarize | judge
