// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestMCPTools: what a client learns of the server, and both schemas of each
// tool are ones that results keep to.
func TestMCPTools(t *testing.T) {
	s := newService(t, nil)
	for _, way := range waysIn {
		a := s.agent(way)
		i := a.InitializeResult()
		if i.ServerInfo.Name != "ambit" || i.ServerInfo.Version == "" || !strings.Contains(i.Instructions, "SANDBOX_UNAVAILABLE") || (way == withSessions) != (i.ProtocolVersion == "2025-11-25") || (way == overHTTP) != (i.ProtocolVersion == "2026-07-28" && a.ID() == "" && way != overStdio) {
			t.Errorf("%s: %+v", way, i)
		}
		list, err := a.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 2 {
			t.Fatalf("%s: %+v, %v", way, list, err)
		}
		tools := map[string]*mcp.Tool{}
		for _, tool := range list.Tools {
			tools[tool.Name] = tool
			if in := tool.InputSchema.(map[string]any); in["type"] != "object" || in["additionalProperties"] != false {
				t.Errorf("%s: %s takes anything: %v", way, tool.Name, in)
			}
		}
		execute, status := tools["execute_shell_command"], tools["sandbox_status"]
		if n := execute.Annotations; n == nil || n.ReadOnlyHint || n.IdempotentHint || !*n.DestructiveHint || !*n.OpenWorldHint {
			t.Errorf("%s: %+v", way, n)
		}
		if n := status.Annotations; n == nil || !n.ReadOnlyHint || *n.DestructiveHint || *n.OpenWorldHint {
			t.Errorf("%s: %+v", way, n)
		}
		conforms(t, execute.OutputSchema, a.call("echo out; echo err >&2; cat /etc/shadow", nil).raw)
		conforms(t, execute.OutputSchema, a.call("true", map[string]any{"project": "none"}).raw)
		res, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "sandbox_status"})
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(res.StructuredContent)
		conforms(t, status.OutputSchema, string(b))
		if text := res.Content[0].(*mcp.TextContent).Text; res.IsError || !strings.Contains(string(b), `"available":true`) || !strings.Contains(text, "landlock") {
			t.Errorf("%s: %s, %s", way, b, text)
		}
		res, err = a.CallTool(t.Context(), &mcp.CallToolParams{Name: "sandbox_status", Arguments: map[string]any{"fresh": true}})
		if err != nil || !res.IsError || !strings.Contains(res.Content[0].(*mcp.TextContent).Text, `"fresh"`) {
			t.Errorf("%s: an unknown argument: %+v, %v", way, res, err)
		}
	}
}

// conforms checks a result against the schema that was listed, closed to what
// it does not name.
func conforms(t *testing.T, schema any, result string) {
	t.Helper()
	closed := map[string]any{"additionalProperties": false}
	for k, v := range schema.(map[string]any) {
		closed[k] = v
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("output.json", closed); err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(result))
	if err == nil {
		err = c.MustCompile("output.json").Validate(v)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, result)
	}
}

// TestMCPExecute: exit code and both streams of a command arrive, in the
// structured result and as text, and only what did not run is an error.
func TestMCPExecute(t *testing.T) {
	s := newService(t, nil)
	for _, way := range waysIn {
		a := s.agent(way)
		r := a.call("cat; echo err >&2; exit 7", map[string]any{"stdin": "in\n"})
		if r.isError || r.ExitCode != 7 || r.Stdout != "in\n" || r.Stderr != "err\n" || r.Backend != "landlock" || r.RunID == "" || r.Code != "" {
			t.Errorf("%s: %s", way, r.raw)
		}
		if want := "exit code 7\nstdout:\nin\n\nstderr:\nerr\n\n"; r.text != want {
			t.Errorf("%s: %q", way, r.text)
		}
		if r := a.call("", map[string]any{"command": nil, "argv": []string{"printf", "%s", "a b"}, "env": map[string]string{"A": "b"}}); r.Stdout != "a b" {
			t.Errorf("%s: argv: %s", way, r.raw)
		}
		if r := a.call("sleep 1000", map[string]any{"timeout": "100ms"}); r.isError || r.ExitCode != 124 || !r.TimedOut || !strings.Contains(r.text, "the time was up") {
			t.Errorf("%s: %s %s", way, r.raw, r.text)
		}
		for name, c := range map[string]struct {
			more map[string]any
			code string
			says string
		}{
			"an unknown argument":    {map[string]any{"cwd": "/"}, "REQUEST_INVALID", `unknown field "cwd"`},
			"another type":           {map[string]any{"timeout": 5}, "REQUEST_INVALID", "timeout must be a string"},
			"no project":             {map[string]any{"project": nil}, "REQUEST_INVALID", "project is missing"},
			"another one's project":  {map[string]any{"project": "../p"}, "PROJECT_NOT_FOUND", "no such project"},
			"an unknown secret":      {map[string]any{"secrets": []string{"NO"}}, "REQUEST_INVALID", "no secret"},
			"an unknown policy part": {map[string]any{"folder_guard": map[string]any{"reads": []string{"/"}}}, "POLICY_INVALID", "reads"},
			"a policy that widens":   {map[string]any{"folder_guard": map[string]any{"extends": "workspace", "write_paths": []string{"/etc"}}}, "POLICY_INVALID", "/etc"},
		} {
			r := a.call("touch ran", c.more)
			if !r.isError || r.Code != c.code || r.ExitCode != 125 || !strings.Contains(r.Error, c.says) || !strings.HasPrefix(r.text, c.code+": ") || !strings.Contains(r.text, "was not run") {
				t.Errorf("%s: %s: %s %s", way, name, r.raw, r.text)
			}
		}
		if _, err := os.Stat(s.dir + "/projects/p/ran"); err == nil {
			t.Errorf("%s: it ran", way)
		}
		if r := a.call("touch ran && rm ran", nil); r.isError || r.ExitCode != 0 {
			t.Errorf("%s: control: %s", way, r.raw)
		}
	}
}

// TestMCPDenials: a closed path is refused and told; the same without the
// policy is not.
func TestMCPDenials(t *testing.T) {
	s := newService(t, nil)
	if err := os.WriteFile(s.dir+"/projects/p/shut", []byte("text\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, way := range waysIn {
		a := s.agent(way)
		guard := map[string]any{"folder_guard": map[string]any{"extends": "workspace", "blocked_paths": []string{"${WORK_DIR}/shut"}}}
		const command = "cat shut; chmod 600 shut && echo changed; echo x >made && cat made"
		r := a.call(command, guard)
		if r.isError || r.Stdout != "x\n" || !strings.Contains(r.Stderr, "cat: shut: Permission denied") || len(r.Denials) == 0 {
			t.Errorf("%s: %s", way, r.raw)
		}
		if !strings.Contains(r.text, "refused by the sandbox: ") || !strings.Contains(r.text, "shut") || !strings.Contains(r.text, "EACCES") {
			t.Errorf("%s: %s", way, r.text)
		}
		if r := a.call(command, nil); r.Stdout != "text\nchanged\nx\n" || r.Stderr != "" || len(r.Denials) != 0 {
			t.Errorf("%s: control: %s", way, r.raw)
		}
	}
}

// TestMCPOutput: what is too much is cut off and said to be; bytes that are no
// text arrive as they are, and as something that can be read.
func TestMCPOutput(t *testing.T) {
	s := newService(t, nil)
	for _, way := range waysIn {
		a := s.agent(way)
		r := a.call("head -c 3000000 /dev/zero | tr '\\0' x; head -c 2000 /dev/zero | tr '\\0' y >&2", nil)
		if r.isError || len(r.Stdout) != 1<<20 || !r.StdoutTruncated || len(r.Stderr) != 2000 || r.StderrTruncated {
			t.Errorf("%s: %d, %d, %.300s", way, len(r.Stdout), len(r.Stderr), r.text)
		}
		if !strings.Contains(r.text, "stdout (cut off: the command wrote 3000000 bytes):\nxxx") {
			t.Errorf("%s: %.300s", way, r.text)
		}
		r = a.call("head -c 2000 /dev/zero | tr '\\0' y >&2", map[string]any{"max_output_bytes": 10})
		if r.Stderr != "yyyyyyyyyy" || !r.StderrTruncated || r.StderrBytes != 2000 {
			t.Errorf("%s: %s", way, r.raw)
		}
		r = a.call(`printf 'a\377b\303\251'`, nil)
		if b, err := base64.StdEncoding.DecodeString(r.Stdout); r.StdoutEncoding != "base64" || err != nil || string(b) != "a\xffbé" {
			t.Errorf("%s: %s", way, r.raw)
		}
		if !strings.Contains(r.text, "not all UTF-8") || !strings.Contains(r.text, "a\uFFFDbé") {
			t.Errorf("%s: %q", way, r.text)
		}
	}
}

// TestMCPSecrets: a value reaches the command, and no result, progress, log or
// journal.
func TestMCPSecrets(t *testing.T) {
	const value = "hunter2hunter2"
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/key", []byte(value+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newService(t, map[string]any{"secrets": map[string]any{"KEY": map[string]any{"file": dir + "/key"}}})
	for _, way := range waysIn {
		a := s.agent(way)
		r := a.call(`echo "${#KEY} $KEY"; printf hunter2; sleep 1.2; echo hunter2 >&2; printf "\377$KEY"; "$KEY"`, map[string]any{"secrets": []string{"KEY"}})
		out, err := base64.StdEncoding.DecodeString(r.Stdout)
		if err != nil || !strings.Contains(string(out), "14 [secret KEY]\n") || !strings.Contains(r.text, "\uFFFD[secret KEY]") {
			t.Errorf("%s: %s\n%s", way, out, r.text)
		}
		all := string(out) + r.raw + r.text + a.log.String()
		for len(a.progress) > 0 {
			b, _ := json.Marshal(<-a.progress)
			all += string(b)
		}
		if strings.Contains(all, value) || strings.Contains(all, base64.StdEncoding.EncodeToString([]byte(value))) {
			t.Errorf("%s: the value is in %s", way, all)
		}
	}
	err := exec.Command("grep", "-r", value, s.dir+"/journal").Run()
	if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 1 {
		t.Errorf("the journal: %v", err)
	}
}

// TestMCPUnavailable: a host that can't make the sandbox is told of as that,
// and nothing runs.
func TestMCPUnavailable(t *testing.T) {
	s := &service{t: t, dir: t.TempDir()}
	if err := os.MkdirAll(s.dir+"/projects/p", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", s.dir+"/missing") // where each run's temporary folder would be
	s.start(nil)
	for _, way := range waysIn {
		a := s.agent(way)
		r := a.call("touch ran", nil)
		if !r.isError || r.Code != "SANDBOX_UNAVAILABLE" || r.ExitCode != 125 || !strings.Contains(r.Error, "temporary folder") || r.Backend != "landlock" {
			t.Errorf("%s: %s", way, r.raw)
		}
		for _, want := range []string{"SANDBOX_UNAVAILABLE: the landlock backend", "temporary folder", "backend: landlock", "was not run", "nor a key"} {
			if !strings.Contains(r.text, want) {
				t.Errorf("%s: no %q in %s", way, want, r.text)
			}
		}
		if _, err := os.Stat(s.dir + "/projects/p/ran"); err == nil {
			t.Errorf("%s: it ran", way)
		}
		res, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "sandbox_status"})
		if err != nil || res.IsError || !strings.HasPrefix(res.Content[0].(*mcp.TextContent).Text, "SANDBOX_UNAVAILABLE: ") {
			t.Errorf("%s: %+v, %v", way, res, err)
		}
	}
}

// TestMCPTwoClients: agents of all kinds work at once, in their own projects.
func TestMCPTwoClients(t *testing.T) {
	s := newService(t, map[string]any{"concurrency": 8})
	var wg sync.WaitGroup
	for _, way := range append(waysIn, waysIn...) {
		wg.Go(func() {
			a := s.agent(way)
			for _, project := range []string{"p", "q", "p"} {
				r, err := a.try(t.Context(), "basename $PWD", map[string]any{"project": project})
				if err != nil || r.Stdout != project+"\n" {
					t.Errorf("%s: %+v, %v", way, r, err)
				}
			}
		})
	}
	// The two of each kind need not be there at once; these are.
	a, b := s.agent(overHTTP), s.agent(overStdio)
	wg.Go(func() {
		if r, err := a.try(t.Context(), "touch a; until [ -e b ]; do sleep 0.02; done; echo met", nil); err != nil || r.Stdout != "met\n" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	if r := b.call("until [ -e a ]; do sleep 0.02; done; touch b; echo met", nil); r.Stdout != "met\n" {
		t.Errorf("%s", r.raw)
	}
	wg.Wait()
}

// TestMCPProgress: who asks is told how a command goes on, and not what it puts
// out.
func TestMCPProgress(t *testing.T) {
	s := newService(t, nil)
	for _, way := range waysIn {
		a := s.agent(way)
		over := make(chan *ran, 1)
		go func() {
			r, err := a.try(t.Context(), "echo printed; until [ -e go ]; do sleep 0.02; done", nil)
			if err != nil {
				t.Errorf("%s: %v", way, err)
			}
			over <- r
		}()
		var last float64
		for range 2 {
			select {
			case p := <-a.progress:
				if p.ProgressToken != "token" || p.Progress <= last || strings.Contains(p.Message, "printed") || !strings.Contains(p.Message, "8 bytes of output") {
					t.Errorf("%s: %+v after %v", way, p, last)
				}
				last = p.Progress
			case <-time.After(patience):
				t.Fatalf("%s: no progress", way)
			}
		}
		if err := os.WriteFile(s.dir+"/projects/p/go", nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if r := <-over; r != nil && r.Stdout != "printed\n" {
			t.Errorf("%s: %s", way, r.raw)
		}
		_ = os.Remove(s.dir + "/projects/p/go")
	}
}
