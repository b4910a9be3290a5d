#!/bin/sh
# Checks that the tarball contains every file of the repository except those that only the repository itself needs.
# Run it in the build directory of a checkout. It lists the missing files and exits with status 1.
set -u
top=${top_srcdir:-$(dirname "$0")/..}
git -C "$top" rev-parse -q --verify HEAD > /dev/null 2>&1 && [ -z "$(git -C "$top" rev-parse --show-cdup)" ] || {
    echo "skipped: not a git checkout"
    exit 77
}

given=$(MAKEFLAGS='' make -s print-distributed) && [ -n "$given" ] || { echo "make print-distributed failed"; exit 1; }
left=$(git -C "$top" ls-files | grep -vE '^\.(ci|github)/|(^|/)\.gitignore$' | GIVEN=$given awk '
    BEGIN { split(ENVIRON["GIVEN"], names, "\n"); for (k in names) given[names[k]] }
    { name = $0; while (!(name in given) && sub("/[^/]*$", "", name)); if (!(name in given)) print }')
[ -z "$left" ] || { printf 'these files are missing from the tarball:\n%s\n' "$left"; exit 1; }
