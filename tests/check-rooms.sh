#!/bin/sh
# The folders of libptxi/ depend on each other in one direction only. Hold every include against it; and every file begins by saying what it is for,
# or with the header that does.
# Usage: check-rooms.sh [directory with include/ and libptxi/]; exit status 1 and the offending lines if it is broken.
set -u
root=${1:-${top_srcdir:-$(dirname "$0")/..}}/libptxi
bad=0

# may ROOM ALLOWED...: sources of ROOM may include headers of ROOM and of ALLOWED.
may()
{
    room=$1
    shift
    [ -d "$root/$room" ] || { echo "no folder $root/$room"; bad=1; return; }
    for other in base num isa parse compile exec api; do
        case " $room $* " in *" $other "*) continue;; esac
        if grep -rnE --include='*.[ch]' --include='*.def' --include='*.inc.*' \
            "^[[:space:]]*#[[:space:]]*include[[:space:]]*[\"<](\.\./)*$other/" "$root/$room"; then
            echo "$room/ must not include $other/"
            bad=1
        fi
    done
    # The public header belongs to api/; below it, only internal types are seen.
    if [ "$room" != api ] &&
        grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]ptxi\.h' "$root/$room"; then
        echo "$room/ must not include ptxi.h"
        bad=1
    fi
}

may base
may num base
may isa num base
may parse isa num base
may compile parse isa num base
may exec isa num base
may api compile exec parse isa num base

for d in "$root"/*/; do
    case $(basename "$d") in
    base | num | isa | parse | compile | exec | api) ;;
    *) echo "unknown folder $d: give it a place in $0"; bad=1 ;;
    esac
done
for f in "$root"/*/*.[ch] "$root"/*/*.def; do
    own=$(basename "$(dirname "$f")")/$(basename "$f" .c).h
    case $(head -n 1 "$f") in
    "/* "* | "#include \"$own\"") ;;
    *) echo "$f does not begin by saying what it is for"; bad=1 ;;
    esac
done
exit $bad
