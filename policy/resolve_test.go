// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var vars = Vars{Home: "/home/u", WorkDir: "/srv/p", TmpDir: "/tmp/t"}

func layer(name string, p Policy) Layer { return Layer{Name: name, Policy: p} }

// bare is a lowest layer on which only what a test adds is seen.
var bare = layer("bare", Policy{Extends: None})

func resolve(t *testing.T, v Vars, layers ...Layer) *Resolved {
	t.Helper()
	r, err := Resolve(layers, v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestResolvePaths(t *testing.T) {
	v := Vars{Home: "/home//u/", WorkDir: "/srv/./p", TmpDir: "/tmp/t/"}
	for _, c := range []struct{ path, want string }{
		{"/", "/"},
		{"//", "/"},
		{"/a//b/./c/", "/a/b/c"},
		{"~", "/home/u"},
		{"~/", "/home/u"},
		{"~/x", "/home/u/x"},
		{"${HOME}", "/home/u"},
		{"${HOME}//x", "/home/u/x"},
		{"${WORK_DIR}/~", "/srv/p/~"},
		{"${TMPDIR}/x", "/tmp/t/x"},
		{"/a/$${HOME}", "/a/${HOME}"},
		{"/a/$$${x", "/a/$${x"},
		{"/a/$HOME/$$", "/a/$HOME/$$"},
		// From flags: any byte but NUL, and ".." for the host to resolve.
		{"/a/link/../b", "/a/link/../b"},
		{"/a\n\xff\x01", "/a\n\xff\x01"},
		{"${WORK_DIR}/..", "/srv/p/.."},
	} {
		r := resolve(t, v, bare, layer("--private-tmp", Policy{PrivateTmp: ptr(true)}), layer("--read", Policy{ReadPaths: []string{c.path}}))
		want := PathRule{Path: c.want, Kind: Read, Origin: "--read"}
		if diff := cmp.Diff(want, r.Rules[0]); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.path, diff)
		}
	}
}

// What a program gets from elsewhere than a policy's text stays itself.
func TestLiteral(t *testing.T) {
	for _, path := range []string{"/a", "/a/${HOME}", "/a/$${x}$", "/${/$${/$$${", "/a*?", "/$*$?", "/$$*${*"} {
		r := resolve(t, vars, bare, layer("flag", Policy{ReadPaths: []string{Literal(path)}}))
		if got := r.Rules[0].Path; got != path {
			t.Errorf("Literal(%q) resolves to %q", path, got)
		}
	}
}

func TestResolveMergesInOrder(t *testing.T) {
	low := layer("low", Policy{
		Extends: None, ReadPaths: []string{"/a", "/b"}, WritePaths: []string{"/w"}, WorkDir: "/low",
		AllowNetwork: ptr(true), PrivateTmp: ptr(true), Strict: ptr(true),
		Limits: &Limits{Timeout: ptr(Duration(time.Second)), Processes: ptr(int64(5))},
		Accept: []string{"process.ipc", "files.metadata"},
	})
	high := layer("high", Policy{
		ReadPaths: []string{"/a"}, BlockedPaths: []string{"/b"}, BlockedWritePaths: []string{"/w/x"}, WorkDir: "~",
		AllowNetwork: ptr(false), Strict: ptr(false),
		Limits: &Limits{Processes: ptr(int64(6)), OpenFiles: ptr(int64(7))},
		Accept: []string{"files.metadata"},
	})
	want := &Resolved{
		Rules: []PathRule{
			{"/a", Read, "low", false, false}, {"/b", Read, "low", false, false}, {"/w", Write, "low", false, false},
			{"/a", Read, "high", false, false}, {"/b", Blocked, "high", false, false}, {"/w/x", BlockedWrite, "high", false, false},
			{"/tmp/t", Write, "private_tmp", true, false},
			{"/home/u", Read, "high", true, false},
		},
		WorkDir: "/home/u", TmpDir: "/tmp/t", PrivateTmp: true,
		Env:     Env{Set: map[string]string{"TMPDIR": "/tmp/t"}},
		Secrets: map[string]Secret{},
		Limits:  Limits{Timeout: ptr(Duration(time.Second)), Processes: ptr(int64(6)), OpenFiles: ptr(int64(7))},
		Accept:  []string{"files.metadata", "process.ipc"},
	}
	if diff := cmp.Diff(want, resolve(t, vars, low, high)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The same input gives the same output, and shares no memory with it that a
// caller could change.
func TestResolveIsPure(t *testing.T) {
	in := []Layer{bare, layer("f", everythingDecoded())}
	first, second := resolve(t, vars, in...), resolve(t, vars, in...)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two calls differ:\n%s", diff)
	}
	first.Rules[0].Path, first.Env.Pass[0] = "changed", "changed"
	first.Env.Set["A"] = "changed"
	*first.Limits.Timeout, *first.Secrets["S2"].FD = 1, 99
	if diff := cmp.Diff(everythingDecoded(), in[1].Policy); diff != "" {
		t.Errorf("the result shares memory with the input:\n%s", diff)
	}
}

func TestExtends(t *testing.T) {
	for _, c := range []struct {
		layers []Layer
		want   string // the origin of the first rule
	}{
		{nil, "built-in system"},
		{[]Layer{layer("f", Policy{})}, "built-in system"},
		{[]Layer{layer("f", Policy{Extends: Workspace})}, "built-in workspace"},
		{[]Layer{layer("f", Policy{Extends: None}), layer("g", Policy{Extends: Workspace})}, "built-in workspace"},
		{[]Layer{layer("f", Policy{Extends: Workspace}), layer("g", Policy{Extends: None, ReadPaths: []string{"/a"}})}, "g"},
	} {
		r := resolve(t, vars, c.layers...)
		if got := r.Rules[0].Origin; got != c.want {
			t.Errorf("%v: got %q first, want %q", c.layers, got, c.want)
		}
		for _, rule := range r.Rules {
			if builtin := rule.Origin != "f" && rule.Origin != "g"; rule.Builtin != builtin {
				t.Errorf("%+v is marked wrongly", rule)
			}
		}
	}
}

// The last layer that names a variable decides where its value comes from.
func TestResolveEnv(t *testing.T) {
	set := func(v string) Policy { return Policy{Env: &Env{Set: map[string]string{"X": v}}} }
	pass := func(name string) Policy { return Policy{Env: &Env{Pass: []string{name}}} }
	secret := func(s Secret) Policy { return Policy{Secrets: map[string]Secret{"X": s}} }
	from3, from4 := Secret{FD: ptr(3)}, Secret{FD: ptr(4)}
	for name, c := range map[string]struct {
		layers  []Policy
		set     map[string]string
		secrets map[string]Secret
	}{
		"set":                {[]Policy{set("1"), set("2")}, map[string]string{"X": "2"}, nil},
		"set, pass":          {[]Policy{set("1"), pass("X")}, nil, nil},
		"set, pass pattern":  {[]Policy{set("1"), pass("X*")}, map[string]string{"X": "1"}, nil},
		"pass, set":          {[]Policy{pass("X"), set("1")}, map[string]string{"X": "1"}, nil},
		"set, secret":        {[]Policy{set("1"), secret(from3)}, nil, map[string]Secret{"X": from3}},
		"secret, set":        {[]Policy{secret(from3), set("1")}, map[string]string{"X": "1"}, nil},
		"secret, secret":     {[]Policy{secret(from3), secret(from4)}, nil, map[string]Secret{"X": from4}},
		"secret, pass":       {[]Policy{secret(from3), pass("X")}, nil, nil},
		"literal user value": {[]Policy{set("${HOME}/~")}, map[string]string{"X": "${HOME}/~"}, nil},
		"pass, set together": {[]Policy{{Env: &Env{Pass: []string{"X"}, Set: map[string]string{"X": "1"}}}}, map[string]string{"X": "1"}, nil},
	} {
		layers := []Layer{bare}
		for _, p := range c.layers {
			layers = append(layers, layer("f", p))
		}
		r := resolve(t, vars, layers...)
		if len(r.Env.Set)+len(c.set) > 0 && !cmp.Equal(r.Env.Set, c.set) {
			t.Errorf("%s: env.set is %v, want %v", name, r.Env.Set, c.set)
		}
		if len(r.Secrets)+len(c.secrets) > 0 && !cmp.Equal(r.Secrets, c.secrets) {
			t.Errorf("%s: secrets are %v, want %v", name, r.Secrets, c.secrets)
		}
	}
}

func TestResolvePass(t *testing.T) {
	r := resolve(t, vars, bare, layer("f", Policy{Env: &Env{Pass: []string{"B", "A"}}}), layer("g", Policy{Env: &Env{Pass: []string{"LC_*", "B"}}}))
	if want := []string{"A", "B", "LC_*"}; !slices.Equal(r.Env.Pass, want) {
		t.Errorf("got %v, want %v", r.Env.Pass, want)
	}
}

func TestResolveSecretFile(t *testing.T) {
	r := resolve(t, vars, bare, layer("f", Policy{Secrets: map[string]Secret{"A": {File: "~//.key"}}}))
	if got := r.Secrets["A"].File; got != "/home/u/.key" {
		t.Errorf("got %q", got)
	}
}

// The private temporary folder is there only if a layer wants it.
func TestPrivateTmp(t *testing.T) {
	wanted := layer("f", Policy{PrivateTmp: ptr(true)})
	if r := resolve(t, vars, bare); r.TmpDir != "" || len(r.Rules) != 0 || len(r.Env.Set) != 0 {
		t.Errorf("without private_tmp: got %+v", r)
	}
	if r := resolve(t, vars, bare, wanted); r.TmpDir != "/tmp/t" || r.Env.Set["TMPDIR"] != "/tmp/t" {
		t.Errorf("with private_tmp: got %+v", r)
	}
	for _, env := range []Env{{Pass: []string{"TMPDIR"}}, {Set: map[string]string{"TMPDIR": "/mine"}}} {
		r := resolve(t, vars, bare, wanted, layer("g", Policy{Env: &env}))
		if got := r.Env.Set["TMPDIR"]; got != env.Set["TMPDIR"] {
			t.Errorf("%+v: TMPDIR is %q", env, got)
		}
	}
}

func TestResolveErrors(t *testing.T) {
	read := func(path string) Layer {
		return layer("p.json", Policy{Extends: None, ReadPaths: []string{"/a", path}})
	}
	private := layer("g", Policy{PrivateTmp: ptr(true)})
	for _, c := range []struct {
		vars   Vars
		layers []Layer
		want   string
	}{
		{vars, []Layer{read("x")}, `p.json: read_paths[1]: "x" is a relative path; write ${WORK_DIR}/x instead`},
		{vars, []Layer{layer("--write", Policy{WritePaths: []string{"/a\x00b"}})}, `--write: write_paths[0]: "/a\x00b" holds a NUL byte; no path can hold one`},
		{vars, []Layer{read("/a"), layer("--extends", Policy{Extends: "systm"})}, `--extends: extends: there is no built-in policy "systm"; did you mean "system"?`},
		{Vars{WorkDir: "/w"}, []Layer{read("~/x")}, `p.json: read_paths[1]: "~/x" starts with ${HOME}, which has no value; set the variable HOME, or write an absolute path`},
		{vars, []Layer{read("${TMPDIR}")}, `p.json: read_paths[1]: "${TMPDIR}" starts with ${TMPDIR}, which has no value; set private_tmp to true, or write an absolute path`},
		{Vars{"/h", "/w", ""}, []Layer{read("${TMPDIR}"), private}, `p.json: read_paths[1]: "${TMPDIR}" starts with ${TMPDIR}, which has no value; set private_tmp to true, or write an absolute path`},
		{Vars{Home: "/h"}, []Layer{bare}, `work_dir is not set, and there is no current directory to take; set it to an absolute path`},
		{Vars{Home: "/h"}, []Layer{layer("f", Policy{WorkDir: "${WORK_DIR}/x"})}, `f: work_dir: "${WORK_DIR}/x" starts with ${WORK_DIR}, which has no value; write an absolute path`},
		{Vars{Home: "h", WorkDir: "/w"}, []Layer{bare}, `cannot use "h" as ${HOME}; it must be an absolute path`},
		{Vars{WorkDir: "/w\x00"}, []Layer{bare}, `cannot use "/w\x00" as ${WORK_DIR}; it must be an absolute path`},
		{Vars{WorkDir: "/w"}, []Layer{layer("f", Policy{Secrets: map[string]Secret{"A": {File: "~/k"}}})}, `f: secrets.A.file: "~/k" starts with ${HOME}, which has no value; set the variable HOME, or write an absolute path`},
		{Vars{WorkDir: "/w"}, []Layer{layer("f", Policy{WorkDir: "~"})}, `f: work_dir: "~" starts with ${HOME}, which has no value; set the variable HOME, or write an absolute path`},
	} {
		_, err := Resolve(c.layers, c.vars)
		if err == nil || err.Error() != c.want {
			t.Errorf("\n got %v\nwant %s", err, c.want)
		}
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%v does not match ErrInvalid", err)
		}
	}
}

// The workspace policy does not take the home for a project.
func TestWorkspaceIsNotTheHome(t *testing.T) {
	for _, c := range []struct {
		home, dir string
		bad       bool
	}{
		{"/home/u", "/home/u", true},
		{"/home/u/", "/home/u/.", true},
		{"/home/u", "/home", true},
		{"/home/u", "/", true},
		{"/home/u", "/home/u/p", false},
		{"/home/u", "/home/u2", false},
		{"/home/u2", "/home/u", false},
		{"/", "/srv", false}, // a service's home that is none
		{"/", "/", true},
		{"", "/", true},
		{"", "/srv", false},
	} {
		v := Vars{Home: c.home, WorkDir: c.dir, TmpDir: "/tmp/t"}
		_, err := Resolve([]Layer{layer("default", Policy{Extends: Workspace})}, v)
		if (err != nil) != c.bad {
			t.Errorf("home %q, directory %q: got %v", c.home, c.dir, err)
		}
		if _, err := Resolve([]Layer{layer("f", Policy{Extends: System, WritePaths: []string{c.dir}})}, v); err != nil {
			t.Errorf("home %q, directory %q: refused although listed: %v", c.home, c.dir, err)
		}
	}
	_, err := Resolve([]Layer{layer("f", Policy{Extends: Workspace, WorkDir: "~"})}, vars)
	want := `f: in "/home/u", the policy "workspace" would make all of the home writable; start from a project's folder, or extend "system" and list the paths to open`
	if err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

func BenchmarkResolveWorkspace(b *testing.B) {
	layers := []Layer{layer("default", Policy{Extends: Workspace})}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Resolve(layers, vars); err != nil {
			b.Fatal(err)
		}
	}
}
