#!/bin/sh
# Fuzzes one target with libFuzzer. Needs clang. From a folder of its own:
#
#   SOURCE_TREE/tests/fuzz/fuzz.sh run|parse SECONDS [libFuzzer option ...]
#
# Builds in ., under ASan and UBSan, or with FAST=1 under UBSan and LeakSanitizer, which runs several times as many texts a second;
# starts from seeds.sh, keeps what it finds in ./corpus-TARGET and crashes in ./crash-*.
set -eu
target=$1 seconds=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
flags="-g1 -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
# without the hooks on comparisons: the dictionary and mutate.c know the words
[ -z "${FAST:-}" ] || flags="-g1 -O2 -fsanitize=fuzzer-no-link,undefined,leak -fno-sanitize-coverage=trace-cmp -fsanitize-trap=undefined"
# vector code converts floats that no integer holds, and then leaves them out
flags="$flags -fno-sanitize=float-cast-overflow"

[ -e Makefile ] || "$top/configure" -q --disable-shared CC="${CLANG:-clang}" CFLAGS="$flags ${CFLAGS:-}" ptxi_cv_x86_levels=no
make -s libptxi/isa/op.gen.h
make -s libptxi_core.la
${CLANG:-clang} $flags -fsanitize=fuzzer -DFUZZER -DPTXI_LANES=32 -D_GNU_SOURCE -std=gnu11 -I"$top/include" -I"$top/libptxi" -Ilibptxi \
    $([ "$target" = parse ] || echo -Wl,--wrap=pthread_create) -o "fuzz_$target" "$here/fuzz_$target.c" "$here/mutate.c" .libs/libptxi_core.a -lffi -lpthread -lm
sh "$here/dict.sh" "$top" > ptx.dict
[ -e seeds ] || sh "$here/seeds.sh" "$top" seeds
mkdir -p "corpus-$target"
exec "./fuzz_$target" -dict=ptx.dict -entropic=0 -reduce_inputs=0 -max_len=2000 -timeout=20 -rss_limit_mb=3000 -max_total_time="$seconds" \
    "$@" "corpus-$target" seeds
