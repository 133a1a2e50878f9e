# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Debian packages become a root file system, without running any maintainer script. apt_for comes first.

# unpack ROOT DEB...: the merged /usr comes first: some packages still ship files in /lib, which must end up behind
# the links.
unpack() {
  local root=$1 link deb
  shift
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
  for link in bin sbin lib lib64; do ln -s "usr/$link" "$root/$link"; done
  for deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -p --no-same-owner --keep-directory-symlink -C "$root"
  done
}

# trim ROOT: an initramfs is memory, twice while it unpacks.
trim() {
  (
    cd "$1" || exit
    rm -rf usr/share/{doc,man,locale,info,lintian,bug,i18n,zoneinfo,perl,perl5,zsh,fish,bash-completion,pixmaps,menu,gitweb}
    rm -rf usr/lib/x86_64-linux-gnu/{gconv,perl,perl-base} usr/lib/x86_64-linux-gnu/libperl* usr/bin/*perl* boot/*
    rm -rf usr/lib/git-core/{git-http-push,git-imap-send,git-daemon,git-http-backend,git-http-fetch,scalar} usr/bin/scalar
    rm -rf usr/lib/python3*/{test,idlelib,tkinter,turtledemo,ensurepip,lib2to3,pydoc_data}
  )
}
