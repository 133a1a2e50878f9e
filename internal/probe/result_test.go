// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestForgottenAnswerIsNoYes: every zero value must read as "cannot tell".
func TestForgottenAnswerIsNoYes(t *testing.T) {
	var r Result
	if r.Verdict != Unknown || r.Usable() {
		t.Errorf("the zero Result is %v, usable %v", r.Verdict, r.Usable())
	}
	if got := new(Report).Result("anything"); got.Usable() || got.Name != "anything" {
		t.Errorf("an unasked feature is %+v", got)
	}
	if Verdict(77).String() != "cannot tell" {
		t.Errorf("an unknown verdict prints %q", Verdict(77))
	}
}

func TestResultJSON(t *testing.T) {
	feature := Feature{Name: "x", Since: "5.13", Doc: "does x"}
	tests := []struct {
		name string
		r    Result
		want string
	}{
		{"yes", Result{Feature: feature, Verdict: Yes},
			`{"name":"x","since":"5.13","doc":"does x","verdict":"yes"}`},
		{"an errno", Result{Feature: feature, Verdict: No, Detail: "d", Err: os.NewSyscallError("seccomp", syscall.EPERM)},
			`{"name":"x","since":"5.13","doc":"does x","verdict":"no","detail":"d","error":"seccomp: operation not permitted","errno":"EPERM"}`},
		{"no errno", Result{Feature: feature, Err: errors.New("odd")},
			`{"name":"x","since":"5.13","doc":"does x","verdict":"cannot tell","error":"odd"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := json.Marshal(tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFactsJSON(t *testing.T) {
	got, err := json.Marshal(Facts{Errata: 0xf, PtraceScope: PtraceScopeAbsent})
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Errata string `json:"landlock_errata"`
		Scope  int    `json:"ptrace_scope"`
		Notif  struct {
			Verdict string `json:"verdict"`
		} `json:"user_notif"`
	}
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if back.Errata != "0xf" || back.Scope != -1 || back.Notif.Verdict != "cannot tell" {
		t.Errorf("got %+v from %s", back, got)
	}
}

// TestFeatureNames: names are an interface, so each is there once and each
// answer finds its description.
func TestFeatureNames(t *testing.T) {
	seen := map[Name]bool{}
	for _, table := range [][]Feature{quickFeatures, attemptFeatures, callFeatures} {
		for _, f := range table {
			if f.Doc == "" || seen[f.Name] {
				t.Errorf("feature %q: twice, or without a description", f.Name)
			}
			seen[f.Name] = true
		}
	}
	if f := featureIn(quickFeatures, "no such"); f.Name != "no such" || f.Doc != "" {
		t.Errorf("got %+v for a name that is in no table", f)
	}
}
