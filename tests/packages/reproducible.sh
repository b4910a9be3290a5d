#!/bin/sh
# Checks that two tarballs of the same commit are equal. Usage, in the build directory: reproducible.sh
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for k in 1 2; do
    make -s dist > /dev/null
    mv libptxi-*.tar.xz "$tmp/$k.tar.xz"
    sleep 1
done
cmp "$tmp/1.tar.xz" "$tmp/2.tar.xz"
echo "equal: $(sha256sum < "$tmp/1.tar.xz" | cut -c1-16), $(wc -c < "$tmp/1.tar.xz") bytes"
