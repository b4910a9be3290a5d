#!/bin/sh
# Checks that libcuda.so.1 exports each function that cuda.h and cudaProfiler.h of the CUDA toolkit declare, in all
# versions and with the suffixes for per-thread default streams. Without a toolkit, the test is skipped.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}" "${NM:=nm}"
cuda=${CUDA_HOME:-/usr/local/cuda}/include
cc=${CC:-cc}
library=$top_builddir/bindings/cuda/.libs/libcuda.so.1
if [ ! -f "$cuda/cuda.h" ]; then
    echo "check-cuda-names: skipped: no cuda.h in $cuda (set CUDA_HOME)"
    exit 77
fi
if [ ! -e "$library" ]; then
    echo "check-cuda-names: skipped: this build has no shared library (--disable-shared)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The header selects versions and suffixes by macros.
for variant in "" -DCUDA_API_PER_THREAD_DEFAULT_STREAM -D__CUDA_API_VERSION_INTERNAL; do
    for header in cuda.h cudaProfiler.h; do
        echo "#include <$header>" | $cc $variant -E -P -I"$cuda" -
    done
done | grep -oE 'CUresult +cu[A-Z][A-Za-z0-9_]*\(' | grep -oE 'cu[A-Z][A-Za-z0-9_]*' | sort -u >"$work/declared"
$NM -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
comm -23 "$work/declared" "$work/exported" >"$work/missing"
count=$(wc -l <"$work/declared")
if [ -s "$work/missing" ]; then
    echo "cuda.h declares these functions, but libcuda.so.1 does not export them (see bindings/cuda/names.txt):"
    cat "$work/missing"
    exit 1
fi

# versions.txt has the first version of each function, and with a suffix those of later variants.
sed -n 's/^ *typedef .*PFN_\(cu[A-Za-z0-9]*\(_[A-Z]*\)*\)_v\([0-9]*\)\(_pt[ds][sz]\)\{0,1\})(.*/\1 \3/p' \
    "$cuda/cudaTypedefs.h" | sort -u >"$work/typedefs"
awk '!/^#/ { for (i = 2; i <= NF; i++) print "cu" $i, $1 }' "$top_srcdir/bindings/cuda/versions.txt" >"$work/versions"
awk 'FNR == NR { known[$0]; if (!($1 in first) || $2 < first[$1]) first[$1] = $2; next }
    /_v[0-9]+ / { sub(/_v[0-9]+ /, " "); if (!($0 in known)) print "versions.txt: no such version: " $0; next }
    $1 in first && $2 != first[$1] { print "versions.txt: " $0 " instead of " first[$1] }
    { delete first[$1] }
    END { for (name in first) print "versions.txt lacks " name, first[name] }' \
    "$work/typedefs" "$work/versions" >"$work/wrong"
if [ -s "$work/wrong" ]; then
    cat "$work/wrong"
    exit 1
fi
echo "libcuda.so.1 exports all $count functions of cuda.h"
[ "$count" -ge 500 ]
