// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"regexp"
	"testing"
	"time"
)

// sample has something in every field.
func sample() *Resolved {
	return &Resolved{
		Rules:   []PathRule{{"/a", Read, "f", false, false}, {"/tmp/t/x", Write, "g", true, false}},
		WorkDir: "/w", TmpDir: "/tmp/t", AllowNetwork: true, PrivateTmp: true, Strict: true,
		Env:     Env{Pass: []string{"A", "B"}, Set: map[string]string{"C": "1", "D": "x /tmp/t/y"}},
		Secrets: map[string]Secret{"E": {FD: ptr(3)}, "F": {File: "/k"}, "G": {Env: "H"}},
		Limits:  Limits{Timeout: ptr(Duration(time.Second)), Processes: ptr(int64(3))},
		Accept:  []string{"process.ipc"},
	}
}

// Digests are compared across runs and hosts, so the form must not change
// unnoticed: whoever changes it changes digestVersion as well.
func TestDigestStaysTheSame(t *testing.T) {
	const want = "sha256:412c57876ee5604d2afa102a797965c0932ce63a0afd542e14158fcd2d02b897"
	got := Digest(sample())
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(got) {
		t.Errorf("got %s", got)
	}
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDigestSeesEveryDifference(t *testing.T) {
	seen := map[string]string{Digest(sample()): "nothing"}
	for name, change := range map[string]func(r *Resolved){
		"path":           func(r *Resolved) { r.Rules[0].Path = "/b" },
		"path's bytes":   func(r *Resolved) { r.Rules[0].Path = "/\xff" },
		"path's bytes 2": func(r *Resolved) { r.Rules[0].Path = "/\xfe" },
		"kind":           func(r *Resolved) { r.Rules[0].Kind = Write },
		"origin":         func(r *Resolved) { r.Rules[0].Origin = "h" },
		"builtin":        func(r *Resolved) { r.Rules[0].Builtin = true },
		"order":          func(r *Resolved) { r.Rules[0], r.Rules[1] = r.Rules[1], r.Rules[0] },
		"a rule less":    func(r *Resolved) { r.Rules = r.Rules[:1] },
		"work_dir":       func(r *Resolved) { r.WorkDir = "/v" },
		"network":        func(r *Resolved) { r.AllowNetwork = false },
		"private_tmp":    func(r *Resolved) { r.PrivateTmp = false },
		"strict":         func(r *Resolved) { r.Strict = false },
		"pass":           func(r *Resolved) { r.Env.Pass[0] = "AB" },
		"pass moved":     func(r *Resolved) { r.Env.Pass = []string{"AB", ""} },
		"set":            func(r *Resolved) { r.Env.Set["C"] = "2" },
		"set's name":     func(r *Resolved) { delete(r.Env.Set, "C"); r.Env.Set["CC"] = "1" },
		"fd":             func(r *Resolved) { r.Secrets["E"] = Secret{FD: ptr(4)} },
		"file":           func(r *Resolved) { r.Secrets["F"] = Secret{File: "/l"} },
		"env":            func(r *Resolved) { r.Secrets["G"] = Secret{Env: "I"} },
		"file for env":   func(r *Resolved) { r.Secrets["G"] = Secret{File: "H"} },
		"secret's name":  func(r *Resolved) { r.Secrets["EE"] = r.Secrets["E"]; delete(r.Secrets, "E") },
		"timeout":        func(r *Resolved) { r.Limits.Timeout = ptr(Duration(2)) },
		"no timeout":     func(r *Resolved) { r.Limits.Timeout = nil },
		"output":         func(r *Resolved) { r.Limits.OutputBytes = ptr(int64(3)) },
		"memory":         func(r *Resolved) { r.Limits.MemoryBytes = ptr(int64(3)) },
		"processes":      func(r *Resolved) { r.Limits.Processes = ptr(int64(4)) },
		"open files":     func(r *Resolved) { r.Limits.OpenFiles = ptr(int64(3)) },
		"cpu":            func(r *Resolved) { r.Limits.CPUSeconds = ptr(int64(3)) },
		"file size":      func(r *Resolved) { r.Limits.FileSizeBytes = ptr(int64(3)) },
		"accept":         func(r *Resolved) { r.Accept = nil },
		"elsewhere":      func(r *Resolved) { r.Rules[1].Path = "/tmp/t2/x" },
		"literal":        func(r *Resolved) { r.Rules[1].Path = "${TMPDIR}/x" },
	} {
		r := sample()
		change(r)
		digest := Digest(r)
		if same, ok := seen[digest]; ok {
			t.Errorf("changing %s gives the digest of changing %s", name, same)
		}
		seen[digest] = name
	}
}

// Each run has another temporary folder, under the same policy.
func TestDigestIgnoresTheTemporaryFolder(t *testing.T) {
	moved := sample()
	moved.TmpDir, moved.Rules[1].Path, moved.Env.Set["D"] = "/run/u", "/run/u/x", "x /run/u/y"
	if Digest(moved) != Digest(sample()) {
		t.Error("the digests differ")
	}
}
