// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

var update = flag.Bool("update", false, "write the golden files anew")

// table is a host that consists of a table: each name leads to an object.
type table map[string]plan.Object

func (t table) Resolve(name string) (plan.Object, error) {
	name = path.Clean(name)
	if obj, ok := t[name]; ok {
		if obj.Path == "" {
			return obj, &os.PathError{Op: "open", Path: name, Err: syscall.EACCES}
		}
		return obj, nil
	}
	up := path.Dir(name)
	if up == name {
		return plan.Object{Path: "/", Exists: true, Dir: true}, nil
	}
	dir, err := t.Resolve(up)
	if err == nil && dir.Exists && !dir.Dir {
		err = &os.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	return plan.Object{Path: path.Join(dir.Path, path.Base(name))}, err
}

func (t table) Find(name string) (plan.Object, error) { return t.Resolve(name) }

func (t table) Inside(plan.Object, func(string) bool) ([]plan.Object, error) { return nil, nil }

func dir(p string) plan.Object  { return plan.Object{Path: p, Exists: true, Dir: true} }
func file(p string) plan.Object { return plan.Object{Path: p, Exists: true} }

// host is a small machine with a merged /usr, a project that is reached
// through a link too, and a folder that may not be looked into.
var host = table{
	"/": dir("/"), "/usr": dir("/usr"), "/bin": dir("/usr/bin"), "/usr/bin": dir("/usr/bin"),
	"/home/u": dir("/home/u"), "/home/u/.ssh": dir("/home/u/.ssh"), "/home/u/.gitconfig": file("/home/u/.gitconfig"),
	"/home/u/p": dir("/home/u/p"), "/home/u/link": dir("/home/u/p"), "/home/u/p/.git": dir("/home/u/p/.git"),
	"/home/u/p/.git/hooks": dir("/home/u/p/.git/hooks"), "/home/u/p/.env": file("/srv/env"),
	"/home/u/p/vendor": dir("/home/u/p/vendor"), "/home/u/p/.agent": dir("/home/u/p/.agent"), "/home/u/p/.agent/trees": dir("/home/u/p/.agent/trees"),
	"/tmp/x": dir("/tmp/x"), "/root/secret": {},
}

func rules(lines ...string) []policy.PathRule {
	var out []policy.PathRule
	for _, l := range lines {
		f := strings.Fields(l)
		kind := policy.Kind(strings.TrimRight(f[0], "*?"))
		out = append(out, policy.PathRule{Path: f[1], Kind: kind,
			Origin: "test", Builtin: strings.HasSuffix(f[0], "*"), Pattern: strings.HasSuffix(f[0], "?")})
	}
	return out
}

func dump(p *plan.Plan) string {
	var b strings.Builder
	for _, n := range p.Tree.Nodes() {
		fmt.Fprintf(&b, "%-5s %s (%s %s)\n", n.Mode, n.Path, n.Rule.Kind, n.Rule.Path)
	}
	for _, pt := range p.Tree.Patterns() {
		fmt.Fprintf(&b, "%-5s %s (%s %s)\n", pt.Mode, pt.Path, pt.Rule.Kind, pt.Rule.Path)
	}
	for _, l := range p.Listed {
		fmt.Fprintf(&b, "listed %s %s -> %s: %s\n", l.Kind, l.Path, l.Canonical, l.Status)
	}
	for _, a := range p.Asks() {
		if a.Item == plan.FilesNested || strings.HasPrefix(string(a.Item), "limits") {
			fmt.Fprintf(&b, "asks %s %s\n", a.Item, a.Subject)
		}
	}
	fmt.Fprintf(&b, "work_dir %s, network %s\n", p.WorkDir.Path, p.Network)
	return b.String()
}

func TestGolden(t *testing.T) {
	second, n := policy.Duration(1e9), int64(5)
	for name, r := range map[string]policy.Resolved{
		"workspace": {Rules: rules("read* /usr", "read* /bin", "read* /nix", "write* /home/u/p", "write* /tmp/x", "read* /home/u/.gitconfig")},
		"nested":    {Rules: rules("write /home/u/p", "blocked-write /home/u/p/.git/hooks", "blocked /home/u/p/.env", "blocked /home/u/p/new/deep", "read /home/u/p/vendor")},
		"blocks win": {Rules: rules("blocked /home/u", "write /home/u/p/.git", "read /usr"),
			WorkDir: "/usr"},
		"built-ins never narrow":  {Rules: rules("write /home/u", "read* /home/u/.gitconfig", "read* /home/u/p", "write /home/u/p")},
		"read under built-in":     {Rules: rules("write* /home/u/p", "read /home/u/p/vendor")},
		"write block over a read": {Rules: rules("read /home/u", "blocked-write /home/u", "write /home/u/p")},
		"unreadable and missing":  {Rules: rules("read /root/secret", "write /home/u/gone", "read* /gone", "write /home/u/p")},
		"through links":           {Rules: rules("write /home/u/link", "blocked /home/u/link/.git"), WorkDir: "/home/u/link"},
		"whole host":              {Rules: rules("read /", "write /home/u/p"), AllowNetwork: true},
		"patterns": {Rules: rules("write /home/u/p", "read /usr", "blocked? /home/u/p/**/.env", "blocked-write? /home/u/p/.git/h*",
			"blocked? /srv/**/x", "blocked-write? /usr/**/y", "blocked? /home/u/gone/*", "read /home/u/p/vendor")},
		"patterns through links": {Rules: rules("write /home/u/link", "blocked? /home/u/link/*.pem"), WorkDir: "/home/u/link"},
		"patterns over grants":   {Rules: rules("write /home/u/p", "blocked-write? /home/u/*/v*", "write /home/u/p/vendor", "write /home/u/p/.git", "blocked? /home/*/p/.g?t")},
		"protected": {Rules: rules("write* /home/u/p", "blocked-write* /home/u/p/.git/hooks", "blocked-write* /home/u/p/.git/config",
			"blocked-write* /home/u/p/.vscode", "blocked-write* /home/u/p/gone/x", "blocked-write* /home/u/p/.agent", "write /home/u/p/.agent/trees")},
		"lifted by the user": {Rules: rules("write* /home/u/p", "blocked-write* /home/u/p/.git/hooks", "write /home/u/p/.git/hooks",
			"blocked-write* /home/u/p/.vscode", "write /home/u/p")},
		"block below a file": {Rules: rules("write /home/u", "blocked /home/u/.gitconfig/hooks/x")},
		"limits":             {Limits: policy.Limits{Timeout: &second, MemoryBytes: &n, Processes: &n}},
		"only a work_dir":    {},
	} {
		t.Run(name, func(t *testing.T) {
			if r.WorkDir == "" {
				r.WorkDir = "/home/u/p"
			}
			p, err := plan.Compile(&r, "", host)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.ReplaceAll(name, " ", "-"), dump(p))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("the plan differs from %s (-want +got):\n%s", file, d)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		r    policy.Resolved
		want string
	}{
		"block that can't be looked up": {policy.Resolved{Rules: rules("blocked /root/secret")},
			`cannot use blocked path "/root/secret" from test: it can't be looked up, so what to close is not known: open /root/secret: permission denied`},
		"closed work_dir": {policy.Resolved{Rules: rules("blocked /home/u")},
			`cannot use blocked path "/home/u" from test: it closes the working directory /home/u/p; choose another one or unblock it`},
		"pattern in a folder that can't be looked up": {policy.Resolved{Rules: rules("blocked? /root/secret/*")},
			`cannot use blocked path "/root/secret/*" from test: its folder can't be looked up, so what to close is not known: open /root/secret: permission denied`},
		"work_dir closed by a pattern": {policy.Resolved{Rules: rules("write /home/u", "blocked? /home/u/?")},
			`cannot use blocked path "/home/u/?" from test: it closes the working directory /home/u/p; choose another one or unblock it`},
		"pattern, strict": {policy.Resolved{Strict: true, Rules: rules("blocked? /gone/*")},
			`cannot use blocked path "/gone/*" from test: its folder is missing (strict mode)`},
		"missing work_dir": {policy.Resolved{WorkDir: "/home/u/nope"},
			`cannot use read path "/home/u/nope" from work_dir: it does not exist`},
		"file as work_dir": {policy.Resolved{WorkDir: "/home/u/.gitconfig"},
			`cannot use read path "/home/u/.gitconfig" from work_dir: it is not a folder`},
		"strict and missing": {policy.Resolved{Strict: true, Rules: rules("read /gone")},
			`cannot use read path "/gone" from test: it is missing (strict mode)`},
		"strict and unreadable": {policy.Resolved{Strict: true, Rules: rules("read /root/secret")},
			`cannot use read path "/root/secret" from test: it is unreadable (strict mode): open /root/secret: permission denied`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.r.WorkDir == "" {
				c.r.WorkDir = "/home/u/p"
			}
			_, err := plan.Compile(&c.r, "", host)
			var pe *plan.PathError
			if !errors.As(err, &pe) || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	// The control: strict mode has nothing against built-in paths that are absent.
	if _, err := plan.Compile(&policy.Resolved{Strict: true, WorkDir: "/home/u/p", Rules: rules("read* /gone")}, "", host); err != nil {
		t.Error(err)
	}
}

// TestModeAgreesWithDefinition holds the tree against the definition, read
// naively, on every name of the host and below.
func TestModeAgreesWithDefinition(t *testing.T) {
	all := []policy.Kind{policy.Read, policy.Write, policy.Blocked, policy.BlockedWrite}
	names := []string{"/usr", "/home/u", "/home/u/p", "/home/u/p/.git", "/home/u/p/.git/hooks", "/tmp/x"}
	seed := uint32(1)
	next := func(n int) int { seed = seed*1664525 + 1013904223; return int(seed>>16) % n }
	for range 3000 {
		r := policy.Resolved{WorkDir: "/"}
		for range next(6) + 1 {
			r.Rules = append(r.Rules, policy.PathRule{Path: names[next(len(names))], Kind: all[next(4)], Builtin: false, Origin: "t"})
		}
		p, err := plan.Compile(&r, "", host)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range append(names, "/home/u/p/.git/hooks/x", "/home", "/usr/lib") {
			if got, want := p.Tree.Mode(n), define(r.Rules, n); got != want {
				t.Fatalf("mode of %s is %v, want %v, under %v", n, got, want, r.Rules)
			}
		}
	}
}

// define is the contract in words: a block at or above wins; then the nearest
// grant; then a write block at or above takes writing away. The working
// directory "/" of the test adds reading where nothing else is said.
func define(rules []policy.PathRule, name string) plan.Mode {
	mode, nearest, blocked, noWrite := plan.None, -1, false, false
	for _, r := range rules {
		if name != r.Path && !strings.HasPrefix(name, r.Path+"/") {
			continue
		}
		switch r.Kind {
		case policy.Blocked:
			blocked = true
		case policy.BlockedWrite:
			noWrite = true
		case policy.Read:
			if len(r.Path) > nearest {
				mode, nearest = plan.Read, len(r.Path)
			}
		case policy.Write:
			if len(r.Path) >= nearest {
				mode, nearest = plan.Write, len(r.Path)
			}
		}
	}
	switch {
	case blocked:
		return plan.None
	case noWrite:
		return min(mode, plan.Read)
	}
	return mode
}

func TestEnviron(t *testing.T) {
	env := policy.Env{Pass: []string{"HOME", "LC_*"}, Set: map[string]string{"A": "1", "TOKEN": "shown"}}
	got := plan.Environ(env, []string{"HOME=/h", "HOMES=/x", "LC_ALL=C", "LC=no", "PATH=/bin", "=odd", "bad"}, map[string]string{"TOKEN": "s3"})
	want := []string{"A=1", "HOME=/h", "LC_ALL=C", "TOKEN=s3"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("environment (-want +got):\n%s", d)
	}
}
