#!/bin/sh
# Builds Debian packages from a tarball, and checks them with lintian. Usage: deb.sh TARBALL OUT_DIR. The tests do not run
# unless DEB_BUILD_OPTIONS is set. The packages that the build needs must be installed.
set -eu
tarball=$(readlink -f "${1:?}") out=$(mkdir -p "${2:?}" && cd "$2" && pwd)
name=$(basename "$tarball" .tar.xz)
version=${name##*-}

rm -rf "${out:?}"/libptxi* "${out:?}"/*ptxi*.deb
cp "$tarball" "$out/libptxi_$version.orig.tar.xz"
cd "$out"
tar xf "$tarball"
cd "$name"
DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-nocheck parallel=2} dpkg-buildpackage -us -uc
cd ..
ls ./*.deb
if command -v lintian > /dev/null; then
    lintian --allow-root --fail-on error,warning --tag-display-limit 0 ./*.changes
fi
