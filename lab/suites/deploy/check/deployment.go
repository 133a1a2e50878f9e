// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ambit-sandbox/ambit/client"
	"github.com/ambit-sandbox/ambit/policy"
)

// steps is the order; each needs what those before it have left.
var steps = []struct {
	name string
	do   func(*deployed) error
}{
	{"install", (*deployed).first},
	{"unit", (*deployed).unit},
	{"health", (*deployed).healthy},
	{"echo", func(d *deployed) error { return d.says("echo test", "test\n", nil) }},
	{"project read and write", (*deployed).readAndWrite},
	{"blocked path", (*deployed).blocked},
	{"parent escape", (*deployed).parent},
	{"another project", (*deployed).otherProject},
	{"own credentials", (*deployed).credentials},
	{"hardening does not reach into commands", func(d *deployed) error { return d.says("./check compile", "", nil) }},
	{"what the unit leaves out", (*deployed).leftOut},
	{"authentication", (*deployed).authentication},
	{"authentication without network", (*deployed).withoutNetwork},
	{"upgrade whose preflight fails", (*deployed).unfit},
	{"upgrade that does not start", (*deployed).lame},
	{"upgrade and rollback", (*deployed).upgrade},
	{"service is killed", (*deployed).killed},
	{"secret appeared nowhere", (*deployed).nowhere},
	{"uninstall", (*deployed).uninstall},
}

func deployment(suite string) int {
	d, err := prepare(suite)
	if err != nil {
		return complain(err)
	}
	defer func() { _ = d.provider.Process.Kill(); _ = d.provider.Wait() }()
	for i, s := range steps {
		begin := time.Now()
		if err := s.do(d); err != nil {
			out, _ := call("journalctl", "--no-pager", "--quiet", "--lines", "60", "_UID=999")
			fmt.Printf("%s", indent(out))
			fmt.Printf("--- FAIL: %d. %s: %v\n", i+1, s.name, err)
			return 1
		}
		fmt.Printf("--- PASS: %d. %s (%.1f s)\n", i+1, s.name, time.Since(begin).Seconds())
	}
	return 0
}

func (d *deployed) first() error {
	if err := d.install(0, "is in use"); err != nil {
		return err
	}
	return d.install(0, "serves already") // once more: nothing to do
}

// unit: systemd sees the service as its unit says.
func (d *deployed) unit() error {
	for name, want := range map[string]string{
		"ActiveState": "active", "Type": "notify", "StatusText": "listening, commands can be run", "WatchdogUSec": "1min", "NRestarts": "0",
		"Delegate": "yes", "NoNewPrivileges": "yes", "UnitFileState": "enabled", "LimitCORE": "0", "UMask": "0077",
	} {
		if got := property(name); got != want {
			return fmt.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	return nil
}

func (d *deployed) healthy() error {
	c := &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", d.socket())
	}}}
	r, err := c.Get("http://localhost/health")
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	var a struct {
		Status  string `json:"status"`
		Limits  string `json:"limits"`
		Sandbox struct {
			Available bool   `json:"available"`
			Backend   string `json:"backend"`
		} `json:"shell_sandbox"`
	}
	if err := json.Unmarshal(b, &a); err != nil || a.Status != "ok" || !a.Sandbox.Available || a.Sandbox.Backend != "landlock" || a.Limits != "control groups" {
		return fmt.Errorf("%w: %s", err, b)
	}
	return nil
}

func (d *deployed) readAndWrite() error {
	if err := d.says("cat readable.txt && echo made >made.txt", "a file of the project\n", nil); err != nil {
		return err
	}
	if b, err := os.ReadFile(d.project("made.txt")); err != nil || string(b) != "made\n" {
		return fmt.Errorf("the file that was made: %q %w", b, err)
	}
	return nil
}

func (d *deployed) blocked() error {
	guard := narrowed(policy.Policy{BlockedPaths: []string{"${WORK_DIR}/private"}, AllowNetwork: new(true)})
	if err := d.says("cat private/f", "a file of a blocked folder\n", nil); err != nil {
		return err
	}
	for _, command := range []string{"cat private/f", "echo x >private/f", "ln -s private/f link; cat link", "mv private elsewhere", "cat </proc/self/cwd/private/f"} {
		if err := d.denied(command, guard); err != nil {
			return err
		}
	}
	return d.says("cat readable.txt", "a file of the project\n", guard)
}

func (d *deployed) parent() error {
	if err := d.closed(d.at("projects/beside.txt")); err != nil {
		return err
	}
	for _, command := range []string{"cat ../beside.txt", "ls ..", "echo x >../made", "ln -s ../beside.txt out; cat out", "cat /proc/self/cwd/../beside.txt"} {
		if err := d.denied(command, nil); err != nil {
			return err
		}
	}
	if _, err := os.Stat(d.at("projects/made")); !os.IsNotExist(err) {
		return fmt.Errorf("BREACH: a file was made above the project: %w", err)
	}
	return nil
}

func (d *deployed) otherProject() error {
	other := func(q *client.Request) { q.Project = "q" }
	if err := d.says("cat other.txt", "a file of another project\n", other); err != nil {
		return err
	}
	if err := d.denied("cat ../q/other.txt", nil); err != nil {
		return err
	}
	return d.closed(d.at("projects/q/other.txt"))
}

// credentials are the service's own: files, its process, its socket, its log.
func (d *deployed) credentials() error {
	logs, err := filepath.Glob("/run/log/journal/*/system.journal")
	if err != nil || len(logs) != 1 {
		return fmt.Errorf("cannot find the system's log: %q %w", logs, err)
	}
	for _, name := range append(logs, d.at(".config/ambit/ambitd.json"), d.at(".config/ambit/token"), d.at(".config/ambit/secrets/api-key"),
		d.at(".local/state/ambit/journal/runs.jsonl"), d.at(".local/share/ambit/current/ambitd"), "/proc/"+property("MainPID")+"/environ") {
		if err := d.closed(name); err != nil {
			return err
		}
	}
	for _, dir := range []string{d.at(".config/ambit/secrets"), d.at(".local/state/ambit/journal")} {
		if err := d.denied("ls "+dir, nil); err != nil {
			return err
		}
	}
	// curl's exit code 7: "Failed to connect to host"
	ask := "curl -sS --unix-socket " + d.socket() + " http://localhost/livez"
	if out, code := call("sh", "-c", ask); code != 0 {
		return fmt.Errorf("cannot prove anything: the service does not answer outside: %s", out)
	}
	if r, err := d.run(ask, nil); err != nil || r.ExitCode != 7 || len(r.Stdout) > 0 {
		return fmt.Errorf("BREACH: a command reaches the service: %w %+v", err, r)
	}
	return nil
}

// leftOut shows why these directives are not in the unit: on this host they
// break programs, keep the unit from starting, or do nothing.
func (d *deployed) leftOut() error {
	check, probe := filepath.Join(d.suite, "check"), d.at("written-by-a-unit")
	for _, c := range []struct {
		directive string
		command   []string
		want      int
	}{
		{"LockPersonality=yes", []string{check, "compile"}, 0}, // the control
		{"MemoryDenyWriteExecute=yes", []string{check, "compile"}, 1},
		{"PrivateUsers=yes", []string{"true"}, 217},
		{"PrivateDevices=yes", []string{"true"}, 218},
		{"ProtectHome=read-only", []string{"touch", probe}, 0},
	} {
		args := append([]string{"--user", "--quiet", "--pipe", "--wait", "--collect", "-p", c.directive}, c.command...)
		if out, code := call("systemd-run", args...); code != c.want {
			return fmt.Errorf("%s: exit code %d, want %d: %s", c.directive, code, c.want, out)
		}
	}
	if _, err := os.Stat(probe); err != nil {
		return fmt.Errorf("the home was protected after all: %w", err)
	}
	return nil
}

// authentication: with the secret, with a wrong key as the control, and a look
// at the processes while the command has it.
func (d *deployed) authentication() error {
	if r, err := d.run("./check ask provider", nil); err != nil || r.ExitCode != badKey {
		return fmt.Errorf("without a key: %w %+v", err, r)
	}
	wrong := func(q *client.Request) { q.Env = map[string]string{"API_KEY": "sk-wrong"} }
	if r, err := d.run("./check ask provider", wrong); err != nil || r.ExitCode != badKey {
		return fmt.Errorf("with a wrong key: %w %+v", err, r)
	}
	secret := func(q *client.Request) { q.Secrets = []string{"API_KEY"} }
	done := make(chan error, 1)
	go func() {
		done <- d.says("./check ask provider && : >asked && until [ -e seen ]; do sleep 0.2; done", "the provider accepts the key\n", secret)
	}()
	err := until("the command has asked", func() bool {
		_, err := os.Stat(d.project("asked"))
		return err == nil || len(done) > 0
	})
	if err == nil {
		err = d.heldByCommandAlone()
	}
	if write := os.WriteFile(d.project("seen"), nil, 0o600); err == nil {
		err = write
	}
	if ended := <-done; err == nil {
		err = ended
	}
	if err != nil {
		return err
	}
	// a command that prints it on purpose prints its name
	r, err := d.run(`echo "$API_KEY"; echo "$API_KEY" >&2; echo "$API_KEY" | wc -c`, secret)
	if err != nil || bytes.Contains(r.Raw, []byte(d.secret)) || !strings.HasSuffix(string(r.Stdout), fmt.Sprintf("\n%d\n", len(d.secret)+1)) {
		return fmt.Errorf("%w: %w %+v", errLeak, err, r)
	}
	return nil
}

func (d *deployed) heldByCommandAlone() error {
	found, err := holders(d.secret)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("cannot prove anything: not even the command has the secret")
	}
	for pid, where := range found {
		if strings.Contains(where, "cmdline") || !strings.Contains(where, "until [ -e seen ]") && !strings.Contains(where, "sleep 0.2") {
			return fmt.Errorf("%w: process %d: %s", errLeak, pid, where)
		}
	}
	return nil
}

// withoutNetwork: the same command fails for another reason, and says so.
func (d *deployed) withoutNetwork() error {
	r, err := d.run("./check ask provider", func(q *client.Request) {
		q.Secrets = []string{"API_KEY"}
		narrowed(policy.Policy{})(q)
	})
	if err != nil {
		return err
	}
	if r.ExitCode != noNetwork || !bytes.Contains(r.Stdout, []byte("the network is closed")) {
		return fmt.Errorf("exit code %d, want %d: %s", r.ExitCode, noNetwork, r.Raw)
	}
	return d.says("./check ask provider", "the provider accepts the key\n", func(q *client.Request) { q.Secrets = []string{"API_KEY"} })
}

func (d *deployed) unfit() error {
	release, pid := d.release(), property("MainPID")
	if err := d.install(1, "stays in use", "--from", filepath.Join(d.suite, "unfit")); err != nil {
		return err
	}
	if got := property("MainPID"); got != pid {
		return fmt.Errorf("the service was started anew, though nothing was to change: %s, before %s", got, pid)
	}
	return d.serves(release)
}

func (d *deployed) lame() error {
	release := d.release()
	if err := d.install(1, "rolled back: release "+release+" serves", "--from", filepath.Join(d.suite, "lame")); err != nil {
		return err
	}
	return d.serves(release)
}

func (d *deployed) upgrade() error {
	one := d.release()
	if err := d.install(0, "is in use; before: "+one, "--from", filepath.Join(d.suite, "second")); err != nil {
		return err
	}
	two := d.release()
	if one == two {
		return fmt.Errorf("the release is the same: %s", one)
	}
	if err := d.serves(two); err != nil {
		return err
	}
	if err := d.install(0, "release "+one+" is in use", "--rollback"); err != nil {
		return err
	}
	return d.serves(one)
}

// killed: the manager starts the service again.
func (d *deployed) killed() error {
	pid := property("MainPID")
	if out, code := call("kill", "-KILL", pid); code != 0 {
		return fmt.Errorf("cannot kill the service: %s", out)
	}
	err := until("the service is back", func() bool {
		now := property("MainPID")
		return now != "0" && now != pid && property("ActiveState") == "active"
	})
	if err != nil {
		return err
	}
	return d.serves(d.release())
}

// nowhere looks for the secret, and for the token, in all that was written.
func (d *deployed) nowhere() error {
	system, code := call("journalctl", "--no-pager", "--quiet", "--output", "export")
	if code != 0 || !strings.Contains(system, "listening") {
		return fmt.Errorf("cannot read the system's log: %d", code)
	}
	runs, err := os.ReadFile(d.at(".local/state/ambit/journal/runs.jsonl"))
	if err != nil || !bytes.Contains(runs, []byte("check ask provider")) {
		return fmt.Errorf("cannot read the journal: %w", err)
	}
	for _, text := range []string{d.secret, d.token} {
		for what, b := range map[string][]byte{"the system's log": []byte(system), "the journal": runs, "answers": bytes.Join(d.answers, nil)} {
			if bytes.Contains(b, []byte(text)) {
				return fmt.Errorf("%w: %s", errLeak, what)
			}
		}
		if found, err := holders(text); err != nil || len(found) > 0 {
			return fmt.Errorf("%w: processes: %v %w", errLeak, found, err)
		}
	}
	return nil
}

func (d *deployed) uninstall() error {
	if err := d.install(0, "removed", "--uninstall"); err != nil {
		return err
	}
	if state := property("LoadState"); state != "not-found" {
		return fmt.Errorf("the unit is %s", state)
	}
	for _, name := range []string{".config/ambit/ambitd.json", ".config/ambit/secrets/api-key", "projects/p/made.txt", ".local/state/ambit/journal/runs.jsonl"} {
		if _, err := os.Stat(d.at(name)); err != nil {
			return err
		}
	}
	return nil
}
