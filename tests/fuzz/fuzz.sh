#!/bin/sh
# Fuzzes one target with libFuzzer. Requires clang. Run it in a separate directory:
#
#   SOURCE_TREE/tests/fuzz/fuzz.sh run|parse|fatbin|snapshot SECONDS [libFuzzer option ...]
#
# Builds in the current directory with ASan and UBSan. FAST=1 selects UBSan and LeakSanitizer, which is several times
# faster. The initial corpus comes from seeds.sh. New inputs go to ./corpus-TARGET, crashes to ./crash-*.
set -eu
target=$1 seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
flags="-g1 -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
# no comparison tracing: the dictionary and mutate.c already provide the words
[ -z "${FAST:-}" ] ||
    flags="-g1 -O2 -fsanitize=fuzzer-no-link,undefined,leak -fno-sanitize-coverage=trace-cmp -fsanitize-trap=undefined"
# vector code converts out-of-range floats to integers and then discards the results
flags="$flags -fno-sanitize=float-cast-overflow"

[ -e Makefile ] ||
    "$top/configure" -q --disable-shared CC="${CLANG:-clang}" CFLAGS="$flags ${CFLAGS:-}" ptxi_cv_x86_levels=no
make -s libptxi/isa/op.gen.h
make -s libptxi_core.la
libs=$(sed -n 's/^\(LIBFFI\|LZ4\|ZSTD\)_LIBS = //p' Makefile)
${CLANG:-clang} $flags -fsanitize=fuzzer -DFUZZER -DPTXI_LANES=32 -D_GNU_SOURCE -std=gnu11 \
    -I"$top/include" -I"$top/libptxi" -Ilibptxi $([ "$target" != run ] || echo -Wl,--wrap=pthread_create) \
    -o "fuzz_$target" "$here/fuzz_$target.c" $(case $target in run | parse) echo "$here/mutate.c" ;; esac) \
    .libs/libptxi_core.a $libs -lpthread -lm
mkdir -p "corpus-$target"
if [ "$target" = snapshot ]; then # it makes its first files when it starts
    mkdir -p seeds-snapshot
    exec ./fuzz_snapshot -max_len=80000 -timeout=20 -rss_limit_mb=3000 -max_total_time="$seconds" "$@" \
        corpus-snapshot seeds-snapshot
fi
if [ "$target" = fatbin ]; then # binary files, so without a dictionary of PTX
    exec ./fuzz_fatbin -max_len=8000 -timeout=20 -rss_limit_mb=3000 -max_total_time="$seconds" "$@" \
        corpus-fatbin "$top/tests/unit/fatbin"
fi
sh "$here/dict.sh" "$top" > ptx.dict
[ -e seeds ] || sh "$here/seeds.sh" "$top" seeds
exec "./fuzz_$target" -dict=ptx.dict -entropic=0 -reduce_inputs=0 -max_len=2000 -timeout=20 -rss_limit_mb=3000 \
    -max_total_time="$seconds" "$@" "corpus-$target" seeds
