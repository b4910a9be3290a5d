#!/bin/sh
# The nvcc that the projects of run.sh call: one architecture in place of all that they ask for, which saves most of the
# time. REAL_NVCC is the compiler.
set -- "$@" --end
while [ "$1" != --end ]; do
    case $1 in
    --generate-code=* | -gencode=* | -arch=* | --gpu-architecture=*) ;;
    -gencode | --generate-code | -arch | --gpu-architecture) shift ;;
    *) set -- "$@" "$1" ;;
    esac
    shift
done
shift
case " $* " in
*" -ptx "* | *" --ptx "*) exec "${REAL_NVCC:?}" -arch=compute_90 "$@" ;;
*) exec "${REAL_NVCC:?}" -gencode=arch=compute_90,code=compute_90 "$@" ;;
esac
