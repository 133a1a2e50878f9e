# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An apt of our own beside the machine's: its own lists and status, so nothing of the host is read or changed
# but the address of the mirror it uses, and its proxy settings.

LAB_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# mirror_of REPOSITORY: the machine's address of /debian or /debian-security; AMBIT_LAB_MIRROR goes before.
mirror_of() {
  local known
  known=$(env -u APT_CONFIG apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u)
  if [ -n "${AMBIT_LAB_MIRROR:-}" ]; then
    echo "${AMBIT_LAB_MIRROR%/}/$1"
  elif grep -q "/$1/\$" <<<"$known"; then
    grep "/$1/\$" <<<"$known" | head -n 1
  elif grep -q '/debian/$' <<<"$known"; then
    grep '/debian/$' <<<"$known" | head -n 1 | sed "s,/debian/\$,/$1,"
  else
    echo "lab: cannot find a Debian mirror in this machine's apt sources: set AMBIT_LAB_MIRROR to the address above debian/ and debian-security/" >&2
    return 1
  fi
}

# apt_for DIR SUITE...: point apt-get and apt-cache of this process at a fresh state in DIR which knows these suites.
apt_for() {
  local dir=$1 suite repository
  shift
  mkdir -p "$dir"/{lists/partial,cache/archives/partial,parts}
  : >"$dir/status"
  for suite; do
    case $suite in *-security) repository=debian-security ;; *) repository=debian ;; esac
    repository=$(mirror_of $repository)
    echo "deb [signed-by=$LAB_KEYRING] $repository $suite main"
  done >"$dir/sources.list"
  cat >"$dir/apt.conf" <<CONF
Dir::Etc::SourceList "$dir/sources.list";
Dir::Etc::SourceParts "$dir/parts";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "$dir/parts";
Dir::State "$dir";
Dir::State::Lists "$dir/lists";
Dir::State::Status "$dir/status";
Dir::Cache "$dir/cache";
Dir::Log "$dir";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
Acquire::Retries "3";
CONF
  export APT_CONFIG=$dir/apt.conf
  apt-get -qq update
}
