// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// through is a directory that names lead to by links, of which a doubtful one
// ends in "?".
func through(to string, links ...string) plan.Object {
	obj := dir(to)
	for _, l := range links {
		name, doubtful := strings.CutSuffix(l, "?")
		obj.Links = append(obj.Links, plan.Link{Path: name, Doubtful: doubtful})
	}
	return obj
}

// TestDoubtfulLinks: a grant that leads through a link which a command could
// have made gives nothing that the other grants don't give.
func TestDoubtfulLinks(t *testing.T) {
	host := table{
		"/": dir("/"), "/h": dir("/h"), "/h/ssh": dir("/h/ssh"), "/p": dir("/p"), "/p/d": dir("/p/d"), "/p/.git/hooks": dir("/p/.git/hooks"),
		"/p/build": through("/h", "/p/build"), "/p/in": through("/p/d", "/p/in"), "/p/k": through("/p/.git/hooks", "/p/k"),
		"/l": through("/h/ssh", "/l"), "/old": through("/h/ssh", "/old?"), "/h/tool": through("/h/ssh", "/h/tool?"),
		"/two": through("/h", "/p/x", "/l2"),
	}
	for name, c := range map[string]struct {
		rules   []policy.PathRule
		workDir string
		link    string // that the refusal names; empty: none
		mode    plan.Mode
		at      string
	}{
		"in a writable place":                 {rules("write /p", "write /p/build"), "/p", "/p/build", 0, ""},
		"in a built-in writable place":        {rules("write* /p", "read /p/build"), "/p", "/p/build", 0, ""},
		"a doubtful one vouches for no other": {rules("write /p", "write /p/build", "write /old"), "/p", "/p/build", 0, ""},
		"the first of two":                    {rules("write /p", "read /two"), "/p", "/p/x", 0, ""},
		"to what is granted":                  {rules("write /p", "write /p/in"), "/p", "", plan.Write, "/p/d"},
		"to what is granted otherwise":        {rules("write /p", "write /p/build", "write /h"), "/p", "", plan.Write, "/h/ssh"},
		"to what is granted for less":         {rules("write /p", "write /p/build", "read /h"), "/p", "/p/build", 0, ""},
		"to a protected place":                {rules("write* /p", "blocked-write* /p/.git/hooks", "write /p/k"), "/p", "/p/k", 0, ""},
		"to a blocked place":                  {rules("write /p", "blocked /h", "write /p/build"), "/p", "", plan.None, "/h/ssh"},
		"in a readable place":                 {rules("read /p", "read /p/build"), "/p", "", plan.Read, "/h/ssh"},
		"in a place that is closed":           {rules("write /p", "blocked-write /p/build", "read /p/build"), "/p", "", plan.Read, "/h/ssh"},
		"nobody could have made it":           {rules("write /p", "write /l"), "/p", "", plan.Write, "/h/ssh"},
		"an earlier run could":                {rules("write /p", "read /old"), "/p", "/old", 0, ""},
		"a built-in read is left out":         {rules("write* /p", "read* /h/tool"), "/p", "", plan.None, "/h/ssh"},
		"a built-in write is refused":         {rules("write* /old"), "/p", "/old", 0, ""},
		"the working directory":               {rules("write /p"), "/old", "/old", 0, ""},
		"a granted working directory":         {rules("read /h"), "/old", "", plan.Read, "/h/ssh"},
		"by a sure name and another":          {rules("write /p", "write /p/build", "write /h"), "/p", "", plan.Write, "/h"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Compile(&policy.Resolved{Rules: c.rules, WorkDir: c.workDir}, "", host)
			var refused *plan.PathError
			switch {
			case c.link == "" && err != nil:
				t.Fatal(err)
			case c.link == "":
				if got := p.Tree.Mode(c.at); got != c.mode {
					t.Errorf("%s has mode %v, want %v\n%s", c.at, got, c.mode, dump(p))
				}
			case !errors.As(err, &refused) || !strings.Contains(err.Error(), "symbolic link "+c.link+","):
				t.Errorf("refused with %v, want the link %s", err, c.link)
			}
		})
	}
}

// TestLinksOfReadsStay: a link to what is granted for reading within a
// writable place can't be replaced, or the next run would leave it writable.
func TestLinksOfReadsStay(t *testing.T) {
	host := table{"/": dir("/"), "/p": dir("/p"), "/p/lib": dir("/p/lib"), "/p/vendor": through("/p/lib", "/p/vendor")}
	p, err := plan.Compile(&policy.Resolved{Rules: rules("write /p", "read /p/vendor"), WorkDir: "/p"}, "", host)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]plan.Mode{"/p": plan.Write, "/p/lib": plan.Read, "/p/vendor": plan.Read, "/p/other": plan.Write} {
		if got := p.Tree.Mode(at); got != want {
			t.Errorf("%s has mode %v, want %v", at, got, want)
		}
	}
}
