#!/bin/sh
# Installs a wheel in a bare Debian and runs the Python example of README.md. Needs root and debootstrap.
# Usage: wheel.sh SOURCE_DIR WHEEL [ROOT]. ROOT is an unpacked Debian with python3-venv; it is created if it does not
# exist, and removed if no ROOT is given.
set -eu
top=$(cd "${1:?}" && pwd) wheel=$(readlink -f "${2:?}")
. "$top/tests/packages/bare_root.sh"
bare_root python3,python3-venv,ca-certificates "${3-}"
! chroot "$root" sh -c 'command -v cc || command -v gcc || ls /usr/lib/*/libffi.so' 2> /dev/null ||
    { echo "the root has a compiler"; exit 1; }

rm -rf "$root/trial"
mkdir -p "$root/trial/samples"
cp "$wheel" "$root/trial"
cp "$top/samples/lerp.ptx" "$top/samples/lerp.cu" "$root/trial/samples"
sed -n '/^import numpy as np, ptxi$/,/^```$/{/^```/d;p}' "$top/README.md" > "$root/trial/example.py"
[ -s "$root/trial/example.py" ] || { echo "README.md has no Python example"; exit 1; }
python3 -m pip download -q --only-binary=:all: --python-version 3.11 -d "$root/trial" 'numpy>=1.23' 2> /dev/null
chroot "$root" sh -eu -c 'cd /trial && python3 -m venv venv
    venv/bin/pip install -q --no-index --find-links . ./ptxi-*.whl
    venv/bin/python example.py
    venv/bin/ptxi run samples/lerp.ptx -b 8 -a "f32[8]=ramp" -a "f32[8]=1" -a "f32[8]" -a f32=0.5 -o 2
    venv/bin/ptxi exec venv/bin/python -c "import ctypes; print(ctypes.CDLL(\"libcuda.so.1\").cuInit(0))"' |
    tee "$root/trial/out"
printf '[2.   2.75 3.5  4.25]\n0: 0.5   1 1.5   2 2.5   3 3.5   4\n0\n' | diff - "$root/trial/out"
echo "the wheel works in $(cat "$root/etc/debian_version")"
