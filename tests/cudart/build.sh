#!/bin/sh
# Compiles programs of programs.txt with nvcc: build.sh OUT [NAME...]
# Environment: NVCC; JOBS compilers at once [2]; ARCH, options for the architecture [PTX of compute_90 only];
# CUDART, the kind of runtime [shared]. OUT/NAME.log has the messages of the compiler.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${NVCC:?}" "${JOBS:=2}" "${CUDART:=shared}"
: "${ARCH:=-gencode=arch=compute_90,code=compute_90}"
export NVCC JOBS ARCH CUDART

# Options and sources are words without spaces.
# shellcheck disable=SC2086
compile()
{
    out=$1 name=$2
    line=$(sed -n "s/^$name: //p" "$here/programs.txt")
    [ -n "$line" ] || { echo "programs.txt has no $name" >&2; return 1; }
    sources='' flags='' arch=$ARCH link="-L$(dirname "$(dirname "$NVCC")")/lib64/stubs -cudart $CUDART"
    for word in $line; do
        case $word in
        fatbin:*)
            base=$out/$(basename "${word#*:}" .cu)
            # These stay the same whatever the program is compiled for.
            "$NVCC" -arch=sm_90 -fatbin -o "$base.fatbin" "$here/${word#*:}" &&
                "$NVCC" -arch=compute_90 -ptx -o "$base.ptx" "$here/${word#*:}" || return 1 ;;
        library:*)
            "$NVCC" -shared -Xcompiler -fPIC $ARCH -cudart $CUDART -o "$out/$(basename "${word#*:}" .cu).so" \
                "$here/${word#*:}" || return 1 ;;
        generate:*)
            mkdir -p "$out/generated"
            base=$out/generated/$(basename "${word#*:}" .txt)
            awk -f "$here/calls.awk" "$here/${word#*:}" > "$base.gen.h" || return 1
            flags="$flags -I$out/generated" ;;
        -gencode=*) arch=$word ;;
        # The device linker makes machine code only.
        -rdc=true) flags="$flags $word" arch=-arch=sm_90 ;;
        -*) flags="$flags $word" ;;
        *) sources="$sources $here/$word" ;;
        esac
    done
    "$NVCC" $arch $flags $link -o "$out/$name" $sources
}

if [ "$1" = --one ]; then
    compile "$2" "$3" > "$2/$3.log" 2>&1 && exit
    echo "$3: does not compile; see $2/$3.log" >&2
    exit 1
fi
out=$1
shift
mkdir -p "$out"
[ $# -gt 0 ] || set -- $(sed -n 's/^\([a-z0-9_]*\): .*/\1/p' "$here/programs.txt")
printf '%s\n' "$@" | xargs -P "$JOBS" -n 1 "$0" --one "$out"
