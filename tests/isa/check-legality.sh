#!/bin/sh
# Compares the front end with two versions of ptxas: the installed one, and the newest one, which newest-ptxas.sh finds
# or installs. check-legality.sh is run in the build folder. It prints the differences and a summary, and exits with
# status 1 if there are any. Verdicts of ptxas are kept in the folder legality.work, so that an interrupted run
# continues.
#
#   JOBS=2          runs of ptxas at the same time
#   FORMS=4         forms of each row at most (--limit of legality.py); each is judged for TARGETS=1 random target.
#                   FORMS=400 TARGETS=99 judges everything, and takes hours.
#   MODULES=400     mutated modules
#   MUTATIONS=20    mutations of each row of PTX 9.2 and later
#   LLVM_TESTS=DIR  llvm/test/CodeGen/NVPTX of LLVM's sources, of the version of llc in LLVM_BIN (llvm.py). Debian has
#                   both: `apt-get source llvm-toolchain-22`, and the package llvm-22. Without it, this step is skipped.
#   SEED=1          another seed draws other forms and mutations
set -u
isa=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON3:-python3} jobs=${JOBS:-2} seed=${SEED:-1}
work=legality.work summary= failed=0
mkdir -p "$work"

# step NAME COMMAND...
step()
{
    name=$1
    shift
    echo "== $name" >&2
    began=$(date +%s)
    if PYTHONDONTWRITEBYTECODE=1 nice "$python" "$@" > "$work/$name.out"; then
        result='no differences'
    else
        result="FAILED, $(wc -l < "$work/$name.out") lines in $work/$name.out"
        failed=1
    fi
    cat "$work/$name.out"
    summary="$summary
$name: $result, $(($(date +%s) - began)) s"
}

# compare NAME PTXAS SCRIPT [OPTION...]
compare()
{
    name=$1 ptxas=$2 script=$3
    shift 3
    step "$script-$name" "$isa/$script.py" --ptxas "$ptxas" --front-end tests/isa/verdicts --jobs "$jobs" \
        --seed "$seed" --store "$work/$name.verdicts" "$@"
}

with_table()
{
    compare "$@" --table tests/isa/legality
}

toolkit=$(sh "$isa/newest-ptxas.sh" tests/isa/toolkit) || exit 1
for which in installed newest; do
    ptxas=${PTXAS:-ptxas}
    [ $which = newest ] && ptxas=$toolkit/bin/ptxas
    if ! command -v "$ptxas" > /dev/null; then
        summary="$summary
$which: no ptxas, skipped"
        continue
    fi
    with_table $which "$ptxas" legality --limit "${FORMS:-4}" --targets "${TARGETS:-1}"
    compare $which "$ptxas" modules --count "${MODULES:-400}"
done
with_table newest "$toolkit/bin/ptxas" mutations --count "${MUTATIONS:-20}"
compare newest "$toolkit/bin/ptxas" wrappers "$toolkit/include/cccl/cuda/__ptx/instructions"
if [ -n "${LLVM_TESTS:-}" ]; then
    compare newest "$toolkit/bin/ptxas" llvm --bin "${LLVM_BIN:-/usr/lib/llvm-22/bin}" "$LLVM_TESTS"
else
    summary="$summary
llvm-newest: LLVM_TESTS is not set, skipped"
fi
echo "== summary$summary"
exit $failed
