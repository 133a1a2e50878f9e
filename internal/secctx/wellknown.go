// SPDX-License-Identifier: Apache-2.0

package secctx

import "strings"

// The functions of this file say where a socket is, from the variable that
// names it and others. ok is false if none is named, or not by a path.

// x11Path: X(7), DISPLAY NAMES.
func x11Path(display string, _ func(string) string) (string, bool) {
	host, number, ok := strings.Cut(display, ":")
	number, _, _ = strings.Cut(number, ".")
	if !ok || host != "" && host != "unix" || number == "" || strings.Trim(number, "0123456789") != "" {
		return "", false
	}
	return "/tmp/.X11-unix/X" + number, true
}

// waylandPath: wl_display_connect.
func waylandPath(name string, other func(string) string) (string, bool) {
	if strings.HasPrefix(name, "/") {
		return name, true
	}
	dir := other("XDG_RUNTIME_DIR")
	if dir == "" || name == "" {
		return "", false
	}
	return dir + "/" + name, true
}

// sessionBusPath: the D-Bus specification, "Server addresses".
func sessionBusPath(address string, other func(string) string) (string, bool) {
	if address != "" {
		return busPath(address)
	}
	dir := other("XDG_RUNTIME_DIR")
	return dir + "/bus", dir != ""
}

func systemBusPath(address string, _ func(string) string) (string, bool) {
	if address != "" {
		return busPath(address)
	}
	return "/run/dbus/system_bus_socket", true
}

// busPath takes the first address with a path.
func busPath(addresses string) (string, bool) {
	for address := range strings.SplitSeq(addresses, ";") {
		keys, ok := strings.CutPrefix(address, "unix:")
		for key := range strings.SplitSeq(keys, ",") {
			if path, is := strings.CutPrefix(key, "path="); ok && is {
				return path, path != ""
			}
		}
	}
	return "", false
}

func dockerPath(host string, _ func(string) string) (string, bool) {
	if host == "" {
		return "/var/run/docker.sock", true
	}
	path, ok := strings.CutPrefix(host, "unix://")
	return path, ok && path != ""
}

// gpgPath: gpgconf --list-dirs agent-socket. With a home of its own the socket
// is in a folder whose name is a digest of it, unless there is no XDG folder;
// the old place holds a socket or a file that leads to it.
func gpgPath(home string, other func(string) string) (string, bool) {
	if home != "" {
		return home + "/S.gpg-agent", true
	}
	if dir := other("XDG_RUNTIME_DIR"); dir != "" {
		return dir + "/gnupg/S.gpg-agent", true
	}
	dir := other("HOME")
	return dir + "/.gnupg/S.gpg-agent", dir != ""
}
