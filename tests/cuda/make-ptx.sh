#!/bin/sh
# Rebuilds the PTX files of samples/, tests/bench/ and tests/cuda/. Arguments select outputs; the default is all.
# ptx.list gives the tool, the source and the flags of each file.
# Run this script from the top of the source tree. CUDA's tools must be in $CUDA_HOME or next to $NVCC.
#
# Debug information contains the path of the source directory. To keep the maintainer's path out of it, the script
# compiles copies of the sources in $PTX_BUILD_DIR. The default is a temporary directory.
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
        [ -x ./nvrtc ] ||
            cc -o nvrtc tests/cuda/nvrtc.c -I"$cuda/include" -L"$cuda/lib64" -Wl,-rpath,"$cuda/lib64" -lnvrtc
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
