#!/bin/sh
# Runs correct programs with all checks and prints what is reported, which should be nothing, or has to be explained:
#     clean.sh PTXI WORK_DIR PROGRAM...
# PTXI is the command of the build. WORK_DIR keeps the compiled programs. A PROGRAM is a source file, or a folder whose
# source files are one program, such as those of NVIDIA/cuda-samples. TOOLS are the checks (default race,sync,memory),
# NVCC_FLAGS and ARGUMENTS those of the compiler and of each program, TIME_LIMIT the seconds for each (default 120). The
# exit status is 1 if something is reported.
set -u
[ $# -ge 3 ] || { sed -n '2,8s/^# //p' "$0"; exit 2; }
ptxi=$(realpath "$1") out=$(mkdir -p "$2" && cd "$2" && pwd)
NVCC=${NVCC:-nvcc} tools=${TOOLS:-race,sync,memory} failed=0 clean=0 reported=0 broken=0
shift 2
for program; do
    name=$(basename "$program" .cu)
    if [ -d "$program" ]; then
        set -- $(find "$program" -name '*.cu' -o -name '*.cpp' -o -name '*.c') && dir=$program
    else
        set -- "$program" && dir=$(dirname "$program")
    fi
    if ! [ -x "$out/$name" ] && ! "$NVCC" -arch=compute_80 -cudart shared -lineinfo -I"$dir" ${NVCC_FLAGS-} "$@" \
        -o "$out/$name" > "$out/$name.log" 2>&1; then
        echo "$name: does not compile; see $out/$name.log"
        broken=$((broken + 1))
        continue
    fi
    (cd "$dir" && PTXI_CHECK=$tools PTXI_CHECK_OUTPUT="$out/$name.found" timeout "${TIME_LIMIT:-120}" \
        "$ptxi" exec "$out/$name" ${ARGUMENTS-}) > "$out/$name.out" 2>&1 < /dev/null
    status=$?
    if grep -qE '(error|warning): ' "$out/$name.found"; then
        reported=$((reported + 1)) failed=1
        echo "$name: exit status $status"
        sed -n '/\(error\|warning\): /,+6p' "$out/$name.found" | head -n "${LINES_SHOWN:-20}"
    else
        clean=$((clean + 1))
        echo "$name: no report, exit status $status"
    fi
done
echo "$clean without a report, $reported with reports, $broken not compiled"
exit $failed
