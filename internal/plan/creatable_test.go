// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// fates are what became of the paths that a plan lists, and newPlaces where the
// command may make something in a directory that is not writable.
func fates(p *plan.Plan) (out []string) {
	for _, l := range p.Listed {
		out = append(out, fmt.Sprintf("%s %s %s", l.Kind, l.Canonical, l.Status))
	}
	return out
}

func newPlaces(p *plan.Plan) (out []string) {
	for _, n := range p.Tree.NewPlaces() {
		out = append(out, fmt.Sprintf("%s in %v", n.Path, n.Around))
	}
	return out
}

// TestCreatable: a write grant of what is missing is one of the name. It gives
// nothing that a block takes away, and a read grant has nothing to give.
func TestCreatable(t *testing.T) {
	for name, c := range map[string]struct {
		rules     []string
		fates     []string
		newPlaces []string
	}{
		"nothing around is granted": {[]string{"write /home/u/n"}, []string{"write /home/u/n creatable"}, []string{"/home/u/n in none"}},
		"in a readable directory":   {[]string{"read /home/u", "write /home/u/n"}, []string{"read /home/u enforced", "write /home/u/n creatable"}, []string{"/home/u/n in read"}},
		"in a writable one":         {[]string{"write /home/u/p", "write /home/u/p/n"}, []string{"write /home/u/p enforced", "write /home/u/p/n creatable"}, nil},
		"several are missing":       {[]string{"write /home/u/a/b"}, []string{"write /home/u/a/b creatable"}, []string{"/home/u/a/b in none"}},
		"one within the other":      {[]string{"write /home/u/a/b", "write /home/u/a"}, []string{"write /home/u/a/b creatable", "write /home/u/a creatable"}, []string{"/home/u/a in none"}},
		"reading":                   {[]string{"read /home/u/n"}, []string{"read /home/u/n missing"}, nil},
		"built in":                  {[]string{"write* /home/u/n"}, nil, nil},
		"blocked":                   {[]string{"write /home/u/n", "blocked /home/u/n"}, []string{"write /home/u/n missing", "blocked /home/u/n missing"}, nil},
		"blocked above":             {[]string{"write /home/u/n", "blocked-write /home/u"}, []string{"write /home/u/n missing", "blocked-write /home/u enforced"}, nil},
		"a pattern":                 {[]string{"write /home/u/n", "blocked? /home/u/?"}, []string{"write /home/u/n missing", "blocked /home/u/? enforced"}, nil},
		"a block within":            {[]string{"write /home/u/n", "blocked /home/u/n/x"}, []string{"write /home/u/n creatable", "blocked /home/u/n/x missing"}, []string{"/home/u/n in none"}},
		"a protected name":          {[]string{"write* /home/u/p", "blocked-write* /home/u/p/x", "write /home/u/p/x"}, []string{"write /home/u/p enforced", "write /home/u/p/x creatable"}, nil},
		"within a protected name":   {[]string{"write* /home/u/p", "blocked-write* /home/u/p/x", "write /home/u/p/x/y"}, []string{"write /home/u/p enforced", "write /home/u/p/x/y missing"}, nil},
		"within a protected place":  {[]string{"write* /home/u/p", "blocked-write* /home/u/p/.agent", "write /home/u/p/.agent/y"}, []string{"write /home/u/p enforced", "blocked-write /home/u/p/.agent enforced", "write /home/u/p/.agent/y creatable"}, []string{"/home/u/p/.agent/y in read"}},
		"below a file":              {[]string{"write /home/u/.gitconfig/n"}, []string{"write /home/u/.gitconfig/n unreadable"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := compile(t, "/usr", c.rules...)
			if got := fates(p); !slices.Equal(got, c.fates) {
				t.Errorf("got  %q\nwant %q", got, c.fates)
			}
			if got := newPlaces(p); !slices.Equal(got, c.newPlaces) {
				t.Errorf("new places %q, want %q", got, c.newPlaces)
			}
			if len(p.Tree.Grants()) > 0 && slices.ContainsFunc(p.Tree.Grants(), func(n plan.Node) bool { return !n.Object.Exists }) {
				t.Error("a rule is asked for where nothing stands")
			}
		})
	}
}

// TestCreatableStrict: strict mode wants listed paths to be there.
func TestCreatableStrict(t *testing.T) {
	r := policy.Resolved{Strict: true, WorkDir: "/usr", Rules: rules("write /home/u/n")}
	const want = `cannot use write path "/home/u/n" from test: it is missing (strict mode)`
	if _, err := plan.Compile(&r, "", host); err == nil || err.Error() != want {
		t.Error(err)
	}
	if err := compile(t, "/usr", "write /home/u/n").AllPresent(); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// TestNothingNew: where the command can make nothing, what it could make only in
// a directory that is not writable is missing. The rest it can make.
func TestNothingNew(t *testing.T) {
	p := compile(t, "/usr", "write /home/u/n", "write /home/u/n/x", "write /home/u/p", "write /home/u/p/n")
	p.NothingNew()
	want := []string{"write /home/u/n missing", "write /home/u/n/x missing", "write /home/u/p enforced", "write /home/u/p/n creatable"}
	if got := fates(p); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestCreatableWithin: what a bound gives by its name, or together with the
// directory around it, can be asked for, and nothing else beside it.
func TestCreatableWithin(t *testing.T) {
	for _, c := range []struct {
		asked, bound string
		want         []string // nil: refused
	}{
		{"write /home/u/n", "write /home/u/n", []string{"/home/u/n in none"}},
		{"write /home/u/n/x", "write /home/u/n", []string{"/home/u/n/x in none"}},
		{"write /home/u/n", "write /home/u", []string{"/home/u/n in none"}},
		{"write /home/u/n", "write /home/u/n/x", nil},
		{"write /home/u/m", "write /home/u/n", nil},
		{"write /home/u/n", "read /home/u", nil},
	} {
		p, err := plan.Intersect(compile(t, "/usr", "read /usr", c.asked), compile(t, "/usr", "read /usr", c.bound))
		var more *plan.BoundError
		switch {
		case c.want == nil && !errors.As(err, &more), c.want != nil && err != nil:
			t.Errorf("%s within %s: %v", c.asked, c.bound, err)
		case c.want != nil && !slices.Equal(newPlaces(p), c.want):
			t.Errorf("%s within %s: new places %q, want %q", c.asked, c.bound, newPlaces(p), c.want)
		}
	}
}

// TestCreatableThroughLinks: a link that a command could have made leads to
// nothing that may be made, as it leads to nothing that is there.
func TestCreatableThroughLinks(t *testing.T) {
	missing := func(to string, links ...plan.Link) plan.Object { return plan.Object{Path: to, Links: links} }
	host := table{
		"/": dir("/"), "/h": dir("/h"), "/p": dir("/p"),
		"/p/build": missing("/h/new", plan.Link{Path: "/p/build"}),
		"/l":       missing("/h/new", plan.Link{Path: "/l"}),
		"/old":     missing("/h/new", plan.Link{Path: "/old", Doubtful: true}),
		"/p/in":    missing("/p/new", plan.Link{Path: "/p/in"}),
	}
	for name, c := range map[string]struct {
		rules []policy.PathRule
		link  string // that the refusal names; empty: none
		mode  plan.Mode
	}{
		"in a writable place":         {rules("write /p", "write /p/build"), "/p/build", 0},
		"an earlier run could":        {rules("write /old"), "/old", 0},
		"nobody could have made it":   {rules("write /p", "write /l"), "", plan.Write},
		"to what is granted":          {rules("write /p", "write /h", "write /p/build"), "", plan.Write},
		"by another name, missing":    {rules("write /p", "write /h/new", "write /p/build"), "", plan.Write},
		"to what may be made anyway":  {rules("write /p", "write /p/in"), "", plan.None},
		"in a place that is readable": {rules("read /p", "write /p/build"), "", plan.Write},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Compile(&policy.Resolved{Rules: c.rules, WorkDir: "/p"}, "", host)
			switch {
			case c.link == "" && err != nil:
				t.Fatal(err)
			case c.link == "":
				if got := p.Tree.Mode("/h/new"); got != c.mode {
					t.Errorf("/h/new has mode %v, want %v\n%s", got, c.mode, dump(p))
				}
			case err == nil || !strings.Contains(err.Error(), "symbolic link "+c.link+","):
				t.Errorf("refused with %v, want the link %s", err, c.link)
			}
		})
	}
}
