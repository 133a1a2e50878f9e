// SPDX-License-Identifier: Apache-2.0

package written

import (
	"path"
	"strings"
)

// Dir returns the directory for Ambit's own state, of a user with this home
// and this directory for state (XDG_STATE_HOME), either of which may be
// empty; "" where there is none.
func Dir(home, state string) string {
	switch {
	case path.IsAbs(state):
		return path.Join(state, "ambit")
	case path.IsAbs(home):
		return path.Join(home, ".local/state/ambit")
	}
	return ""
}

// within reports whether a name is a place or lies below it.
func within(name, place string) bool {
	rest, found := strings.CutPrefix(name, strings.TrimSuffix(place, "/"))
	return found && (rest == "" || rest[0] == '/')
}
