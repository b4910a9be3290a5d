#!/bin/sh
# Checks that pairs.txt has all kernels of the files with pairs, and only those.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
grep -v '^#' pairs.txt | awk -F'|' '{ gsub(/ /, "", $2); n = split($3 " " $4, k, " ")
    for (i = 1; i <= n; i++) if (k[i] != "-") print $2, k[i] }' | sort -u > "$tmp/listed"
for file in $(cut -d' ' -f1 "$tmp/listed" | sort -u); do
    sed -n -E "s/^.*\.entry +([a-z0-9_]+).*/$file \1/p" "$file"
done | sort -u > "$tmp/there"
diff "$tmp/listed" "$tmp/there"
echo "$(wc -l < "$tmp/there") kernels"
