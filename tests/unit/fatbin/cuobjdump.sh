#!/bin/sh
# Compares the PTX that `ptxi extract` writes with that of NVIDIA's cuobjdump, for files of this directory and a program
# that nvcc compiles.
set -eu
command -v cuobjdump > /dev/null 2>&1 || { echo "skipped: cuobjdump not found"; exit 77; }
here=$(cd "${top_srcdir:?}/tests/unit/fatbin" && pwd)
ptxi=$(cd "${top_builddir:?}" && pwd)/ptxi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

# The texts of a directory, without blank lines, in an order that does not depend on the names of files.
texts()
{
    for f in "$1"/*.ptx; do
        grep -v '^[[:space:]]*$' "$f" | tr '\n' '\r'
        echo
    done | sort
}

compare()
{
    mkdir "$2-theirs"
    (cd "$2-theirs" && cuobjdump -all -xptx all "$1" > /dev/null)
    "$ptxi" extract -o "$2-ours" "$1" > /dev/null
    texts "$2-theirs" > theirs
    texts "$2-ours" > ours
    [ -s ours ]
    cmp theirs ours
    echo "$(wc -l < ours) texts of $2"
}

for f in plain.fatbin lz4.fatbin zstd.fatbin named.fatbin targets.fatbin specific.fatbin part1.elf programs.elf \
    parts.ar; do
    compare "$here/$f" "$f"
done
if command -v nvcc > /dev/null 2>&1; then
    nvcc -shared -Xcompiler -fPIC -arch=sm_90 -o program.so "$here/target.cu"
    compare "$tmp/program.so" program.so
fi
