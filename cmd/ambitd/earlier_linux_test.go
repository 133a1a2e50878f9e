// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestEarlierRun: what a run of the service leaves in its project leads no
// later one elsewhere.
func TestEarlierRun(t *testing.T) {
	s := newService(t, map[string]any{"policy": map[string]any{"extends": "workspace", "write_paths": []string{"${WORK_DIR}/build"}}})
	s.secret()
	run := func(guard map[string]any, command string) *answer {
		more := map[string]any{}
		if guard != nil {
			more["folder_guard"] = guard
		}
		return s.run(command, more)
	}
	guard := map[string]any{"extends": "workspace", "read_paths": []string{"${WORK_DIR}/data"}, "work_dir": "${WORK_DIR}"}
	if a := run(guard, "mkdir -p build data sub && echo made"); a.str("stdout") != "made\n" {
		t.Fatalf("control: %s", a.raw)
	}
	if a := run(nil, "rmdir data sub && ln -s "+s.dir+"/q data && ln -s "+s.dir+"/q sub"); a.status != 200 {
		t.Fatalf("%s", a.raw)
	}
	sub := map[string]any{"extends": "workspace", "work_dir": "${WORK_DIR}/sub"}
	for name, g := range map[string]map[string]any{"read": guard, "work_dir": sub} {
		a := run(g, "cat data/key sub/key key")
		if a.status != 422 || a.str("code") != "POLICY_INVALID" || strings.Contains(string(a.raw), "PRIVATE") {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	// The server's own policy lists build.
	if a := run(nil, "rmdir build && ln -s "+s.dir+"/q build && echo linked"); a.str("stdout") != "linked\n" {
		t.Fatalf("%s", a.raw)
	}
	if a := run(nil, "cat build/key"); a.status == 200 && a.str("code") == "" || strings.Contains(string(a.raw), "PRIVATE") {
		t.Errorf("the server's policy: %d %s", a.status, a.raw)
	}
}

// secret makes a file outside of all projects.
func (s *service) secret() {
	if err := os.MkdirAll(s.dir+"/q", 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.dir+"/q/key", []byte("PRIVATE"), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// TestOwnFilesRefused: the service takes no configuration, token, secret,
// journal or program from where a command could write, or could have put a
// link. The same from elsewhere is taken.
func TestOwnFilesRefused(t *testing.T) {
	s := newService(t, nil)
	project := s.dir + "/projects/p"
	own := func(dir string) map[string]map[string]any {
		return map[string]map[string]any{
			"token_file": {"token_file": dir + "/token"}, "secrets.A": {"secrets": map[string]any{"A": map[string]any{"file": dir + "/token"}}},
			"journal": {"journal": dir + "/journal"}, "listen": {"listen": dir + "/run/sock"},
		}
	}
	put := func(dir string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/token", []byte("a-token-of-more-than-16\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(project)
	put(s.dir + "/safe")
	put(s.dir + "/led")
	// The command has run, and left a link to where the service may read.
	if a := s.run("ln -s "+s.dir+"/led away && echo ok", nil); a.str("stdout") != "ok\n" {
		t.Fatalf("%s", a.raw)
	}
	other := &service{t: t, dir: t.TempDir()}
	for setting, c := range own(s.dir + "/safe") {
		c["projects"] = s.dir + "/projects"
		passes(t, other.config(c), setting)
	}
	for where, says := range map[string]string{project: "commands of earlier runs could write in " + project, project + "/away": "symbolic link " + project + "/away"} {
		for setting, c := range own(where) {
			c["projects"] = s.dir + "/projects"
			fails(t, other.config(c), setting, says)
		}
	}
	inside := &service{t: t, dir: project}
	fails(t, inside.config(map[string]any{"projects": s.dir + "/projects"}), "cannot read the configuration", "commands of earlier runs could write in "+project)
}

// passes makes sure that a configuration can be used.
func passes(t *testing.T, config, what string) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if out, err := exec.CommandContext(ctx, ambitd, "check", "--config", config, "--allow-root").CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", what, err, out)
	}
}
