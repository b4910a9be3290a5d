#!/bin/sh
# Installs the Debian packages in a bare Debian, and runs the examples of README.md there: the command, Python, and C.
# Needs root and debootstrap, and Debian's archive. Usage: debian.sh SOURCE_DIR DIRECTORY_OF_PACKAGES [ROOT]. ROOT is an
# unpacked Debian; it is created if it does not exist, and removed if no ROOT is given.
set -eu
top=$(cd "${1:?}" && pwd) packages=$(cd "${2:?}" && pwd)
. "$top/tests/packages/bare_root.sh"
bare_root ca-certificates "${3-}"
! [ -e /etc/apt/apt.conf ] || cp /etc/apt/apt.conf "$root/etc/apt/apt.conf"
cp /etc/resolv.conf "$root/etc/resolv.conf"

rm -rf "$root/trial"
mkdir -p "$root/trial/samples"
cp "$packages"/*.deb "$root/trial"
cp "$top/samples/lerp.ptx" "$top/samples/lerp.cu" "$root/trial/samples"
# block LANGUAGE FILE: the first block of README.md in the language.
block()
{
    awk -v fence="\`\`\`$1" '$1 == fence { inside = 1; next } inside && /^```/ { exit } inside' "$top/README.md" > "$2"
    [ -s "$2" ] || { echo "README.md has no example in $1"; exit 1; }
}
block c "$root/trial/example.c"
block python "$root/trial/example.py"
chroot "$root" sh -eu -c 'cd /trial; export DEBIAN_FRONTEND=noninteractive
    apt-get update -q && apt-get install -q -y --no-install-recommends ./*.deb gcc libc6-dev pkgconf' \
    > "$root/trial/log" 2>&1 || { tail -n 20 "$root/trial/log"; exit 1; }
chroot "$root" sh -eu -c 'cd /trial
    ptxi run samples/lerp.ptx -b 8 -a "f32[8]=ramp" -a "f32[8]=1" -a "f32[8]" -a f32=0.5 -o 2
    python3 example.py
    cc example.c $(pkg-config --cflags --libs libptxi) && ./a.out
    ptxi exec python3 -c "import ctypes; print(ctypes.CDLL(\"libcuda.so.1\").cuInit(0))"' | tee "$root/trial/out"
printf '0: 0.5   1 1.5   2 2.5   3 3.5   4\n[2.   2.75 3.5  4.25]\n2 2.75 3.5 4.25\n0\n' | diff - "$root/trial/out"
chroot "$root" sh -eu -c 'apt-get -q -y remove libptxi0' > "$root/trial/log" 2>&1 || { cat "$root/trial/log"; exit 1; }
echo "the packages work in Debian $(cat "$root/etc/debian_version")"
