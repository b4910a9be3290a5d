#!/bin/sh
# Builds the wheel for aarch64 and runs the Python example of README.md with it under qemu-user.
# Usage, in a directory for the build: cross_wheel.sh SOURCE_DIR. Needs what tests/cross.sh needs, and unpacks Python of
# arm64 from the packages of Debian 12 (dpkg --add-architecture arm64).
set -eu
top=$(cd "${1:?}" && pwd)
host=aarch64-linux-gnu
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
for program in $host-gcc qemu-aarch64; do
    command -v "$program" > /dev/null || { echo "skipped: no $program"; exit 77; }
done

unset PKG_CONFIG_PATH
PKG_CONFIG_LIBDIR=/usr/lib/$host/pkgconfig:/usr/share/pkgconfig
export PKG_CONFIG_LIBDIR
[ -e Makefile ] || "$top/configure" -q --host=$host --disable-static
make -s libptxi/isa/op.gen.h
make -s -j"$jobs" all
rm -rf wheel
make -s wheel

# Python with its libraries, and what is in the wheel.
mkdir -p debs root
rm -rf site && mkdir site
for package in python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6 zlib1g libexpat1 libssl3 libffi8 \
    libbz2-1.0 liblzma5 libuuid1 libgcc-s1 libstdc++6; do
    (cd debs && apt-get download -qq "$package:arm64" 2> /dev/null)
done
for package in debs/*.deb; do dpkg -x "$package" root; done
python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.11 --platform manylinux_2_17_aarch64 \
    --platform manylinux_2_27_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 \
    -d numpy 'numpy>=1.23'
for wheel in wheel/*.whl numpy/*.whl; do python3 -m zipfile -e "$wheel" site; done
sed -n '/^import numpy as np, ptxi$/,/^```$/{/^```/d;p}' "$top/README.md" > example.py
[ -s example.py ] || { echo "README.md has no Python example"; exit 1; }
(cd "$top" && PYTHONPATH=$OLDPWD/site PYTHONDONTWRITEBYTECODE=1 \
    qemu-aarch64 -L "$OLDPWD/root" "$OLDPWD/root/usr/bin/python3.11" "$OLDPWD/example.py") | tee out
echo '[2.   2.75 3.5  4.25]' | diff - out
ls wheel
