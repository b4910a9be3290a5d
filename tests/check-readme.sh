#!/bin/sh
# Checks that the example in README.md compiles without warnings and prints the output that README.md shows.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:=cc}"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

sed -n '/^```c /,/^```$/{/^```/d;p}' "$top_srcdir/README.md" > "$tmp/example.c"
want=$(sed -n 's/^prints `\([^`]*\)`.*/\1/p' "$top_srcdir/README.md")
[ -s "$tmp/example.c" ] && [ -n "$want" ] || { echo "README.md: the example or its output is missing"; exit 1; }

# shellcheck disable=SC2086
$CC -std=c99 -Wall -Wextra -Werror -g ${SANITIZE-} -I"$top_srcdir/include" -c "$tmp/example.c" -o "$tmp/example.o"
# shellcheck disable=SC2086
"$top_builddir/libtool" --silent --tag=CC --mode=link $CC ${SANITIZE-} -o "$tmp/example" "$tmp/example.o" \
    "$top_builddir/libptxi.la"
cd "$top_srcdir"
got=$("$tmp/example") || { echo "the example failed: exit status $?"; exit 1; }
if [ "$got" != "$want" ]; then
    echo "the example printed '$got', but README.md shows '$want'"
    exit 1
fi
echo "$got"
