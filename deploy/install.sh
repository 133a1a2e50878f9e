#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs Ambit's service for the user who calls it, without root. See --help, and README.md beside this file.
#
# What is switched is one symbolic link, `current`, by rename(2), after the new release has run a sandboxed command.
# While a switch is not known to be good, the link `pending` names the release to go back to: whoever comes next goes
# back there, if this process was killed. One lock keeps two of them apart; it ends with the process that holds it.
set -eu
umask 077

usage() {
  cat <<'HELP'
Installs Ambit's programs and its service for this user, without root.

Usage:
  install.sh [--from DIR] [options]   install, or change to another release
  install.sh --rollback [options]     go back to the release before
  install.sh --uninstall [options]    remove programs and service; configuration, projects and journal stay

Options:
  --from DIR       the folder with the programs ambit and ambitd of one release
                   (default: this script's folder if they are there, else they are built with go from its checkout)
  --prefix DIR     install below DIR (default: ~/.local): DIR/share/ambit, and links in DIR/bin
  --projects DIR   the folder of the projects, for a configuration that is written now
                   (default: PREFIX/share/ambit/projects)
  --no-service     programs and configuration only, for hosts without systemd
  --help           this text

A release is used only after it has run a sandboxed command as the service would; if that fails, or the service does
not come up, the release before serves on, and the exit code is 1. The last three releases are kept. The configuration
(~/.config/ambit/ambitd.json) is written if there is none, and never changed.
HELP
}

say() { printf 'install: %s\n' "$*"; }
warn() { printf 'install: %s\n' "$*" >&2; }
die() { warn "$@"; exit 1; }

here=$(cd "$(dirname "$0")" && pwd -P)
action=install from='' prefix='' projects='' service=yes

value() { [ -n "${2:-}" ] || die "cannot read the options: $1 needs a value; see --help"; }
while [ $# -gt 0 ]; do
  case $1 in
    --from) value "$@"; from=$2; shift ;;
    --prefix) value "$@"; prefix=$2; shift ;;
    --projects) value "$@"; projects=$2; shift ;;
    --no-service) service=no ;;
    --rollback) action=rollback ;;
    --uninstall) action=uninstall ;;
    --help | -h) usage; exit 0 ;;
    *) warn "cannot read the options: unknown option $1"; usage >&2; exit 2 ;;
  esac
  shift
done

# --- names

# plain NAME VALUE: the paths end up in a unit, in JSON and in shell words; rather than quote for each, refuse.
plain() {
  case $2 in
    *[!A-Za-z0-9._/@:+,=-]*) die "cannot use $1 $2: only letters, digits and ._/@:+,=- are possible here; choose another folder" ;;
    /*) ;;
    *) die "cannot use $1 $2: write it from / on" ;;
  esac
}

[ "$(id -u)" != 0 ] || die "cannot install for root: what a command may write would be root's; call this as the user whom the service is for"
home=${HOME:-}
[ -n "$home" ] || die "cannot find the home folder: set HOME"
prefix=${prefix:-$home/.local}
share=$prefix/share/ambit bin=$prefix/bin
config_dir=${XDG_CONFIG_HOME:-$home/.config}
config=$config_dir/ambit/ambitd.json
unit=$config_dir/systemd/user/ambitd.service
projects=${projects:-$share/projects}
plain 'the folder' "$prefix"
plain 'the folder' "$config_dir"
plain 'the projects folder' "$projects"
# The first line of this in a file says that it is ours to replace.
mark='# Ambit'\''s service as a unit'

if [ -z "${XDG_RUNTIME_DIR:-}" ] && [ -O "/run/user/$(id -u)" ]; then
  XDG_RUNTIME_DIR=/run/user/$(id -u)
  export XDG_RUNTIME_DIR
fi

need() {
  for tool; do
    command -v "$tool" >/dev/null || die "cannot find the program $tool: install it (Debian: util-linux, coreutils, sed)"
  done
}
need flock sha256sum mktemp readlink timeout sed

user_systemctl() { systemctl --user --no-pager "$@"; }
if [ "$service" = yes ]; then
  command -v systemd-run >/dev/null ||
    die "cannot install a service: there is no systemd; --no-service installs the programs alone"
  said=$(user_systemctl show-environment 2>&1) ||
    die "cannot reach this user's service manager ($said): log in as this user (not by su), or loginctl enable-linger $(id -un) as root, or use --no-service"
fi

# --- small steps that are whole or not there

# point LINK TARGET: ln -f would remove the link before it makes it anew.
point() { rm -f "$1.new" && ln -s "$2" "$1.new" && mv -T -f "$1.new" "$1"; }
# put FILE: stdin, whole or not at all.
put() { cat >"$1.new" && mv -T -f "$1.new" "$1"; }
# release_of LINK: the name of the release that it stands for, or nothing.
release_of() {
  target=$(readlink "$share/$1" 2>/dev/null) || return 0
  [ ! -d "$share/releases/${target#releases/}" ] || printf '%s\n' "${target#releases/}"
}
# ours FILE: nothing is there, or a link of ours.
ours() {
  case $(readlink "$1" 2>/dev/null) in "$share"/*) return 0 ;; esac
  [ ! -e "$1" ] && [ ! -L "$1" ]
}
our_unit() { [ ! -e "$unit" ] || head -n 1 "$unit" | grep -qF "$mark"; }

take_lock() {
  mkdir -p "$share/releases" || die "cannot make $share: choose another --prefix"
  exec 9>"$share/install.lock"
  flock -n 9 || { say 'another installation is under way: waiting for it'; flock -w 600 9; } ||
    die 'cannot install: another installation has not ended in ten minutes'
  locked=yes
  # what one that was killed has left
  rm -rf "$share"/releases/.new.* "$share"/releases/.old.*
}

# --- the service

# identity UNIT: the lines that hold for the preflight too.
identity() { sed -n '/^# From here on: the identity/,/^\[Install\]/ {/^[A-Za-z]*=/p}' "$1"; }

# preflight RELEASE: a real sandboxed command by this release, as the service would run it.
preflight() {
  if [ "$service" = no ]; then
    timeout 300 "$share/releases/$1/ambitd" check --config "$config" </dev/null 9>&-
    return
  fi
  set -- "$share/releases/$1/ambitd" check --config "$config"
  identity_of=${1%/*}/ambitd.service
  while IFS= read -r line; do set -- -p "$line" "$@"; done <<LINES
$(identity "$identity_of")
LINES
  systemd-run --user --quiet --pipe --wait --collect -p RuntimeMaxSec=300 "$@" </dev/null 9>&-
}

# serves RELEASE: the running service is of this release, and takes commands.
serves() {
  pid=$(user_systemctl show -p MainPID --value ambitd.service) || return 1
  [ "$pid" != 0 ] || return 1
  [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$share/releases/$1/ambitd")" ] || return 1
  "$share/releases/$1/ambitd" ready --config "$config" --within "$2" >/dev/null 9>&-
}

# start RELEASE: of which `current` and the unit are already.
start() {
  user_systemctl daemon-reload || return 1
  user_systemctl enable --quiet ambitd.service || return 1
  user_systemctl reset-failed ambitd.service 2>/dev/null || :
  # returns when the service has said that it listens, or has failed, or at the unit's TimeoutStartSec
  user_systemctl restart ambitd.service && serves "$1" 60s
}

what_happened() {
  user_systemctl status --lines 15 ambitd.service >&2 || :
}

# --- a release

# stage: put the programs into a folder of releases/, and say its name in $release.
stage() {
  new=$(mktemp -d "$share/releases/.new.XXXXXX")
  if [ -z "$from" ] && [ -f "$here/ambit" ] && [ -f "$here/ambitd" ]; then from=$here; fi
  if [ -n "$from" ]; then
    cp "$from/ambit" "$from/ambitd" "$new/" || die "cannot copy ambit and ambitd from $from: name the folder that has both"
  else
    [ -f "$here/../go.mod" ] || die "cannot find the programs: give --from DIR"
    command -v go >/dev/null || die "cannot build the programs: there is no go; install Go, or give --from DIR"
    say 'building ambit and ambitd'
    (cd "$here/.." && CGO_ENABLED=0 go build -trimpath -o "$new/" ./cmd/ambit ./cmd/ambitd 9>&-) ||
      die 'cannot build the programs: see above, or give --from DIR'
  fi
  chmod 755 "$new/ambit" "$new/ambitd"
  sed -e "s|@AMBITD@|$share/current/ambitd|" -e "s|@CONFIG@|$config|" "$here/systemd/ambitd.service" >"$new/ambitd.service" ||
    die "cannot read $here/systemd/ambitd.service: it belongs beside this script"
  version=$(timeout 60 "$new/ambitd" version </dev/null 2>/dev/null 9>&-) ||
    die "cannot execute ambitd of the new release: is it for this machine ($(uname -sm))?"
  version=$(printf '%s' "${version##* }" | tr -c 'A-Za-z0-9.+_-' '_' | cut -c 1-60)
  release=$version-$(digest "$new")
  if [ -d "$share/releases/$release" ]; then
    if [ "$(digest "$share/releases/$release")" = "${release##*-}" ]; then
      rm -rf "$new"
      return
    fi
    warn "the release $release was changed since it was installed: it is replaced"
    mv -T "$share/releases/$release" "$share/releases/.old.$$"
  fi
  # the programs are on the disk before a link leads there
  sync "$new/ambit" "$new/ambitd" "$new/ambitd.service" "$new" 2>/dev/null || sync
  mv -T "$new" "$share/releases/$release"
  rm -rf "$share/releases/.old.$$"
}

digest() { (cd "$1" && sha256sum ambit ambitd ambitd.service) 2>/dev/null | sha256sum | cut -c 1-12; }

# configure: a configuration if there is none.
configure() {
  mkdir -p "$config_dir/ambit/secrets"
  rm -f "$config".new.*
  [ ! -e "$config" ] || return 0
  mkdir -p "$projects" || die "cannot make the folder of the projects: choose another one with --projects"
  listen=''
  [ -n "${XDG_RUNTIME_DIR:-}" ] || listen="
  // there is no XDG_RUNTIME_DIR here
  \"listen\": \"${XDG_STATE_HOME:-$home/.local/state}/ambit/run/ambitd.sock\","
  cat >"$config.new.$$" <<JSON
// Ambit's service. install.sh wrote this once and does not change it; docs/http-api.md explains the settings.
{$listen
  // the folder that holds one folder for each project
  "projects": "$projects",
  // what commands may ask for by name; each value in a file of mode 0600
  "secrets": {
    // "API_KEY": {"file": "$config_dir/ambit/secrets/api-key"},
  },
}
JSON
  # link(2) does not replace what somebody else has put there meanwhile
  ln -T "$config.new.$$" "$config" 2>/dev/null || :
  rm -f "$config.new.$$"
  [ -e "$config" ] || die "cannot write $config"
  say "wrote $config"
}

# --- switching

locked=''     # set while nobody else may install
switched=''   # set while a switch is not known to be good
former=''     # the release to go back to

# activate RELEASE: with everything in place to go back.
activate() {
  switched=$1
  point "$share/pending" "${former:+releases/}${former:-none}"
  mkdir -p "$bin"
  for program in ambit ambitd; do point "$bin/$program" "$share/current/$program"; done
  touch "$share/releases/$1"
  point "$share/current" "releases/$1"
  [ "$service" = no ] || {
    mkdir -p "${unit%/*}"
    put "$unit" <"$share/releases/$1/ambitd.service"
    start "$1" || { what_happened; die "cannot start the service with release $1: see above, and journalctl --user -u ambitd"; }
  }
  [ -z "$former" ] || [ "$former" = "$1" ] || point "$share/previous" "releases/$former"
  rm -f "$share/pending"
  switched=''
}

# retreat: to the former release; its service too.
retreat() {
  switched=''
  if [ -n "$former" ]; then
    point "$share/current" "releases/$former"
    if [ "$service" = yes ]; then
      put "$unit" <"$share/releases/$former/ambitd.service"
      # it may serve still
      if { user_systemctl daemon-reload && serves "$former" 0s; } || start "$former"; then
        warn "rolled back: release $former serves"
      else
        what_happened
        warn "rolled back to release $former, but its service does not come up either: see above"
      fi
    else
      warn "rolled back to release $former"
    fi
  else
    if [ "$service" = yes ]; then
      user_systemctl disable --now --quiet ambitd.service 2>/dev/null || :
      rm -f "$unit"
      user_systemctl daemon-reload || :
    fi
    rm -f "$share/current" "$bin/ambit" "$bin/ambitd"
    warn 'rolled back: nothing is installed, as before'
  fi
  rm -f "$share/pending"
}

# leave: whatever ends this script before a switch is known to be good.
leave() {
  status=$?
  trap '' INT TERM HUP
  [ -z "$switched" ] || retreat
  rm -rf "${new:-}"
  [ -z "$locked" ] || rm -f "$share"/*.new "$bin/ambit.new" "$bin/ambitd.new"
  exit "$status"
}

# settle: a switch that was killed is undone.
settle() {
  [ -L "$share/pending" ] || return 0
  former=$(release_of pending)
  warn 'an earlier installation was interrupted'
  retreat
}

# prune: three releases stay: the one in use, the one before, and the youngest of the others.
prune() {
  in_use=$(release_of current) before=$(release_of previous) kept=1
  [ -z "$before" ] || [ "$before" = "$in_use" ] || kept=2
  # names hold no blanks: stage sees to it
  # shellcheck disable=SC2045
  for name in $(ls -t "$share/releases"); do
    case $name in "$in_use" | "$before") continue ;; esac
    kept=$((kept + 1))
    [ $kept -le 3 ] || rm -rf "${share:?}/releases/$name"
  done
}

# --- what can be asked for

check_ours() {
  for program in ambit ambitd; do
    ours "$bin/$program" || die "cannot make the link $bin/$program: something else is there; move it away, or choose another --prefix"
  done
  [ "$service" = no ] || our_unit || die "cannot write the unit $unit: another one is there; move it away"
}

# checked RELEASE NOUN: the preflight, and what its failure means.
checked() {
  preflight "$1" || {
    warn "cannot use the $2 release $1: it can't run a sandboxed command here with $config"
    if [ -n "$former" ]; then
      warn "nothing was changed: release $former stays in use"
    else
      warn 'nothing was installed'
    fi
    die "what to do: correct what is said above; $share/releases/$1/ambit doctor tells what this host can enforce; then call this again"
  }
}

install_release() {
  stage
  configure
  checked "$release" new
  if [ "$former" = "$release" ] && [ -e "$bin/ambit" ] && [ -e "$bin/ambitd" ]; then
    if [ "$service" = no ]; then
      say "release $release is in use already"
      return
    fi
    if cmp -s "$unit" "$share/releases/$release/ambitd.service" && user_systemctl is-enabled --quiet ambitd.service &&
      serves "$release" 0s; then
      say "release $release serves already"
      return
    fi
  fi
  activate "$release"
  prune
  say "release $release is in use${former:+; before: $former}"
  hints
}

hints() {
  case :$PATH: in *:"$bin":*) ;; *) say "$bin is not in PATH" ;; esac
  [ "$service" = yes ] || { say "start it with: $bin/ambitd serve --config $config"; return 0; }
  [ -e "/var/lib/systemd/linger/$(id -un)" ] ||
    say "the service ends when you log out; as root, once: loginctl enable-linger $(id -un)"
}

rollback() {
  back=$(release_of previous)
  [ -n "$former" ] || die 'cannot roll back: nothing is installed'
  case $back in '' | "$former") die "cannot roll back: there is no release before $former" ;; esac
  checked "$back" former
  activate "$back"
  say "release $back is in use; before: $former"
}

uninstall() {
  if [ "$service" = yes ] && [ -e "$unit" ]; then
    user_systemctl disable --now --quiet ambitd.service || warn 'cannot stop the service: going on'
    rm -f "$unit"
    user_systemctl daemon-reload || :
  fi
  for program in ambit ambitd; do
    [ ! -L "$bin/$program" ] || rm -f "$bin/$program"
  done
  rm -f "$share/current" "$share/previous" "$share/pending"
  rm -rf "$share/releases"
  say "removed. What stays: $config_dir/ambit, $projects, ${XDG_STATE_HOME:-$home/.local/state}/ambit"
}

trap leave EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
check_ours
take_lock
case $action in
  uninstall) uninstall ;;
  *)
    settle
    former=$(release_of current)
    case $action in
      install) install_release ;;
      rollback) rollback ;;
    esac
    ;;
esac
