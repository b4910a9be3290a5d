#!/bin/sh
# Tests `ptxi run --checkpoint`: a run that is killed continues and has the bits of one that was not; other commands,
# other kernels and damaged files are refused.
: "${top_srcdir:?}" "${PTXI:?}"
ptx=$top_srcdir/tests/cmd/checkpoint.ptx
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset PTXI_CHECK PTXI_DEVICE PTXI_SCHED PTXI_WORKERS PTXI_ON_FAULT PTXI_REPORT PTXI_STATS
n=4000

fail()
{
    echo "failed: $*"
    exit 1
}

# Replaces the shell.
launch()
{
    exec "$PTXI" run "$ptx" -k slow -g $n -b 32 -w 1 -a "u32[$((n * 32))]=ramp" -a 'u32[1]' -a u32="$rounds" "$@"
}

run()
{
    (launch "$@")
}

# Expects a failure with a message.
refused()
{
    text=$1
    shift
    "$@" > "$tmp/out" 2>&1 && fail "not refused: $text"
    grep -q "$text" "$tmp/out" || { cat "$tmp/out"; fail "expected: $text"; }
}

# Kills three runs that save checkpoints and go on from the last one. Ends with an error if the kernel was too short for
# three checkpoints.
kill_runs()
{
    kills=0
    rm -f "$tmp/c"
    for _ in 1 2 3; do
        launch --checkpoint "$tmp/c" --checkpoint-every 0.02 --resume -o 0="$tmp/x2" -o 1="$tmp/y2" &
        pid=$!
        rm -f "$tmp/before"
        [ ! -e "$tmp/c" ] || cp "$tmp/c" "$tmp/before"
        for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do # until there is a new checkpoint
            sleep 0.05
            [ ! -e "$tmp/c" ] || cmp -s "$tmp/c" "$tmp/before" || break
        done
        kill -9 $pid 2> "$tmp/err" && kills=$((kills + 1))
        wait $pid 2> "$tmp/err"
        [ -e "$tmp/c" ] || break
        cp "$tmp/c" "$tmp/saved"
    done
    [ $kills = 3 ] && [ -e "$tmp/c" ]
}

rounds=600
until kill_runs; do # a fast machine needs a longer run
    rounds=$((rounds * 2))
    [ $rounds -lt 100000 ] || fail "no run was killed after a checkpoint"
done
run -o 0="$tmp/whole" -o 1="$tmp/sum" || fail "the whole run"
cp "$tmp/saved" "$tmp/c"
run --checkpoint "$tmp/c" --resume -o 0="$tmp/x" -o 1="$tmp/y" || fail "a resumed run"
cmp "$tmp/whole" "$tmp/x" && cmp "$tmp/sum" "$tmp/y" || fail "another result after $kills kills"
[ ! -e "$tmp/c" ] || fail "the checkpoint is left"
run --checkpoint "$tmp/c" --checkpoint-every 0 -o 0="$tmp/x" -o 1="$tmp/y" || fail "a run with checkpoints"
cmp "$tmp/whole" "$tmp/x" && cmp "$tmp/sum" "$tmp/y" || fail "another result with checkpoints"
[ ! -e "$tmp/c" ] || fail "the checkpoint is left"

cp "$tmp/saved" "$tmp/c"
refused "not that of this launch" run --checkpoint "$tmp/c" --resume -s 16
sed 's/scale = 3/scale = 5/' "$ptx" > "$tmp/other.ptx"
refused "has changed since the checkpoint" "$PTXI" run "$tmp/other.ptx" -k slow -g $n -b 32 -w 1 \
    -a "u32[$((n * 32))]=ramp" -a 'u32[1]' -a u32="$rounds" --checkpoint "$tmp/c" --resume
head -c 2000 "$tmp/saved" > "$tmp/c"
refused "is cut off" run --checkpoint "$tmp/c" --resume
refused "the result of an atomic operation depends" "$PTXI" run "$ptx" -k waits -g 4 -a 'u32[2]' --checkpoint "$tmp/c"
refused "needs --checkpoint" run --resume
refused "one launch of a whole grid" run --checkpoint "$tmp/c" --repeat 2
echo "$kills runs were killed and continued"
