#!/bin/sh
# Compiles CUDA C++ with clang, for scripts that call nvcc: translates the options of nvcc that build.sh uses.
# Environment: CLANG; CUDA_PATH, the toolkit.
set -u
: "${CLANG:?}" "${CUDA_PATH:?}"
for word; do
    shift
    case $word in
    -gencode=* | -arch=* | --extended-lambda) ;; # lambdas need no option
    -cudart) skipped=1 ;;
    shared) [ -n "${skipped-}" ] || set -- "$@" "$word" ;;
    # Without -Xclang, clang 22 passes it to the compilation for the GPU only.
    --default-stream=per-thread) set -- "$@" -DCUDA_API_PER_THREAD_DEFAULT_STREAM \
        -Xclang -fgpu-default-stream=per-thread ;;
    -Xcompiler) ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec "$CLANG" -O2 -w --no-offload-new-driver --cuda-path="$CUDA_PATH" --cuda-gpu-arch=sm_90 --cuda-include-ptx=all \
    -I"$CUDA_PATH/include/cccl" "$@" -L"$CUDA_PATH/lib64" -L"$CUDA_PATH/lib64/stubs" -lcudart
