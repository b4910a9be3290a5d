#!/bin/sh
# Fuzzes one target with libFuzzer, under ASan and UBSan. Needs clang. From a folder of its own:
#
#   SOURCE_TREE/tests/fuzz/fuzz.sh run|parse SECONDS [libFuzzer option ...]
#
# Builds in ., starts from the texts of the tree, keeps what it finds in ./corpus-TARGET and crashes in ./crash-*.
set -eu
target=$1 seconds=$2
shift 2
top=$(cd "$(dirname "$0")/../.." && pwd)
flags="-g1 -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"

[ -e Makefile ] || "$top/configure" -q --disable-shared CC="${CLANG:-clang}" CFLAGS="$flags ${CFLAGS:-}" ptxi_cv_x86_levels=no
make -s libptxi/isa/op.gen.h
make -s libptxi_core.la
${CLANG:-clang} $flags -fsanitize=fuzzer -DFUZZER -DPTXI_LANES=32 -D_GNU_SOURCE -std=gnu11 -I"$top/include" -I"$top/libptxi" -Ilibptxi \
    -o "fuzz_$target" "$top/tests/fuzz/fuzz_$target.c" .libs/libptxi_core.a -lffi -lpthread -lm
sh "$top/tests/fuzz/dict.sh" "$top" > ptx.dict

# Seeds: whole small files, and pieces of large ones from a function's head to its end.
mkdir -p "corpus-$target" seeds
for f in "$top"/tests/errors/*.ptx "$top"/tests/errors/run/*.ptx "$top"/samples/*.ptx "$top"/tests/bench/*.ptx "$top"/tests/cuda/*.ptx \
    "$top"/tests/fuzz/corpus/*; do
    [ "$(wc -c < "$f")" -lt 12000 ] && cp "$f" "seeds/$(basename "$f")" || awk -v out="seeds/$(basename "$f" .ptx)" '
        /^\.(version|target|address_size)/ { head = head $0 "\n" }
        /^(\.visible |\.weak )?\.(entry|func)/ { text = ""; inside = 1 }
        inside { text = text $0 "\n" }
        /^}/ { if (inside && length(text) < 8000 && n < 12) { file = out "." ++n ".ptx"; printf "%s%s", head, text > file; close(file) } inside = 0 }
    ' "$f"
done
exec "./fuzz_$target" -dict=ptx.dict -entropic=0 -max_len=4000 -timeout=20 -rss_limit_mb=3000 -max_total_time="$seconds" "$@" "corpus-$target" seeds
