#!/bin/sh
# Compiles the programs of programs.txt with nvcc, runs them with the libraries of this build, and compares their output
# with the recordings of a GPU (NAME.expected, made by record.sh): run.sh [NAME...]
# different.txt lists the lines that may differ. CUDART_TESTS is the folder of the compiled programs.
set -u
: "${top_srcdir:?}" "${top_builddir:?}" "${NVCC=}"
here=$top_srcdir/tests/cudart

skip()
{
    echo "the programs of the CUDA runtime did not run: $1"
    [ -z "${PTXI_REQUIRE_NVCC-}" ] || exit 1
    exit 77
}

[ -e "$top_builddir/bindings/cudart/.libs/libcudart.so.13" ] || { echo "this build has no shared library"; exit 77; }
[ -n "$NVCC" ] || skip "configure found no nvcc"
out=${CUDART_TESTS:-$top_builddir/tests/cudart/programs}
[ $# -gt 0 ] || set -- $(sed -n 's/^\([a-z0-9_]*\): .*/\1/p' "$here/programs.txt")
export NVCC
rm -rf "$out"
"$here/build.sh" "$out" "$@" || { for name; do [ -x "$out/$name" ] || cat "$out/$name.log"; done; exit 1; }
LD_LIBRARY_PATH=$top_builddir/bindings/cudart/.libs:$top_builddir/bindings/cuda/.libs:$top_builddir/.libs
export LD_LIBRARY_PATH

# The programs are compiled without sanitizers, but the library needs their runtime from the start of the process.
case ${SANITIZE-} in
*address*) PRELOAD=$("${CC:-gcc}" -print-file-name=libasan.so) ;;
*thread*) PRELOAD=$("${CC:-gcc}" -print-file-name=libtsan.so) ;;
*) PRELOAD= ;;
esac
export PRELOAD ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# Prints the lines that differ, without those that different.txt permits and the calls that crash NVIDIA's runtime.
differences()
{
    {
        sed -n "s/^$1: \(.*\) | .*/\1/p" "$here/different.txt"
        sed -n 's/^\(.*:\) crash$/\1/p' "$here/$1.expected"
    } > "$out/$1.permitted"
    diff "$here/$1.expected" "$out/$1.out" | awk -v permitted="$out/$1.permitted" '
        BEGIN { while ((getline line < permitted) > 0) prefix[++n] = line }
        /^[<>]/ {
            text = substr($0, 3)
            for (i = 1; i <= n; i++)
                if (index(text, prefix[i]) == 1)
                    next
            print (/^</ ? "    the GPU: " : "    here:    ") text
        }'
}

failed=0
for name; do
    if [ ! -e "$here/$name.expected" ]; then
        echo "$name: not recorded yet; see record.sh"
        failed=1
        continue
    fi
    "$here/run-one.sh" "$out" "$name"
    differences "$name" > "$out/$name.diff"
    [ -s "$out/$name.diff" ] || continue
    echo "$name:"
    cat "$out/$name.diff"
    head -c 1000 "$out/$name.err"
    failed=1
done
[ "$failed" = 1 ] || echo "$# programs print what they print on a GPU"
exit "$failed"
