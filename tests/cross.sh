#!/bin/sh
# Builds for aarch64 and runs the unit tests and the recorded cases under qemu-user.
# Usage, in a directory for the build: cross.sh SOURCE_DIR [CASES]. CASES selects recorded cases, as PTXI_CASES does
# (default: add). With UNIT_TESTS=EXPRESSION in the environment, only unit tests run whose names match.
# Needs the Debian packages gcc-aarch64-linux-gnu, qemu-user, and libffi-dev, liblz4-dev, libzstd-dev, check and
# libmpfr-dev of arm64 (dpkg --add-architecture arm64).
set -eu
top=$(cd "${1:?}" && pwd) cases=${2-add}
host=aarch64-linux-gnu
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
# No -L: the libraries and the loader must be of one package, libc6 of arm64. Those of libc6-arm64-cross may be older.
run=qemu-aarch64
for program in $host-gcc qemu-aarch64; do
    command -v "$program" > /dev/null || { echo "skipped: no $program"; exit 77; }
done

unset PKG_CONFIG_PATH
PKG_CONFIG_LIBDIR=/usr/lib/$host/pkgconfig:/usr/share/pkgconfig
export PKG_CONFIG_LIBDIR
[ -e Makefile ] || "$top/configure" -q --host=$host --disable-static --enable-assertions CFLAGS="-g -O1"
make -s -j"$jobs" libptxi/isa/op.gen.h
# Not run: test_litmus makes threads race for a long time, and an emulator does not show the orders of an ARM;
# test_random_programs takes longer than its time limit; test_ipc_event and test_ipc_memory use handles, which have
# the start of a process in /proc/PID/stat, and qemu-user shows a process another /proc/self/stat.
tests=$(cd "$top" && find tests/unit -name 'test_*.c' ! -name 'test_litmus.c' ! -name 'test_random_programs.c' \
    ! -name 'test_ipc_event.c' ! -name 'test_ipc_memory.c' | sed 's/\.c$//' | sort)
known=
for test in $tests; do
    ! grep -q "^$test\$(EXEEXT):" Makefile || ! echo "$test" | grep -qE "${UNIT_TESTS:-.}" || known="$known $test"
done
# shellcheck disable=SC2086
make -s -j"$jobs" ptxi $known tests/conformance/verify
file ptxi 2> /dev/null | cut -c1-60 || true

# One test a processor; the directory `failed` gets the logs of those that fail. Tests that are linked with shared
# libraries of the build are scripts of libtool, which qemu cannot start.
rm -rf failed
mkdir failed
export CK_TIMEOUT_MULTIPLIER=10 TEST_EMULATOR=$run
cat > one_test << 'EOF'
program=$(dirname "$1")/.libs/$(basename "$1")
[ -e "$program" ] || program=$1
timeout 1800 "$TEST_EMULATOR" -E LD_LIBRARY_PATH=.libs:bindings/cuda/.libs "$program" > "$1.log" 2>&1 ||
    { echo "$1 failed"; tail "$1.log"; cp "$1.log" failed; }
EOF
# shellcheck disable=SC2086
printf '%s\n' $known | xargs -P "$jobs" -n 1 sh one_test
failed=$(ls failed)
echo "$(echo "$known" | wc -w) unit tests, failed: ${failed:-none}"
$run tests/conformance/verify cases "$top/tests/conformance/cases.rec" "$cases" || failed="$failed cases"
[ "$($run ./ptxi run "$top/samples/lerp.ptx" -b 8 -a 'f32[8]=ramp' -a 'f32[8]=1' -a 'f32[8]' -a f32=0.5 -o 2)" = \
    '0: 0.5   1 1.5   2 2.5   3 3.5   4' ] || failed="$failed ptxi"
[ -z "$failed" ]
