// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/sha256"
)

// mostVariables bounds the names that are kept.
const mostVariables = 1024

// compared are the variables whose values decide where programs look, and
// which hold no secret: paths, a locale, a terminal's kind. Of these, and of no
// others, a digest is kept. Whoever has it can test a guess of the value, so
// only what may as well be shown stands here.
var compared = [...]string{
	"HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "PATH", "SHELL", "TERM", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
	"DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME", "VIRTUAL_ENV", "GOPATH", "GOCACHE",
	"CARGO_HOME", "RUSTUP_HOME", "NODE_PATH", "PYTHONPATH", "GIT_DIR", "GIT_WORK_TREE",
}

// environmentOf keeps names, and digests with a salt that the host has anew at
// each start.
func environmentOf(environ []string, salt string) *Environment {
	values := map[string]string{}
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if _, again := values[name]; ok && name != "" && !again {
			values[name] = value
		}
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, text(name))
	}
	slices.Sort(names)
	e := &Environment{Names: *listOf(names, mostVariables)}
	if salt == "" {
		return e
	}
	e.Salt, e.Compared = digest("ambit salt", salt), map[string]string{}
	for _, name := range compared {
		if value, ok := values[name]; ok {
			e.Compared[name] = digest(salt, name+"="+value)
		}
	}
	return e
}

func digest(salt, value string) string {
	sum := sha256.Sum([]byte(salt + "\x00" + value))
	return hex.EncodeToString(sum[:8])
}

// lookup finds a variable, the first of its name as getenv(3) does.
func lookup(environ []string, name string) (string, bool) {
	for _, kv := range environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
