// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"path"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

// testPlaces is a host on which names say what stands there: "missing" is not
// there, one letter is a file.
func testPlaces(guarded ...Guarded) *Places {
	return &Places{Guarded: guarded, Look: func(name string) Kind {
		switch {
		case strings.Contains(name, "missing"):
			return Missing
		case len(path.Base(name)) == 1 && name != "/":
			return Other
		}
		return Directory
	}}
}

// TestGuarded: no grant covers a guarded place, whatever was wanted, and beside
// each that is refused there is one that is not.
func TestGuarded(t *testing.T) {
	on := testPlaces(
		Guarded{Path: "/home/user", Why: "the home"},
		Guarded{Path: "/home/user/work", Why: "the project's surroundings", Below: true},
		Guarded{Path: "/data/shut", Why: "a block"},
		Guarded{Path: "/missing/shut", Why: "a block"},
	)
	for name, c := range map[string]struct {
		call, object string
		flag         string
		why          string // instead of a flag
	}{
		"the home":                     {"chmod", "/home/user", "", "the home"},
		"above the home":               {"chmod", "/home", "", "the home"},
		"removed from the home":        {"unlink", "/home/user/f", "", "the home"},
		"a file of the home":           {"open", "/home/user/f", "--write /home/user/f", ""},
		"a new one in the home":        {"mkdir", "/home/user/missing", "--write /home/user/missing", ""},
		"renamed to a new one":         {"rename", "/home/user/missing", "--write /home/user/missing", ""},
		"a directory there":            {"chmod", "/home/user/lib", "--write /home/user/lib", ""},
		"a name that begins alike":     {"chmod", "/home/use", "--write /home/use", ""},
		"the project":                  {"chmod", "/home/user/work", "--write /home/user/work", ""},
		"around a block":               {"chmod", "/data", "", "a block"},
		"removed beside a block":       {"rmdir", "/data/open", "", "a block"},
		"beside a block":               {"chmod", "/data/open", "--write /data/open", ""},
		"removed elsewhere":            {"rmdir", "/data/open/it", "--write /data/open", ""},
		"a new one around a block":     {"mkdir", "/missing", "", "a block"},
		"a new one beside a block":     {"mkdir", "/data/missing", "--write /data/missing", ""},
		"removed from the root":        {"unlink", "/f", "", "everything"},
		"the root":                     {"chmod", "/", "none", ""},
		"deep in what is missing":      {"open", "/home/user/missing/registry/f", "--write /home/user/missing", ""},
		"removed deep in what is gone": {"unlink", "/home/user/missing/f", "--write /home/user/missing", ""},
	} {
		g := GrantFor(&Denial{Call: c.call, Object: c.object, Access: Write}, on)
		switch {
		case c.flag == "none":
			if g != nil {
				t.Errorf("%s: %+v", name, g)
			}
		case g == nil || g.Flag != c.flag || (g.Policy == nil) != (c.flag == ""):
			t.Errorf("%s: %+v", name, g)
		case c.why != "" && !strings.HasSuffix(g.Keep, " would open "+c.why):
			t.Errorf("%s: %q", name, g.Keep)
		}
	}
}

func protection(name string) *policy.PathRule {
	return &policy.PathRule{Kind: policy.BlockedWrite, Origin: "built-in workspace, " + name, Builtin: true}
}
