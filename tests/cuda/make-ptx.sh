#!/bin/sh
# Makes the PTX of samples/, tests/bench/ and tests/cuda/ again: all of it, or the named outputs. ptx.list says which tool makes which file
# from which source with which flags. Run from the top of the source tree, with CUDA's tools in $CUDA_HOME or beside $NVCC.
#
# Debug information names the directory of compilation; so that it is not the maintainer's, sources are compiled as copies in
# $PTX_BUILD_DIR (default: a new directory that is removed afterwards).
set -eu
nvcc=${NVCC:-nvcc}
cuda=${CUDA_HOME:-$(dirname "$(dirname "$(command -v "$nvcc")")")}
top=$PWD
if [ -n "${PTX_BUILD_DIR-}" ]; then
    dir=$PTX_BUILD_DIR
    mkdir -p "$dir"
else
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
fi
mkdir -p "$dir/samples" "$dir/tests/bench" "$dir/tests/cuda"
cp samples/*.cu "$dir/samples"
cp tests/bench/*.cu "$dir/tests/bench"
cp tests/cuda/*.cu tests/cuda/*.h tests/cuda/*.def tests/cuda/nvrtc.c "$dir/tests/cuda"
cd "$dir"

grep -v '^#' "$top/tests/cuda/ptx.list" | while read -r tool source output flags; do
    [ -n "$tool" ] || continue
    if [ $# -gt 0 ]; then
        case " $* " in *" $output "*) ;; *) continue ;; esac
    fi
    echo "$output"
    # shellcheck disable=SC2086
    case $tool in
    nvcc)
        "$nvcc" -ptx $flags -o out.ptx "$source"
        ;;
    nvrtc)
        [ -x ./nvrtc ] || cc -o nvrtc tests/cuda/nvrtc.c -I"$cuda/include" -L"$cuda/lib64" -Wl,-rpath,"$cuda/lib64" -lnvrtc
        ./nvrtc "$source" out.ptx -I"$(dirname "$source")" $flags
        ;;
    clang)
        clang -x cuda --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version $flags -S -o out.ptx "$source"
        ;;
    *)
        echo "make-ptx.sh: no tool $tool" >&2
        exit 2
        ;;
    esac
    sed "s|$dir/||g" out.ptx > "$top/$output"
done
