#!/bin/sh
# ptxi.h alone compiles as C99, C11 and C++ without a warning, with every compiler at hand, and says of each call what it does.
set -eu
top=${top_srcdir:-$(dirname "$0")/..}

# Calls stand in paragraphs below the comment that names them, or some of them "and its kin".
awk 'BEGIN { RS = "" }
    /(^|\n)PTXI_API/ {
        head = $0 ~ /\/\*! / ? $0 : ""
        sub(/\*\/.*/, "", head)
        count = split($0, line, "\n")
        for (i = 1; i <= count; i++)
            if (line[i] ~ /^PTXI_API/) {
                sub(/\(.*/, "", line[i])
                sub(/.*[ *]/, "", line[i])
                calls++
                if (!index(head, line[i] "()") && head !~ / (its|their) kin/) {
                    print "ptxi.h does not say what " line[i] "() does"
                    bad = 1
                }
            }
    }
    END { exit bad || calls < 100 }' "$top/include/ptxi.h"

n=0
try()
{
    command -v "$1" >/dev/null || return 0
    echo '#include <ptxi.h>' | "$@" -Wall -Wextra -pedantic -Werror -I"$top/include" -fsyntax-only -
    n=$((n + 1))
}
set -- $(printf '%s\n' "${CC:-cc}" gcc clang | sort -u)
for cc; do
    try "$cc" -std=c99 -x c
    try "$cc" -std=c11 -x c
done
for cxx in g++ clang++; do
    try "$cxx" -std=c++11 -x c++
    try "$cxx" -std=c++17 -x c++
done
echo "ptxi.h compiles in $n ways"
[ $n -ge 2 ]
