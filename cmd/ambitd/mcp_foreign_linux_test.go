// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// foreign is the package of the client, and the newest version of Node.js that
// it does not run with.
const (
	foreign    = "@modelcontextprotocol/sdk"
	tooOldNode = 17
)

// foreignCases are those of testdata/mcpclient/client.mjs.
var foreignCases = []string{"initialize", "tools", "status", "echo", "exit code", "blocked path", "policy that widens", "unknown argument",
	"secret", "too much output", "bad UTF-8", "progress", "cancel", "two at once", "no sandbox"}

// TestForeignClient: a client of another make, in another language, uses the
// tools over both transports. It is skipped where Node.js, npm or npm's
// registry can't be had.
func TestForeignClient(t *testing.T) {
	client := foreignClient(t)
	const token, secret = "0123456789abcdef0123", "hunter2hunter2"
	for _, way := range []string{overStdio, overHTTP} {
		s := &service{t: t, dir: t.TempDir()}
		for name, text := range map[string]string{"tokens": "agent:" + token, "key": secret} {
			if err := os.WriteFile(s.dir+"/"+name, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		project := s.dir + "/projects/p"
		if err := os.MkdirAll(project, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(project+"/pipe", 0o600); err != nil {
			t.Fatal(err)
		}
		settings := map[string]any{"concurrency": 4, "secrets": map[string]any{"KEY": map[string]any{"file": s.dir + "/key"}}}
		given := map[string]any{"project": project, "secret": secret}
		if way == overHTTP {
			address := freeAddress(t)
			settings["listen"], settings["tcp"], settings["token_file"] = nil, address, s.dir+"/tokens"
			given["url"], given["token"] = "http://"+address+"/mcp", token
			s.start(settings)
		} else {
			given["command"] = []string{ambitd, "mcp", "--config", s.config(settings), "--allow-root"}
		}
		b, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
		out, err := exec.CommandContext(ctx, "node", client, string(b)).CombinedOutput()
		cancel()
		for _, name := range foreignCases {
			if !strings.Contains("\n"+string(out), "\nok "+name+"\n") {
				t.Errorf("%s: not ok: %s", way, name)
			}
		}
		if err != nil || t.Failed() {
			t.Errorf("%s: %v\n%s", way, err, out)
		}
	}
}

// foreignClient installs the client as its lock file has it, and returns the
// path of the program.
func foreignClient(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no other client: %v", err)
		}
	}
	if out, err := exec.Command("node", "-e", "console.log(process.versions.node.split('.')[0] > "+strconv.Itoa(tooOldNode)+")").Output(); err != nil || string(out) != "true\n" {
		v, _ := exec.Command("node", "--version").Output()
		t.Skipf("there is no other client: Node.js is older than it needs: %s, %v", v, err)
	}
	dir := t.TempDir()
	lock, err := os.ReadFile("testdata/mcpclient/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", "client.mjs"} {
		b, err := os.ReadFile("testdata/mcpclient/" + name)
		if err == nil {
			err = os.WriteFile(dir+"/"+name, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	installed := modulesOf(t, dir, lock)
	if err := os.Symlink(installed, dir+"/node_modules"); err != nil {
		t.Fatal(err)
	}
	return dir + "/client.mjs"
}

// modulesOf returns the folder of the modules that a lock file names: what an
// earlier test has installed, if there is one.
func modulesOf(t *testing.T, dir string, lock []byte) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = dir
	}
	sum := sha256.Sum256(lock)
	done := filepath.Join(cache, "ambit-test", "mcpclient-"+hex.EncodeToString(sum[:8]))
	modules := done + "/node_modules"
	if _, err := os.Stat(modules); err == nil {
		return modules
	}
	if err := os.MkdirAll(filepath.Dir(done), 0o700); err != nil {
		t.Fatal(err)
	}
	making, err := os.MkdirTemp(filepath.Dir(done), "making")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(making) }()
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(dir + "/" + name)
		if err == nil {
			err = os.WriteFile(making+"/"+name, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, err := npm(making, "ci", "--ignore-scripts", "--prefer-offline"); err != nil {
		skipWithoutRegistry(t, making)
		t.Fatalf("npm's registry answers, but the client can't be installed: %v\n%s", err, out)
	}
	// Another test may have been faster.
	if err := os.Rename(making, done); err != nil {
		if _, there := os.Stat(modules); there != nil {
			t.Fatal(err)
		}
	}
	return modules
}

func npm(dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "npm", append(args, "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=2000", "--no-audit", "--no-fund")...)
	c.Dir, c.WaitDelay = dir, time.Second
	return c.CombinedOutput()
}

// unreachable are the errors of npm that mean: no answer.
var unreachable = regexp.MustCompile(`ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT`)

// skipWithoutRegistry skips the test if the registry can't be reached, and
// shows that.
func skipWithoutRegistry(t *testing.T, dir string) {
	t.Helper()
	if out, err := npm(dir, "view", foreign, "version", "--prefer-online"); err != nil && unreachable.Match(out) {
		t.Skipf("there is no other client: npm's registry can't be reached: %s", out)
	}
}
