#!/bin/sh
# Every file of the repository goes into the tarball, by its own name or with its folder, but what is for the repository itself.
# Usage: check-dist.sh in the build folder of a checkout; exit status 1 and the files that are left out.
set -u
top=${top_srcdir:-$(dirname "$0")/..}
git -C "$top" rev-parse -q --verify HEAD > /dev/null 2>&1 && [ -z "$(git -C "$top" rev-parse --show-cdup)" ] || { echo "no checkout"; exit 77; }

given=$(MAKEFLAGS='' make -s print-distributed) && [ -n "$given" ] || { echo "make says nothing"; exit 1; }
left=$(git -C "$top" ls-files | grep -vE '^\.ci/|(^|/)\.gitignore$' | GIVEN=$given awk '
    BEGIN { split(ENVIRON["GIVEN"], names, "\n"); for (k in names) given[names[k]] }
    { name = $0; while (!(name in given) && sub("/[^/]*$", "", name)); if (!(name in given)) print }')
[ -z "$left" ] || { printf 'not in the tarball:\n%s\n' "$left"; exit 1; }
