// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ambit-sandbox/ambit/client"
	"github.com/ambit-sandbox/ambit/policy"
)

// deployed is the service and what it works with.
type deployed struct {
	suite, home, runtime string
	secret, token        string
	provider             *exec.Cmd
	answers              [][]byte
}

func (d *deployed) at(name string) string      { return filepath.Join(d.home, name) }
func (d *deployed) project(name string) string { return filepath.Join(d.home, "projects/p", name) }
func (d *deployed) socket() string             { return filepath.Join(d.runtime, "ambit/ambitd.sock") }

// random is what cannot be in any file by chance.
func random() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails, crypto/rand
	return hex.EncodeToString(b)
}

// prepare makes the files, the configuration and the provider.
func prepare(suite string) (*deployed, error) {
	d := &deployed{suite: suite, home: os.Getenv("HOME"), runtime: os.Getenv("XDG_RUNTIME_DIR"), secret: "sk-" + random(), token: random()}
	files := map[string]string{
		".config/ambit/secrets/api-key": d.secret + "\n",
		".config/ambit/token":           "me:" + d.token + "\n",
		".config/ambit/ambitd.json": fmt.Sprintf(`// the lab's
{"projects": %q, "token_file": %q, "policy": {"extends": "workspace", "allow_network": true},
 "secrets": {"API_KEY": {"file": %q}}}`, d.at("projects"), d.at(".config/ambit/token"), d.at(".config/ambit/secrets/api-key")),
		"projects/p/readable.txt":   "a file of the project\n",
		"projects/p/private/f":      "a file of a blocked folder\n",
		"projects/q/other.txt":      "a file of another project\n",
		"projects/beside.txt":       "a file beside the projects\n",
		"provider/key":              d.secret + "\n",
		"projects/p/provider/empty": "",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(d.at(name)), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(d.at(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	self, err := os.ReadFile(filepath.Join(suite, "check"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(d.project("check"), self, 0o700); err != nil {
		return nil, err
	}
	return d, d.startProvider()
}

func (d *deployed) startProvider() error {
	d.provider = exec.Command(filepath.Join(d.suite, "check"), "provider", d.at("provider"))
	d.provider.Stderr = os.Stderr
	if err := d.provider.Start(); err != nil {
		return err
	}
	if err := until("the provider listens", func() bool { _, err := os.Stat(d.at("provider/address")); return err == nil }); err != nil {
		return err
	}
	for _, name := range []string{"address", "ca.pem"} {
		b, err := os.ReadFile(d.at("provider/" + name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(d.project("provider/"+name), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// run has the service run a shell command in the project p.
func (d *deployed) run(command string, change func(*client.Request)) (*client.Result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	q := &client.Request{Project: "p", Command: command}
	if change != nil {
		change(q)
	}
	r, err := client.Unix(d.socket()).Execute(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("cannot run %q: %w", command, err)
	}
	d.answers = append(d.answers, r.Raw)
	if r.Receipt == nil || r.Receipt.Backend != "landlock" {
		return r, fmt.Errorf("%q ran without a receipt of a sandbox: %s", command, r.Raw)
	}
	return r, nil
}

// says is a command that succeeds and prints that.
func (d *deployed) says(command, want string, change func(*client.Request)) error {
	r, err := d.run(command, change)
	if err != nil {
		return err
	}
	if r.ExitCode != 0 || string(r.Stdout) != want {
		return fmt.Errorf("%q: want %q: %s", command, want, r.Raw)
	}
	return nil
}

// denied is a command that the kernel refuses what it wants.
func (d *deployed) denied(command string, change func(*client.Request)) error {
	r, err := d.run(command, change)
	if err != nil {
		return err
	}
	if r.ExitCode == 0 || !bytes.Contains(r.Stderr, []byte("Permission denied")) || len(r.Stdout) > 0 {
		return fmt.Errorf("%q was not refused as it should be: %s", command, r.Raw)
	}
	return nil
}

// closed is a file that the user can read, and a command can't.
func (d *deployed) closed(name string) error {
	if f, err := os.Open(name); err != nil {
		return fmt.Errorf("cannot prove anything: it is closed outside as well: %w", err)
	} else if err := f.Close(); err != nil {
		return err
	}
	return d.denied("cat "+name, nil)
}

func narrowed(p policy.Policy) func(*client.Request) {
	p.Extends = policy.Workspace
	return func(q *client.Request) { q.FolderGuard = &p }
}

// install calls install.sh, which must end with this exit code and say this.
func (d *deployed) install(code int, want string, args ...string) error {
	out, got := call(filepath.Join(d.suite, "first/install.sh"), args...)
	fmt.Print(indent(out))
	if got != code || !strings.Contains(out, want) {
		return fmt.Errorf("install.sh %q: exit code %d, want %d and %q", args, got, code, want)
	}
	return nil
}

func indent(s string) string {
	if s = strings.TrimRight(s, "\n"); s == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(s, "\n", "\n    ") + "\n"
}

// release is the one that is in use.
func (d *deployed) release() string {
	name, err := os.Readlink(d.at(".local/share/ambit/current"))
	if err != nil {
		return ""
	}
	return filepath.Base(name)
}

// serves: the running service is the release's, and runs a command.
func (d *deployed) serves(release string) error {
	program, err := os.Readlink("/proc/" + property("MainPID") + "/exe")
	switch {
	case err != nil:
		return fmt.Errorf("cannot see the service: %w", err)
	case program != d.at(".local/share/ambit/releases/"+release+"/ambitd"):
		return fmt.Errorf("the service is %s, want that of release %s", program, release)
	case d.release() != release:
		return fmt.Errorf("release %s is in use, want %s", d.release(), release)
	}
	return d.says("echo test", "test\n", nil)
}

var errLeak = errors.New("BREACH: the secret is there")
