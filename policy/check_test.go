// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"testing"
	"time"
)

// A layer that was not decoded passes the same judgement, but for what only a
// text is held to.
func TestCheck(t *testing.T) {
	read := func(path string) Policy { return Policy{ReadPaths: []string{path}} }
	env := func(e Env) Policy { return Policy{Env: &e} }
	secret := func(s Secret) Policy { return Policy{Secrets: map[string]Secret{"A": s}} }
	limits := func(l Limits) Policy { return Policy{Limits: &l} }
	for _, c := range []struct {
		policy Policy
		want   string // after "--flag: "; empty: it passes
	}{
		{Policy{}, ""},
		{everythingDecoded(), ""},
		{read("/a\n\x01\xff/../b"), ""},
		{read("/a[1]{x}$"), ""},
		{read("/$${x}"), ""},
		{read(""), `read_paths[0] is empty; write a path, or leave it out`},
		{read("a"), `read_paths[0]: "a" is a relative path; write ${WORK_DIR}/a instead`},
		{read("/a\x00"), `read_paths[0]: "/a\x00" holds a NUL byte; no path can hold one`},
		{read("~\x00"), `read_paths[0]: "~\x00" holds a NUL byte; no path can hold one`},
		{read("/a\xff*"), `read_paths[0]: "/a\xff*" holds * or ?, and only a block can be a pattern: what is granted by its name could be anything that gets the name; list the folder or file itself; write $* or $? for a name that holds one`},
		{read("/${"), `read_paths[0]: "/${" holds a variable after its start; a path may only start with one; write $${ for a name that holds ${`},
		{read("${}"), `read_paths[0]: "${}" holds the unknown variable ${}; the variables are ${HOME}, ${WORK_DIR} and ${TMPDIR}`},
		{read("${"), `read_paths[0]: "${" has no closing }; the variables are ${HOME}, ${WORK_DIR} and ${TMPDIR}`},
		{read("$${HOME}"), `read_paths[0]: "$${HOME}" is a relative path; write ${WORK_DIR}/$${HOME} instead`},
		{Policy{WorkDir: "x"}, `work_dir: "x" is a relative path; write ${WORK_DIR}/x instead`},
		{Policy{BlockedWritePaths: []string{"/a", "b"}}, `blocked_write_paths[1]: "b" is a relative path; write ${WORK_DIR}/b instead`},
		{env(Env{Pass: []string{"*", "A*", "a_1"}, Set: map[string]string{"A": "\n\xff"}}), ""},
		{env(Env{Pass: []string{""}}), `env.pass[0]: "" is not the name of a variable; ` + envNameHint + `; one * may end it`},
		{env(Env{Pass: []string{"**"}}), `env.pass[0]: "**" is not the name of a variable; ` + envNameHint + `; one * may end it`},
		{env(Env{Pass: []string{"Ä"}}), `env.pass[0]: "Ä" is not the name of a variable; ` + envNameHint + `; one * may end it`},
		{env(Env{Set: map[string]string{"A\n": ""}}), `env.set: "A\n" is not the name of a variable; ` + envNameHint},
		{env(Env{Set: map[string]string{"B": "\x00", "A": "\x00"}}), `env.set.A: the value holds a NUL byte; no variable can hold one`},
		{secret(Secret{FD: ptr(3)}), ""},
		{secret(Secret{}), `secrets.A has no source; give it one of file, fd, env`},
		{secret(Secret{FD: ptr(0)}), `secrets.A.fd: 0 is not a descriptor that can hold a secret; use one from 3 on that the caller leaves open`},
		{secret(Secret{FD: ptr(1<<20 + 1)}), `secrets.A.fd: 1048577 is not a descriptor that can hold a secret; use one from 3 on that the caller leaves open`},
		{secret(Secret{File: "/x", Env: "A"}), `secrets.A has more than one source; keep one of file, fd, env`},
		{secret(Secret{File: "x"}), `secrets.A.file is not a usable path; write an absolute path, or one that starts with ~, ${HOME} or ${WORK_DIR}`},
		{limits(Limits{OutputBytes: ptr(int64(-1))}), `limits.output_bytes must be at least 1, not -1; leave it out for no limit`},
		{limits(Limits{Timeout: ptr(Duration(-time.Second))}), `limits.timeout must be longer than 0, not -1s; leave it out for no limit`},
		{Policy{Extends: "sytem"}, `extends: there is no built-in policy "sytem"; did you mean "system"?`},
		{Policy{Accept: []string{"process"}}, `accept[0]: there is no item "process"; known are files.devices, files.metadata, files.truncate, limits.memory, limits.processes, process.ipc, process.signal, process.trace, process.tree, unix.abstract, unix.pathname`},
	} {
		err := c.policy.Check("--flag")
		got := ""
		if err != nil {
			got = err.Error()
		}
		want := c.want
		if want != "" {
			want = "--flag: " + want
		}
		if got != want {
			t.Errorf("%+v:\n got %s\nwant %s", c.policy, got, want)
		}
		if err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%v does not match ErrInvalid", err)
		}
	}
}

func TestClosest(t *testing.T) {
	names := []string{"read_paths", "write_paths", "env", "process.signal", "process.trace"}
	for got, want := range map[string]string{
		"read_paths": "read_paths", "readpath": "read_paths", "READ-PATHS": "read_paths", "raed_paths": "read_paths",
		"write": "write_paths", "enw": "env", "process.trac": "process.trace",
		"process": "", "": "", "x": "", "banana": "", "paths": "",
	} {
		if near := closest(got, names); near != want {
			t.Errorf("closest(%q) is %q, want %q", got, near, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abd", 1},
		{"abc", "bc", 1}, {"abc", "xabc", 1}, {"kitten", "sitting", 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestClean(t *testing.T) {
	for path, want := range map[string]string{
		"/": "/", "///": "/", "/.": "/", "/./": "/", "/a/": "/a", "//a": "/a", "/a/.": "/a", "/.a/..b/...": "/.a/..b/...",
		"/a/../b": "/a/../b", "/..": "/..", "a//b": "a/b", ".": "", "/a/ /b": "/a/ /b",
	} {
		if got := clean(path); got != want {
			t.Errorf("clean(%q) is %q, want %q", path, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1.5s": 1500 * time.Millisecond, "-1s": -time.Second} {
		got, err := ParseDuration(text)
		if err != nil || time.Duration(got) != want {
			t.Errorf("ParseDuration(%q) is %v, %v", text, got, err)
		}
	}
	var d Duration
	if err := d.UnmarshalText([]byte("2m")); err != nil || time.Duration(d) != 2*time.Minute {
		t.Errorf("got %v, %v", d, err)
	}
	if err := d.UnmarshalText([]byte("2")); !errors.Is(err, ErrInvalid) || time.Duration(d) != 2*time.Minute {
		t.Errorf("got %v, %v", d, err)
	}
}

func TestErrorText(t *testing.T) {
	for want, e := range map[string]Error{
		"bad":             {Msg: "bad"},
		"bad; do":         {Msg: "bad", Hint: "do"},
		"n: bad; do":      {Name: "n", Msg: "bad", Hint: "do"},
		"n:3:4: bad":      {Name: "n", Line: 3, Column: 4, Msg: "bad", Field: "f"},
		`"a\tb":1:1: bad`: {Name: "a\tb", Line: 1, Column: 1, Msg: "bad"},
		`"\xff": bad`:     {Name: "\xff", Msg: "bad"},
		"--read: bad":     {Name: "--read", Msg: "bad"},
		"built-in x: bad": {Name: "built-in x", Msg: "bad"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
