# Functions of the scripts that run suites with labels. They use $ptxi, $out (a folder with the programs), and
# $time_limit (seconds for a program, default 120).
found=0 missed=0 clean=0 false=0 broken=0 failed=0

# judge NAME race|clean [ARGUMENT...]: runs the program NAME, with this standard input, and counts the result.
judge()
{
    name=$1 label=$2
    shift 2
    if [ ! -x "$out/$name" ]; then
        broken=$((broken + 1))
        echo "$name: does not compile; see $out/$name.log"
        return
    fi
    (cd "$out" && PTXI_CHECK=race timeout "${time_limit:-120}" "$ptxi" exec "./$name" "$@") > "$out/$name.out" 2>&1
    status=$?
    if grep -qE '(error|warning): data race' "$out/$name.out"; then
        reported=race
    else
        reported=clean
    fi
    case $label$reported in
    racerace) found=$((found + 1)) ;;
    cleanclean) clean=$((clean + 1)) ;;
    raceclean) missed=$((missed + 1)); echo "$name: missed" ;;
    cleanrace) false=$((false + 1)); echo "$name: false report" ;;
    esac
    [ $status -lt 124 ] || echo "$name: exit status $status"
}

# verdict TITLE: prints the counts and sets them to 0. $failed becomes 1 if something is wrong.
verdict()
{
    echo "$1: $found of $((found + missed)) found, $false false reports in $((clean + false)), $broken not compiled"
    [ $missed = 0 ] && [ $false = 0 ] && [ $broken = 0 ] || failed=1
    found=0 missed=0 clean=0 false=0 broken=0
}
