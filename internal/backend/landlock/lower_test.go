// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"fmt"
	"path"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/policy"
)

// world is a made-up file system: every name that ends in "/" is a folder, in
// "!" an executable file, in "+" one with other names.
type world []string

func (w world) object(name string) plan.Object {
	for i, line := range w {
		if strings.TrimRight(line, "/!+") == name || line == name {
			return plan.Object{
				Path: name, Exists: true, Dir: strings.HasSuffix(line, "/"), Dev: 1, Ino: uint64(i + 1),
				Executable: strings.Contains(line, "!"), Linked: strings.Contains(line, "+"),
			}
		}
	}
	return plan.Object{Path: name}
}

func (w world) Resolve(name string) (plan.Object, error) { return w.object(name), nil }
func (w world) Find(name string) (plan.Object, error)    { return w.object(name), nil }

func (w world) Inside(dir plan.Object, wanted func(string) bool) ([]plan.Object, error) {
	return w.list(dir, wanted)
}

func (w world) list(dir plan.Object, wanted func(string) bool) ([]plan.Object, error) {
	var out []plan.Object
	for _, line := range w {
		name := strings.TrimRight(line, "/!+")
		if name != "" && path.Dir(name) == dir.Path && (strings.HasSuffix(line, "/") || wanted == nil || wanted(path.Base(name))) {
			out = append(out, w.object(name))
		}
	}
	return out, nil
}

var project = world{
	"/", "/p/", "/p/.git/", "/p/.git/hooks/", "/p/.git/hooks/pre-commit", "/p/.git/config", "/p/.git/objects/",
	"/p/src/", "/p/src/main.go", "/p/.env", "/p/Makefile", "/home/", "/home/u/", "/home/u/.ssh/", "/home/u/notes",
}

func rightsOf(m plan.Mode) probe.FS {
	switch m {
	case plan.Read:
		return probe.FSReadFile | probe.FSReadDir | probe.FSExecute
	case plan.Write:
		return probe.FSResolveUnix<<1 - 1
	}
	return 0
}

func show(grants []grant) string {
	var lines []string
	for _, g := range grants {
		word := g.rights.String()
		for m, name := range map[probe.FS]string{rightsOf(plan.Read): "read", rightsOf(plan.Write): "write", rightsOf(plan.Write) &^ rightsOf(plan.Read): "change"} {
			if g.rights == m {
				word = name
			}
		}
		lines = append(lines, fmt.Sprintf("%-6s %s", word, g.object.Path))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func TestLower(t *testing.T) {
	for name, c := range map[string]struct {
		rules  []policy.PathRule
		grants string
		native []string
	}{
		"uniform": {[]policy.PathRule{{Path: "/p", Kind: policy.Write}}, "write  /p", nil},
		"write block": {[]policy.PathRule{{Path: "/p", Kind: policy.Write}, {Path: "/p/.git/hooks", Kind: policy.BlockedWrite}},
			"change /p/.git/objects\nchange /p/src\nread   /p",
			[]string{"/p/.git/objects", "/p/src"}},
		"block": {[]policy.PathRule{{Path: "/p", Kind: policy.Write}, {Path: "/p/.env", Kind: policy.Blocked}},
			"read   /p/Makefile\nwrite  /p/.git\nwrite  /p/src", []string{"/p/.git", "/p/src"}},
		"both": {[]policy.PathRule{{Path: "/p", Kind: policy.Write}, {Path: "/p/.env", Kind: policy.Blocked}, {Path: "/p/.git/hooks", Kind: policy.BlockedWrite}},
			"change /p/.git/objects\nread   /p/.git\nread   /p/Makefile\nwrite  /p/src",
			[]string{"/p/.git/objects", "/p/src"}},
		"missing": {[]policy.PathRule{{Path: "/p", Kind: policy.Read}, {Path: "/p/new/secret", Kind: policy.Blocked}},
			"read   /p/.env\nread   /p/.git\nread   /p/Makefile\nread   /p/src", []string{"/p/.git", "/p/src"}},
		"readable home": {[]policy.PathRule{{Path: "/home", Kind: policy.Read}, {Path: "/home/u/.ssh", Kind: policy.Blocked}},
			"read   /home/u/notes", nil},
		"write again below": {[]policy.PathRule{{Path: "/p", Kind: policy.Write}, {Path: "/p/.git", Kind: policy.Read}, {Path: "/p/.git/objects", Kind: policy.Write}},
			"change /p/src\nread   /p\nwrite  /p/.git/objects",
			[]string{"/p/src"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Compile(&policy.Resolved{Rules: c.rules, WorkDir: "/"}, "", project)
			if err != nil {
				t.Fatal(err)
			}
			l, err := lower(p.Tree, rightsOf, project.list)
			if err != nil {
				t.Fatal(err)
			}
			grants, native := l.grants, l.native
			if d := cmp.Diff(c.grants, show(grants)); d != "" {
				t.Errorf("grants (-want +got):\n%s", d)
			}
			var names []string
			for i := range native {
				names = append(names, strings.TrimSuffix(project[i.Ino-1], "/"))
			}
			sort.Strings(names)
			if d := cmp.Diff(c.native, names); d != "" {
				t.Errorf("native (-want +got):\n%s", d)
			}
			neverMore(t, p.Tree, grants)
		})
	}
}

// neverMore holds the rules against the tree: what a rule gives to anything
// beneath it, the tree gives too. This is the property that matters.
func neverMore(t *testing.T, tree *plan.Tree, grants []grant) {
	t.Helper()
	for _, g := range grants {
		for _, n := range tree.Nodes() {
			if n.Path == g.object.Path || strings.HasPrefix(n.Path, g.object.Path+"/") {
				if extra := g.rights &^ rightsOf(n.Mode); extra != 0 {
					t.Errorf("the rule on %s gives %s to %s, which is %s", g.object.Path, extra, n.Path, n.Mode)
				}
			}
		}
		if extra := g.rights &^ rightsOf(tree.Mode(g.object.Path)); extra != 0 {
			t.Errorf("the rule on %s gives it %s", g.object.Path, extra)
		}
	}
}

// TestPlainFilesAreBounded: of very many files only the first get a rule for
// reading, but for those that can be executed, which nobody else could do; and
// none is looked at where only writing is missing.
func TestPlainFilesAreBounded(t *testing.T) {
	const many = plainFiles + 500
	crowd := world{"/", "/p/", "/p/.env"}
	for i := range many {
		crowd = append(crowd, fmt.Sprintf("/p/f%04d", i), fmt.Sprintf("/p/x%04d!", i))
	}
	for kind, want := range map[policy.Kind]int{policy.Blocked: plainFiles + many, policy.BlockedWrite: 1} {
		p, err := plan.Compile(&policy.Resolved{WorkDir: "/", Rules: []policy.PathRule{
			{Path: "/p", Kind: policy.Write}, {Path: "/p/.env", Kind: kind},
		}}, "", crowd)
		if err != nil {
			t.Fatal(err)
		}
		listed := 0
		l, err := lower(p.Tree, rightsOf, func(dir plan.Object, file func(string) bool) ([]plan.Object, error) {
			out, err := crowd.list(dir, file)
			listed += len(out)
			return out, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.grants) != want {
			t.Errorf("%s: %d rules, want %d", kind, len(l.grants), want)
		}
		if kind == policy.BlockedWrite && listed > 1 {
			t.Errorf("%s: %d files were looked at", kind, listed)
		}
		neverMore(t, p.Tree, l.grants[:min(len(l.grants), 50)])
	}
}
