#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds a Debian package of the built programs. No maintainer script: installing starts nothing; each user enables the
# service for himself (systemctl --user enable --now ambitd).
set -eu

usage() {
  cat <<'HELP'
Usage: build.sh --from DIR --version VERSION --maintainer 'NAME <ADDRESS>' [--arch ARCH] [--out DIR]

  --from DIR         the folder with the programs ambit and ambitd of one release, statically linked
  --version VERSION  the package's version, such as 1.2.0-1
  --maintainer WHO   who answers for the package
  --arch ARCH        Debian's name of the architecture (default: of this machine)
  --out DIR          where the package goes (default: the current folder)

SOURCE_DATE_EPOCH, if it is set, is the time of all files: the same input gives the same package.
HELP
}

die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }

here=$(cd "$(dirname "$0")" && pwd -P)
deploy=$(dirname "$here")
root=$(dirname "$deploy")
from='' version='' who='' arch='' out=.
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) usage; exit 0 ;;
    --from | --version | --maintainer | --arch | --out) [ -n "${2:-}" ] || die "cannot read the options: $1 needs a value" ;;
    *) usage >&2; exit 2 ;;
  esac
  case $1 in
    --from) from=$2 ;;
    --version) version=$2 ;;
    --maintainer) who=$2 ;;
    --arch) arch=$2 ;;
    --out) out=$2 ;;
  esac
  shift 2
done
for needed in "$from" "$version" "$who"; do [ -n "$needed" ] || { usage >&2; exit 2; }; done
case $who in
  *[!A-Za-z0-9\ ._@+\'\<\>-]*) die 'cannot use --maintainer: only letters, digits and ._@+- are possible' ;;
  *' <'*@*'>') ;;
  *) die "cannot use --maintainer: write it as 'NAME <ADDRESS>'" ;;
esac
command -v dpkg-deb >/dev/null || die 'cannot build a package: install dpkg'
arch=${arch:-$(dpkg --print-architecture)}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
trap 'exit 130' INT TERM HUP
umask 022
chmod 755 "$tree"

# put MODE SOURCE TARGET
put() { mkdir -p "$tree/${3%/*}" && install -m "$1" "$2" "$tree/$3"; }
# zipped TARGET: stdin, compressed as Debian's policy (12.1, 12.7) wants it: most, and without a time
zipped() { mkdir -p "$tree/${1%/*}" && gzip -9n >"$tree/$1"; }

put 755 "$from/ambit" usr/bin/ambit
put 755 "$from/ambitd" usr/bin/ambitd
put 644 "$here/copyright" usr/share/doc/ambit/copyright
mkdir -p "$tree/usr/lib/systemd/user"
# %E is the folder of the user's configuration, systemd.unit(5)
sed -e 's|@AMBITD@|/usr/bin/ambitd|' -e 's|@CONFIG@|%E/ambit/ambitd.json|' \
  -e '1,3c # Ambit'\''s service as a unit of a user'\''s own service manager. Changes belong into a drop-in: systemctl --user edit ambitd' \
  "$deploy/systemd/ambitd.service" >"$tree/usr/lib/systemd/user/ambitd.service"
for page in "$root"/docs/*.md "$root/README.md" "$root/SECURITY.md"; do
  name=${page##*/}
  zipped "usr/share/doc/ambit/$name.gz" <"$page"
done
put 644 "$here/ambitd.json" usr/share/doc/ambit/examples/ambitd.json
put 644 "$here/lintian-overrides" usr/share/lintian/overrides/ambit
for name in ambit.1 ambitd.8; do zipped "usr/share/man/man${name#*.}/$name.gz" <"$here/$name"; done
zipped usr/share/doc/ambit/changelog.Debian.gz <<CHANGES
ambit ($version) unstable; urgency=medium

  * Built from the release's programs.

 -- $who  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGES

mkdir "$tree/DEBIAN"
size=$(du -k -s --apparent-size "$tree" | cut -f 1)
sed -e "s|@VERSION@|$version|" -e "s|@ARCH@|$arch|" -e "s|@SIZE@|$size|" -e "s|@WHO@|$who|" "$here/control" >"$tree/DEBIAN/control"
(cd "$tree" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$tree/DEBIAN/md5sums"
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$out"
# xz, which each release can unpack; dpkg-deb(1) names the variable
dpkg-deb --root-owner-group -Z"${DPKG_DEB_COMPRESSOR_TYPE:-xz}" --build "$tree" "$out/ambit_${version}_$arch.deb"
