# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The programs that the lab needs on the host: installed when this is root on a system with apt, else named.

# program and the Debian or Ubuntu package that has it
LAB_TOOLS='qemu-system-x86_64 qemu-system-x86
zstd zstd
xz xz-utils
lz4 lz4
dpkg-deb dpkg
flock util-linux'

missing_packages() {
  local program package
  while read -r program package; do
    command -v "$program" >/dev/null || echo "$package"
  done <<<"$LAB_TOOLS"
  [ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || echo debian-archive-keyring
}

# need_tools: all of them are there afterwards, or the lab has ended with what to install.
need_tools() {
  local packages
  [ "$(uname -sm)" = 'Linux x86_64' ] || die "cannot run on $(uname -sm): the lab needs an x86-64 Linux host"
  command -v go >/dev/null || die "cannot find go in PATH"
  command -v apt-get >/dev/null || die "cannot find apt-get: kernels and images come as Debian packages (a container with Debian or Ubuntu will do)"
  mapfile -t packages < <(missing_packages)
  [ ${#packages[@]} -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ]; then
    say "installing ${packages[*]}"
    install_packages "${packages[@]}" || { apt-get -qq update && install_packages "${packages[@]}"; } >&2 || true
    mapfile -t packages < <(missing_packages)
  fi
  [ ${#packages[@]} = 0 ] || die "cannot go on without these packages: apt-get install --no-install-recommends ${packages[*]}"
}

install_packages() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@" >/dev/null
}
