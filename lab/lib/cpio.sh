# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Archives for the kernel's initramfs (newc; several may follow one another, the last file of a name wins).
# Everything in them belongs to root whoever packs it, so that the lab itself doesn't need root.

# pack DIR BUSYBOX: DIR as an archive on stdout.
pack() {
  (cd "$1" && find . -mindepth 1 | LC_ALL=C sort | "$2" cpio -o -H newc -R 0:0 2>/dev/null)
}

# console_node: an archive with /dev and /dev/console alone. Only root may make a device, but anybody may write
# the header of one (Documentation/driver-api/early-userspace/buffer-format.rst): magic; ino, mode, uid, gid, nlink,
# mtime, filesize, the file system's and the device's own major and minor, length of the name, check.
console_node() {
  cpio_header 1 $((8#040755)) 0 0 dev
  cpio_header 2 $((8#020600)) 5 1 dev/console
  cpio_header 0 0 0 0 'TRAILER!!!'
}

cpio_header() {
  local length=$((${#5} + 1))
  printf '070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s' \
    "$1" "$2" 0 0 1 0 0 0 0 "$3" "$4" "$length" 0 "$5"
  # the name ends in a NUL and is padded so that header (110 bytes) and name fill whole words
  head -c $(((4 - (110 + length) % 4) % 4 + 1)) /dev/zero
}
