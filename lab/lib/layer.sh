# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Layers of Debian packages on top of the base image. apt_for comes first.

# would_install FILE...: what apt would install for these lists, one file name a line.
would_install() {
  # shellcheck disable=SC2046  # words are wanted
  apt-get -qq -y --print-uris install $(rows <(cat "$@")) | awk '{print $2}' | sort
}

# fetch_beyond BASE.packages PACKAGES DIR: into DIR, what apt would install for PACKAGES beyond the base image; apt
# names the files by their addresses.
fetch_beyond() {
  local names
  mapfile -t names < <(comm -13 <(would_install "$1") <(would_install "$1" "$2") | sed 's/_.*//')
  [ ${#names[@]} -gt 0 ] || die "cannot tell what the layer needs"
  (cd "$3" && apt-get -qq download "${names[@]}")
}
