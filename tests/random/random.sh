#!/bin/sh
# Runs recorded random programs, in PTX and in CUDA C++, and compares the results with those of a GPU. Sanitizers are
# slow, so sanitizer builds run only a part of them.
here=$top_srcdir/tests/random
random=$top_builddir/tests/random/random
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for programs in programs cuda; do
    gzip -dc "$here/$programs.ptx.gz" > "$tmp/$programs.ptx" || exit 1
    "$random" check "$tmp/$programs.ptx" ${SANITIZE:+7} || exit 1

    # A wrong digest must be detected.
    sed 's/^\(\/\/= [0-9]* \)[0-9a-f]*/\10123456789abcdef/' "$tmp/$programs.ptx" > "$tmp/wrong.ptx"
    if "$random" check "$tmp/wrong.ptx" 50 > "$tmp/out"; then
        exit 1
    fi
done

# New programs from the current instruction table must run.
"$random" write 100000 20 > "$tmp/new.ptx"
echo "$tmp/new.ptx 100000 20" | "$random" run - > "$tmp/out" || exit 1
[ "$(wc -l < "$tmp/out")" -eq 20 ]
