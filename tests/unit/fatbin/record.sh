#!/bin/sh
# Makes the files that test_fatbin.c and tests/cmd read, with nvcc of CUDA 13. Run it in the directory of this script.
set -eu
: "${NVCC:=nvcc}"

# fatbin FILE TARGETS FLAG...: PTX for these targets, such as "80 90a"; "sm_90" adds GPU code
fatbin()
{
    out=$1 targets=$2
    shift 2
    for t in $targets; do
        set -- "$@" -gencode "arch=compute_${t#sm_},code=$(case $t in sm_*) echo "$t" ;; *) echo "compute_$t" ;; esac)"
    done
    "$NVCC" -fatbin "$@" -o "$out" target.cu
}

fatbin plain.fatbin 90 -compress-mode=none
fatbin lz4.fatbin 90 -compress-mode=speed
fatbin zstd.fatbin 90 -compress-mode=size
# With a name. nvcc -G also stores one, but its PTX has the path of the source file.
"$NVCC" -ptx -arch=sm_90 -o target.ptx target.cu
"$(dirname "$(command -v "$NVCC")")/fatbinary" --create=named.fatbin -64 -g --ident=target.cu \
    --image3=kind=ptx,sm=90,file=target.ptx
rm target.ptx
fatbin targets.fatbin "75 80 90 90a 100a 100f 120f 121" -compress-mode=size
fatbin specific.fatbin "90a 100f" -compress-mode=size
fatbin sass.fatbin sm_90
fatbin nvvm.fatbin "" -gencode arch=compute_90,code=lto_90

# Objects, with a suffix that .gitignore does not have. Only the sections of fat binaries are kept.
object()
{
    out=$1
    shift
    "$NVCC" -c -compress-mode=size -gencode arch=compute_90,code=compute_90 "$@" -o "$out"
    objcopy -j .nv_fatbin -j __nv_relfatbin "$out"
}

object part1.elf -rdc=true -DPART=1 part.cu
object part2.elf -rdc=true -DPART=2 part.cu
object whole.elf target.cu
object whole1.elf -DPART=2 part.cu
rm -f parts.ar
ar rcD parts.ar part1.elf part2.elf
ld -r -o programs.elf whole.elf whole1.elf part1.elf part2.elf # three programs: two, and one of two parts
rm whole1.elf
