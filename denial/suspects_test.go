// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"strings"
	"testing"
	"time"
)

func TestSuspects(t *testing.T) {
	at := func(ms float64, process int, call, object string) Denial {
		return Denial{At: ms, Process: process, Call: call, Object: object}
	}
	for name, c := range map[string]struct {
		list   []Denial
		lasted time.Duration
		want   string
	}{
		"none":                        {nil, time.Second, ""},
		"one":                         {[]Denial{at(1, 7, "open", "/a")}, time.Second, "/a"},
		"of the last process":         {[]Denial{at(1, 7, "open", "/a"), at(2, 8, "open", "/b")}, time.Second, "/b"},
		"all of it":                   {[]Denial{at(1, 8, "open", "/a"), at(2, 7, "open", "/b"), at(3, 8, "open", "/c")}, time.Second, "/a /c"},
		"out of order":                {[]Denial{at(3, 8, "open", "/a"), at(2, 7, "open", "/b")}, time.Second, "/a"},
		"a process not known":         {[]Denial{at(1, 0, "open", "/a"), at(2, 0, "open", "/b")}, time.Second, "/b"},
		"optional alone":              {[]Denial{at(1, 7, "open", "/h/.bash_history")}, time.Second, ""},
		"optional last":               {[]Denial{at(1, 7, "open", "/a"), at(2, 8, "open", "/h/.bash_history")}, time.Second, "/a"},
		"optional beside":             {[]Denial{at(1, 7, "open", "/h/.viminfo"), at(2, 7, "open", "/a")}, time.Second, "/a"},
		"long before the end":         {[]Denial{at(1000, 7, "open", "/a")}, 6001 * time.Millisecond, ""},
		"not that long":               {[]Denial{at(1000, 7, "open", "/a")}, 6000 * time.Millisecond, "/a"},
		"of minutes the last seconds": {[]Denial{at(280_000, 7, "open", "/a")}, 5 * time.Minute, "/a"},
		"of minutes the first":        {[]Denial{at(200_000, 7, "open", "/a")}, 5 * time.Minute, ""},
		"a part long before":          {[]Denial{at(1, 7, "open", "/a"), at(9000, 7, "open", "/b")}, 9 * time.Second, "/b"},
		"cleaning up":                 {[]Denial{at(1, 7, "mkdir", "/a/x"), at(2, 7, "rmdir", "/a")}, time.Second, "/a/x"},
		"removing":                    {[]Denial{at(1, 7, "unlink", "/a/x"), at(2, 7, "rmdir", "/a")}, time.Second, "/a/x /a"},
		"removing first":              {[]Denial{at(1, 7, "unlink", "/a"), at(2, 7, "open", "/a")}, time.Second, "/a /a"},
	} {
		var got []string
		for _, d := range Suspects(c.list, c.lasted) {
			got = append(got, d.Object)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestFlags(t *testing.T) {
	flag := func(f string) *Grant { return &Grant{Flag: f} }
	on := testPlaces()
	hooks := Denial{Object: "/p/.git/modules/s/hooks", Access: Write, Rule: protection("git-hooks")}
	config := Denial{Object: "/p/.git/modules/s/config", Access: Write, Rule: protection("git-config")}
	own := Denial{Object: "/p/.git/hooks", Access: Write, Rule: protection("git-hooks")}
	for _, d := range []*Denial{&hooks, &config, &own} {
		d.Grant = GrantFor(d, on)
	}
	for name, c := range map[string]struct {
		list []Denial
		want string
	}{
		"none":            {nil, ""},
		"each once":       {[]Denial{{Grant: flag("--a")}, {Grant: flag("--b")}, {Grant: flag("--a")}}, "--a --b"},
		"one without":     {[]Denial{{Grant: flag("--a")}, {}}, ""},
		"one that can't":  {[]Denial{{Grant: flag("--a")}, {Grant: &Grant{Keep: "why"}}}, ""},
		"a submodule":     {[]Denial{hooks}, "--unprotect git-hooks --unprotect git-config"},
		"its config":      {[]Denial{config}, "--unprotect git-config --unprotect git-hooks"},
		"the project's":   {[]Denial{own}, "--unprotect git-hooks"},
		"a worktree":      {[]Denial{{Call: "mkdir", Program: "git worktree", Grant: flag("--write /wt")}}, "--write /wt --unprotect git-worktrees"},
		"a clone":         {[]Denial{{Call: "mkdir", Program: "git clone", Grant: flag("--write /wt")}}, "--write /wt"},
		"called worktree": {[]Denial{{Call: "mkdir", Program: "worktree", Grant: flag("--write /wt")}}, "--write /wt"},
	} {
		if got := strings.Join(Flags(c.list), " "); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
