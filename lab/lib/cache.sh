# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The lab's cache: artefacts that appear whole or not at all, each under a key made of what it is built from.

LAB_DIR=${AMBIT_LAB_DIR:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/ambit-lab}
export LAB_DIR

die() { echo "lab: $*" >&2; exit 125; }
say() { echo "lab: $*" >&2; }

# rows FILE: the lines of one of the lab's tables, without comments.
rows() { sed 's/#.*//' "$1" | grep -v '^[[:space:]]*$'; }

# key FILE_OR_TEXT...: twelve hex digits over the contents (of files) and the words themselves.
key() {
  local word
  for word; do if [ -f "$word" ]; then cat "$word"; else echo "$word"; fi; done | sha256sum | cut -c1-12
}

# artefact PATH COMMAND [ARG...]: unless PATH (a folder) exists, run COMMAND ARG... NEWDIR and move NEWDIR there.
# A run that was killed leaves only a NEWDIR, which the next one throws away; two runs at once build it once.
# COMMAND is a program of its own, so that its `set -e` holds.
artefact() {
  local path=$1 lock new
  shift
  [ ! -d "$path" ] || return 0
  mkdir -p "$(dirname "$path")" || return
  exec {lock}>"$path.lock" || return
  flock "$lock" || return
  if [ ! -d "$path" ]; then
    rm -rf "$path".new.*
    new=$(mktemp -d "$path.new.XXXXXX") || return
    "$@" "$new" || { rm -rf "$new"; return 1; }
    chmod 755 "$new" && mv -T "$new" "$path" || return
  fi
  exec {lock}>&-
}

# in_use shared|exclusive: boots share the cache; `lab clean` waits for them. Held until this process ends.
in_use() {
  mkdir -p "$LAB_DIR"
  exec {LAB_USE_FD}>"$LAB_DIR/use.lock"
  case $1 in
    shared) flock -s "$LAB_USE_FD" ;;
    exclusive) flock "$LAB_USE_FD" ;;
  esac
}
