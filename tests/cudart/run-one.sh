#!/bin/sh
# Runs a program of programs.txt: run-one.sh DIR NAME. DIR/NAME.out gets its standard output and exit status.
# Its standard error goes to DIR/NAME.err. LIMIT is the time limit in seconds [60].
# PRELOAD is a library that the program loads first.
cd "$1" || exit 1
timeout -k 5 "${LIMIT:-60}" env ${PRELOAD:+LD_PRELOAD="$PRELOAD"} "./$2" > "$2.out" 2> "$2.err" < /dev/null
status=$?
# A program that is killed by a signal may have written half a line.
[ -z "$(tail -c 1 "$2.out")" ] || echo >> "$2.out"
echo "exit status $status" >> "$2.out"
