#!/bin/sh
# Installs into an empty prefix, moves the installation, and builds programs with it by pkg-config and CMake.
# Usage, in the build directory: install.sh SOURCE_DIR
set -eu
top=$(cd "${1:?}" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
kernel=$top/samples/lerp.ptx

prefix=$(sed -n "s/^prefix='\(.*\)'/\1/p" config.log)
make -s install DESTDIR="$tmp/root" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
PKG_CONFIG_PATH=$tmp/root$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$tmp/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
# shellcheck disable=SC2046
${CC:-cc} -o "$tmp/example" "$top/tests/packages/cmake/example.c" $(pkg-config --cflags --libs libptxi) \
    -Wl,-rpath,"$tmp/root$prefix/lib"
[ "$("$tmp/example" "$kernel")" = "1 kernels" ] || { echo "the program that pkg-config built failed"; exit 1; }
echo "pkg-config: ok"

command -v cmake > /dev/null || { echo "skipped: no cmake"; exit 77; }
mv "$tmp/root$prefix" "$tmp/moved"
cmake -S "$top/tests/packages/cmake" -B "$tmp/build" -DCMAKE_PREFIX_PATH="$tmp/moved" -DKERNEL="$kernel" > "$tmp/log" &&
    cmake --build "$tmp/build" >> "$tmp/log" && (cd "$tmp/build" && ctest --output-on-failure >> "$tmp/log") ||
    { cat "$tmp/log"; exit 1; }
grep '100% tests passed' "$tmp/log"
echo "find_package(ptxi): ok"
unset PKG_CONFIG_SYSROOT_DIR # the page has a libptxi.pc of its own
CMAKE_PREFIX_PATH=$tmp/moved "${PYTHON3:-python3}" "$top/tests/docs/run_blocks.py" "$top" . \
    "$top/doc/howto/test-with-ctest.md"
sh "$top/tests/packages/cmake.sh" "$top" "$tmp/moved"
