// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

// guarded is a request with a policy, and without it.
type guarded struct {
	guard          map[string]any
	command        string
	free, narrowed string // what it puts out
}

// TestFolderGuard: a request's policy takes away from the server's what it
// does not have itself, and adds nothing. Each is run without it too.
func TestFolderGuard(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	connect := fmt.Sprintf(`python3 -c 'import errno, socket
try: socket.create_connection(("127.0.0.1", %d)); print("in")
except OSError as e: print(errno.errorcode[e.errno])'`, l.Addr().(*net.TCPAddr).Port)
	workspace := func(more map[string]any) map[string]any {
		g := map[string]any{"extends": "workspace"}
		for k, v := range more {
			g[k] = v
		}
		return g
	}
	s := prepared(t)
	s.env = []string{"ODD=passed", "HIDDEN=hidden"}
	s.start(map[string]any{"policy": workspace(map[string]any{
		"allow_network": true, "env": map[string]any{"pass": []string{"ODD"}, "set": map[string]string{"SET": "server"}}, "limits": map[string]any{"open_files": 100},
		"blocked_paths": []string{"${WORK_DIR}/never"},
	})})
	for _, name := range []string{"f", "shut", "never"} {
		if err := os.WriteFile(s.dir+"/projects/p/"+name, []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	limits := func(l map[string]any) map[string]any {
		return workspace(map[string]any{"limits": l, "allow_network": true})
	}
	for name, c := range map[string]guarded{
		"the same":        {workspace(map[string]any{"allow_network": true}), "cat f; echo x >made; cat made; rm made", "f\nx\n", "f\nx\n"},
		"reading only":    {map[string]any{"read_paths": []string{"${WORK_DIR}"}}, "cat f; (echo x >made) 2>/dev/null && echo made; rm -f made", "f\nmade\n", "f\n"},
		"a block":         {workspace(map[string]any{"blocked_paths": []string{"${WORK_DIR}/shut"}}), "cat f; cat shut 2>/dev/null", "f\nshut\n", "f\n"},
		"the server's":    {map[string]any{"write_paths": []string{"${WORK_DIR}"}}, "cat f; cat never 2>/dev/null", "f\n", "f\n"},
		"the network":     {workspace(nil), connect, "in\n", "EACCES\n"},
		"a variable":      {workspace(nil), "echo $ODD", "passed\n", "\n"},
		"one more":        {workspace(map[string]any{"env": map[string]any{"pass": []string{"HIDDEN", "ODD"}}}), "echo $ODD$HIDDEN", "passed\n", "passed\n"},
		"one that is set": {workspace(map[string]any{"env": map[string]any{"set": map[string]string{"SET": "request", "OWN": "x"}}}), "echo $SET$OWN", "server\n", "serverx\n"},
		"a limit":         {limits(map[string]any{"open_files": 50}), "ulimit -n", "100\n", "50\n"},
	} {
		for want, guard := range map[string]map[string]any{c.free + "free": nil, c.narrowed + "narrowed": c.guard} {
			more := map[string]any{}
			if guard != nil {
				more["folder_guard"] = guard
			}
			want = strings.TrimSuffix(strings.TrimSuffix(want, "free"), "narrowed")
			if a := s.run(c.command, more); a.status != 200 || a.str("stdout") != want {
				t.Errorf("%s: %q, not %q: %v\n%.2000s", name, a.str("stdout"), want, guard, a.raw)
			}
		}
	}
	// A time-out of the guard's is kept too.
	for want, timeout := range map[int]string{0: "50s", 124: "100ms"} {
		if a := s.run("sleep 0.5", map[string]any{"folder_guard": limits(map[string]any{"timeout": timeout})}); a.num("exit_code") != want {
			t.Errorf("%s: %.2000s", timeout, a.raw)
		}
	}
}

// TestFolderGuardRefused: a path that is asked for by name and can't be had is
// an error, which does not tell whether it is there; nothing runs.
func TestFolderGuardRefused(t *testing.T) {
	s := newService(t, nil)
	for name, c := range map[string]struct {
		path   string
		status int
	}{
		"its own":         {s.dir + "/projects/p", 200},
		"another project": {s.dir + "/projects/q", 422},
		"a missing one":   {s.dir + "/projects/none", 422},
		"by ..":           {s.dir + "/projects/p/../q", 422},
		"all projects":    {s.dir + "/projects", 422},
		"the service's":   {s.dir + "/journal", 422},
	} {
		for _, field := range []string{"read_paths", "write_paths"} {
			a := s.run("touch ran", map[string]any{"folder_guard": map[string]any{"extends": "workspace", field: []string{c.path}}})
			if a.status != c.status || c.status == 422 && a.str("code") != "POLICY_INVALID" {
				t.Errorf("%s, %s: %d %s", name, field, a.status, a.raw)
			}
			if strings.Contains(a.str("detail"), "no such file") {
				t.Errorf("%s: it tells what is there: %s", name, a.raw)
			}
			if ran := os.Remove(s.dir+"/projects/p/ran") == nil; ran != (c.status == 200) {
				t.Errorf("%s, %s: it ran: %v", name, field, ran)
			}
		}
	}
}

// TestFolderGuardBeyond: a request that asks for a network or a limit that the
// server does not give is refused, and nothing runs; one within it runs.
func TestFolderGuardBeyond(t *testing.T) {
	s := newService(t, map[string]any{"max_timeout": "50s", "default_timeout": "40s", "policy": map[string]any{
		"extends": "workspace", "limits": map[string]any{"open_files": 100, "timeout": "30s"}}})
	for name, c := range map[string]struct {
		guard  map[string]any
		status int
		says   string
	}{
		"the network":      {map[string]any{"allow_network": true}, 422, "the network"},
		"no network":       {map[string]any{"allow_network": false}, 200, ""},
		"a higher limit":   {map[string]any{"limits": map[string]any{"open_files": 101}}, 422, "limits.open_files above 100"},
		"the same limit":   {map[string]any{"limits": map[string]any{"open_files": 100}}, 200, ""},
		"a longer timeout": {map[string]any{"limits": map[string]any{"timeout": "31s"}}, 422, "limits.timeout is longer than the server's 30s"},
		"the same timeout": {map[string]any{"limits": map[string]any{"timeout": "30s"}}, 200, ""},
	} {
		c.guard["extends"] = "workspace"
		a := s.run("touch ran", map[string]any{"folder_guard": c.guard})
		if a.status != c.status || c.status == 422 && (a.str("code") != "POLICY_INVALID" || !strings.Contains(a.str("detail"), c.says)) {
			t.Errorf("%s: %d %.1000s", name, a.status, a.raw)
		}
		if _, err := os.Stat(s.dir + "/projects/p/ran"); (err == nil) != (c.status == 200) {
			t.Errorf("%s: it ran: %v", name, err == nil)
		}
		_ = os.Remove(s.dir + "/projects/p/ran")
	}
	for timeout, status := range map[string]int{"31s": 400, "30s": 200} {
		if a := s.run("true", map[string]any{"timeout": timeout}); a.status != status || status == 400 && a.str("code") != "REQUEST_INVALID" {
			t.Errorf("timeout %s: %d %.1000s", timeout, a.status, a.raw)
		}
	}
}
