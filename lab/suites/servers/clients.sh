#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clients.sh TOKEN NAME...: the clients of these servers, each of which asks its server to do something that shows the
# TOKEN outside. Runs within the sandbox and without. One line a client: its name, its status, what it complained of;
# then one for each of LAB_SOCKETS: whether it can be connected to.
token=$1
shift

bus() {
  dbus-send "--bus=$1" --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames >/dev/null
  local status=$?
  # a message to a name that nobody owns starts the program of that name
  dbus-send "--bus=$1" "--dest=lab.$token" / lab.Touch.Please 2>/dev/null
  return $status
}

# volume: what `docker volume create` sends; under emulation each start of the docker client takes seconds.
volume() {
  curl -fsS --unix-socket /run/docker.sock -H 'Content-Type: application/json' -d "{\"Name\": \"$token\"}" \
    http://docker/volumes/create >/dev/null
}

client() {
  case $1 in
    bus) bus "unix:path=$XDG_RUNTIME_DIR/bus" ;;
    bus-abstract) bus "unix:abstract=$LAB_ABSTRACT_BUS" ;;
    unit) systemd-run --user --quiet --collect touch "$LAB_EFFECTS/unit.$token" ;;
    unit-over-bus) systemd-run --user --quiet --collect --wait touch "$LAB_EFFECTS/unit-over-bus.$token" ;;
    docker) volume; docker ps >/dev/null ;;
    agent) ssh-add -q "$token.key" && ssh-add -l >/dev/null ;;
    x11) python3 sockets.py send /tmp/.X11-unix/X0 "$token" ;;
    x11-abstract) python3 sockets.py send @/tmp/.X11-unix/X0 "$token" ;;
    syslog) logger --socket-errors=on --tag lab "$token" ;;
    *) echo "no such client" >&2; return 99 ;;
  esac
}

for name; do
  complaint=$(client "$name" 2>&1)
  status=$?
  echo "$name $status ${complaint//$'\n'/ | }"
done
# shellcheck disable=SC2086  # addresses
exec python3 sockets.py knock $LAB_SOCKETS
