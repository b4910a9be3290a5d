#!/bin/sh
# Tests `ptxi` with programs that nvcc compiles: the ways to link the runtime, `ptxi exec`, `ptxi doctor`, and CUDA C++
# as input of the other commands. Without nvcc the test is skipped.
set -u
: "${top_srcdir:?}" "${top_builddir:?}" "${PTXI:?}"

skip()
{
    echo "tests/cmd/nvcc.sh skipped: $1"
    exit 77
}

[ -z "${SANITIZE-}" ] || skip "programs are not linked with the sanitizers of this build"
[ -e "$top_builddir/lib/ptxi/libcudart.so" ] || skip "this build has no shared libraries"
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
command -v nvcc > /dev/null || skip "nvcc not found"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset PTXI_DEVICE PTXI_SCHED PTXI_SCHED_SEED PTXI_WORKERS NVCC NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS LD_LIBRARY_PATH
source=$top_srcdir/tests/cmd/runtime.cu
failed=0

# expect STATUS TEXT COMMAND...: the command ends with the status, and its output contains the text.
expect()
{
    status=$1 text=$2
    shift 2
    "$@" > "$tmp/output" 2>&1
    got=$?
    [ $got = "$status" ] && grep -qF -e "$text" "$tmp/output" && return
    echo "'$*' ended with status $got instead of $status, or did not print '$text':"
    cat "$tmp/output"
    failed=1
}

# build NAME OPTIONS...
build()
{
    name=$1
    shift
    nvcc "$@" -o "$tmp/$name" "$source" > "$tmp/log" 2>&1 && return
    cat "$tmp/log"
    skip "nvcc does not link programs here"
}

build plain -arch=sm_90 $("$PTXI" config --libs)
build shared -arch=sm_90 -cudart shared
build static -arch=sm_90
build missing -arch=sm_90 -cudart shared -DMISSING -shared -Xcompiler -fPIC
build sass -gencode arch=compute_90,code=sm_90 -cudart shared
for program in plain shared; do
    expect 0 '0 2 4 6' "$PTXI" exec "$tmp/$program"
    expect 0 'can run' "$PTXI" doctor "$tmp/$program"
done
expect 1 'the CUDA runtime is linked into the file' "$PTXI" doctor "$tmp/static"
expect 1 'functions that this library does not have: cudaMissing' "$PTXI" doctor "$tmp/missing"
expect 1 'no PTX, only code for sm_90' "$PTXI" doctor "$tmp/sass"
expect 1 'contains NVIDIA' "$PTXI" exec "$tmp/static"
(source=$top_srcdir/tests/cmd/pool.cu && build pool -arch=sm_90 -cudart shared)
(source=$top_srcdir/tests/cmd/volume.cu && build volume -arch=sm_90 -cudart shared)
expect 0 '0 errors' "$PTXI" exec --check=init "$tmp/volume"
expect 86 '[init.output]' "$PTXI" exec --check=init "$tmp/volume" part
expect 0 'checked 2 launches' "$PTXI" exec --check=memory,init,race "$tmp/pool"
expect 86 'end 700' "$PTXI" exec --check=memory,init "$tmp/pool" leave
expect 86 '[memory.out-of-bounds]' "$PTXI" exec --check=memory,init "$tmp/pool" leave
expect 86 '[init.output]' "$PTXI" exec --check=memory,init "$tmp/pool" read it
(source=$top_srcdir/tests/cmd/failing.cu && build failing -arch=sm_90 -cudart shared)
(source=$top_srcdir/tests/cmd/failing.cu && build threads -arch=sm_90 -cudart shared -default-stream per-thread)
expect 86 'error: a call fails: cudaMemcpy returns cudaError' "$PTXI" exec --check=api "$tmp/failing" copy
expect 86 'error: a call fails: cudaMemcpy_ptds returns cudaError' "$PTXI" exec --check=api "$tmp/threads" copy
expect 86 'cudaLaunchKernel returns cudaErrorInvalid' "$PTXI" exec --check=all,api "$tmp/failing" launch
expect 86 ': 1 errors' "$PTXI" exec --check=all,api "$tmp/failing" launch
expect 0 'cudaErrorInvalidValue' "$PTXI" exec "$tmp/failing" copy
mkdir "$tmp/package" && cp "$tmp/static" "$tmp/package/core.so"
if command -v python3 > /dev/null; then
    expect 1 'what needs these files cannot run (1 problem)' env PYTHONPATH="$tmp" "$PTXI" doctor package
fi

arguments="-k scale -b 4 -a f32[4]=ramp -a f32=2 -o 0"
# shellcheck disable=SC2086
expect 0 '0: 0 2 4 6' "$PTXI" run $arguments "$source"
expect 0 'sm_80, 1 kernel' "$PTXI" check -d sm_80 "$source"
expect 0 'sm_90a, 1 kernel' "$PTXI" list -d sm_90a "$source"
expect 0 'entry _Z5scalePff' "$PTXI" dump "$source"
echo '__global__ void f(int *p) { *q = 1; }' > "$tmp/bad.cu"
expect 1 'identifier "q" is undefined' "$PTXI" check "$tmp/bad.cu"
expect 1 'No such file' "$PTXI" check "$tmp/nothing.cu"

# NVRTC compiles kernels only.
sed '/^int main/,$d; /^#include/d' "$source" > "$tmp/kernel.cu"
if NVCC=/nothing "$PTXI" check "$tmp/kernel.cu" 2>&1 | grep 'needs nvcc or NVRTC'; then
    echo "not tested: NVRTC"
else
    # shellcheck disable=SC2086
    expect 0 '0: 0 2 4 6' env NVCC=/nothing "$PTXI" run $arguments "$tmp/kernel.cu"
    expect 1 'identifier "q" is undefined' env NVCC=/nothing "$PTXI" check "$tmp/bad.cu"
fi
exit $failed
