# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The servers: the user's are started, root's (see `pre`) are told to start, all are waited for.
# shellcheck disable=SC2154  # suite, effects, log: set by the script that reads this file

# until_true SECONDS COMMAND...: generous, since the machine below may be busy; nobody waits longer than needed.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}

# background NAME COMMAND...: a server, which ends with the suite.
background() {
  local name=$1
  shift
  "$@" </dev/null >"$log/$name" 2>&1 &
  servers+=($!)
}

# activated BUS TOKEN: the bus can be asked to start a program that shows the token.
activated() {
  local folder=$HOME/$1/dbus-1/services
  mkdir -p "$folder"
  printf '[D-BUS Service]\nName=lab.%s\nExec=/usr/bin/touch %s\n' "$2" "$effects/$1.$2" >"$folder/lab.$2.service"
}

# manager: what a service manager gives a user's own: a delegated cgroup, and the name of the user's folders. The
# session bus is the one that its unit dbus.socket starts.
manager() {
  mkdir -p /sys/fs/cgroup/svc/user
  # shellcheck disable=SC2016  # the inner shell is meant
  XDG_DATA_HOME=$HOME/bus background manager bash -c \
    'echo $$ >/sys/fs/cgroup/svc/user/cgroup.procs && exec /usr/lib/systemd/systemd --user --unit=basic.target'
}

start_servers() {
  servers=()
  echo go >/run/lab-servers/start
  until_true 60 test -d /run/systemd/system
  manager
  XDG_DATA_HOME=$HOME/bus-abstract background bus-abstract \
    dbus-daemon --session --nofork --nopidfile "--address=unix:abstract=$LAB_ABSTRACT_BUS"
  background agent ssh-agent -D -a "$SSH_AUTH_SOCK"
  mkdir -m 1777 /tmp/.X11-unix
  background x11 python3 "$suite/sockets.py" serve "$log/sent" /tmp/.X11-unix/X0 @/tmp/.X11-unix/X0
  local socket
  for socket in "$SSH_AUTH_SOCK" "$XDG_RUNTIME_DIR/systemd/private" "$XDG_RUNTIME_DIR/bus" /dev/log /run/docker.sock; do
    until_true 120 test -S "$socket" || { tail "$log"/* /run/lab-servers/log; echo "cannot go on: $socket did not appear"; exit 1; }
  done
  until_true 60 test -e "$log/sent"
}
