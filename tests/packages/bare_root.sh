# Sourced by tests in a bare Debian. Needs root and debootstrap; without them the test is skipped.
#
# bare_root PACKAGES [ROOT]: sets `root` to an unpacked Debian with these packages and with /proc. ROOT is created if it
# does not exist. Without ROOT, a directory is made, and removed at the end.
bare_root()
{
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap > /dev/null; then
        echo "skipped: needs root and debootstrap"
        exit 77
    fi
    root=${2:-$(mktemp -d)}
    given=${2:+yes}
    trap cleanup_root EXIT
    [ -e "$root/usr/bin/apt-get" ] ||
        debootstrap --variant=minbase --include="$1" bookworm "$root" > /dev/null
    mountpoint -q "$root/proc" || mount -t proc proc "$root/proc" # $ORIGIN of programs needs it
}

cleanup_root()
{
    ! mountpoint -q "$root/proc" || umount "$root/proc"
    [ -n "$given" ] || rm -rf --one-file-system "$root"
}
