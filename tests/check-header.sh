#!/bin/sh
# Checks that ptxi.h alone compiles as C99, C11 and C++ without warnings, with each installed compiler, and that it
# documents each function.
set -eu
top=${top_srcdir:-$(dirname "$0")/..}

# The line before each declaration must end a comment that begins with the declared function, "/*! name() :".
awk '/^\/\*! / { named = $2 }
    /^PTXI_API/ {
        name = $0
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        calls++
        if (before !~ /\*\/$/ || named != name "()") {
            print "include/ptxi.h:" NR ": " name "() has no comment of its own: /*! " name "() : ... */"
            bad = 1
        }
    }
    { before = $0 }
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
echo "ptxi.h compiles in $n configurations"
[ $n -ge 2 ]
