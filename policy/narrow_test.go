// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNarrow(t *testing.T) {
	second, minute := Duration(time.Second), Duration(time.Minute)
	asked := &Resolved{
		WorkDir: "/p", AllowNetwork: true, PrivateTmp: true, TmpDir: "/tmp/x", Strict: true,
		Accept: []string{"a", "b"},
		Env:    Env{Pass: []string{"A", "LC_*", "GO*", "X"}, Set: map[string]string{"V": "asked", "W": "asked", "TMPDIR": "/tmp/x"}},
		Limits: Limits{Timeout: &second, Processes: ptr(int64(9))},
		Rules:  []PathRule{{Path: "/p", Kind: Write}, {Path: "/tmp/x", Kind: Write, Builtin: true}},
	}
	bound := &Resolved{
		WorkDir: "/b", AllowNetwork: true, PrivateTmp: true, TmpDir: "/tmp/x",
		Accept: []string{"b", "c"},
		Env:    Env{Pass: []string{"A", "LC_ALL", "G*", "Y"}, Set: map[string]string{"V": "bound"}},
		Limits: Limits{Timeout: &minute, OpenFiles: ptr(int64(5))},
	}
	n, err := Narrow(asked, bound, "/tmp/x")
	if err != nil {
		t.Fatal(err)
	}
	if n.WorkDir != "/p" || !n.AllowNetwork || !n.PrivateTmp || n.TmpDir != "/tmp/x" || !n.Strict || !slices.Equal(n.Accept, []string{"b"}) {
		t.Errorf("%+v", n)
	}
	if want := []string{"A", "GO*", "LC_ALL"}; !slices.Equal(n.Env.Pass, want) {
		t.Errorf("passes %q, want %q", n.Env.Pass, want)
	}
	if want := map[string]string{"V": "bound", "W": "asked", "TMPDIR": "/tmp/x"}; !maps.Equal(n.Env.Set, want) {
		t.Errorf("sets %v, want %v", n.Env.Set, want)
	}
	if l := n.Limits; *l.Timeout != second || *l.Processes != 9 || *l.OpenFiles != 5 || l.MemoryBytes != nil {
		t.Errorf("limits %+v", l)
	}
	if asked.Env.Set["V"] != "asked" || *asked.Limits.Timeout != second || len(asked.Rules) != 2 {
		t.Errorf("what was asked has changed: %+v", asked)
	}
	for name, change := range map[string]func(*Resolved){
		"temporary folder": func(r *Resolved) { r.PrivateTmp = false },
	} {
		less := *bound
		change(&less)
		n, err := Narrow(asked, &less, "/tmp/x")
		if err != nil || n.PrivateTmp {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
		if _, named := n.Env.Set["TMPDIR"]; !n.PrivateTmp && (named || len(n.Rules) != 1 || n.TmpDir != "") {
			t.Errorf("%s: the folder that is not made is still spoken of: %+v", name, n)
		}
	}
}

func TestNarrowSecrets(t *testing.T) {
	have := &Resolved{Secrets: map[string]Secret{"S": {File: "/s"}, "E": {Env: "E"}, "F": {FD: ptr(3)}}}
	for name, c := range map[string]struct {
		asked map[string]Secret
		ok    bool
	}{
		"none":            {nil, true},
		"the same":        {map[string]Secret{"S": {File: "/s"}, "F": {FD: ptr(3)}}, true},
		"another file":    {map[string]Secret{"S": {File: "/etc/shadow"}}, false},
		"another kind":    {map[string]Secret{"E": {File: "/e"}}, false},
		"another number":  {map[string]Secret{"F": {FD: ptr(4)}}, false},
		"no such secret":  {map[string]Secret{"T": {Env: "E"}}, false},
		"number, no file": {map[string]Secret{"F": {}}, false},
	} {
		n, err := Narrow(&Resolved{Secrets: c.asked, Env: Env{Set: map[string]string{"S": "text"}}}, have, "")
		bad := new(Error)
		switch {
		case c.ok && (err != nil || len(n.Secrets) != len(c.asked)):
			t.Errorf("%s: %+v, %v", name, n, err)
		case !c.ok && (!errors.As(err, &bad) || !strings.Contains(bad.Error(), "more than is allowed here")):
			t.Errorf("%s: %v", name, err)
		}
		if _, set := c.asked["S"]; c.ok && set && n.Env.Set["S"] != "" {
			t.Errorf("%s: a secret's name is set to a text", name)
		}
	}
}

// TestNarrowBeyond: who asks for the network or a limit that the bound has not
// is told so; what is left out is the bound's, or closed.
func TestNarrowBeyond(t *testing.T) {
	second, minute := Duration(time.Second), Duration(time.Minute)
	closed := &Resolved{Limits: Limits{Timeout: &second, Processes: ptr(int64(5)), MemoryBytes: ptr(int64(1000))}}
	open := &Resolved{AllowNetwork: true}
	for name, c := range map[string]struct {
		asked, bound *Resolved
		field        string
	}{
		"the network":           {&Resolved{AllowNetwork: true}, closed, "allow_network"},
		"the network, open":     {&Resolved{AllowNetwork: true}, open, ""},
		"no network":            {&Resolved{}, open, ""},
		"a longer timeout":      {&Resolved{Limits: Limits{Timeout: &minute}}, closed, "limits.timeout"},
		"a shorter timeout":     {&Resolved{Limits: Limits{Timeout: &second}}, &Resolved{Limits: Limits{Timeout: &minute}}, ""},
		"more processes":        {&Resolved{Limits: Limits{Processes: ptr(int64(6))}}, closed, "limits.processes"},
		"as many processes":     {&Resolved{Limits: Limits{Processes: ptr(int64(5))}}, closed, ""},
		"a limit of its own":    {&Resolved{Limits: Limits{OpenFiles: ptr(int64(6))}}, closed, ""},
		"more memory":           {&Resolved{Limits: Limits{MemoryBytes: ptr(int64(1001))}}, closed, "limits.memory_bytes"},
		"nothing in particular": {&Resolved{}, closed, ""},
	} {
		n, err := Narrow(c.asked, c.bound, "")
		bad := new(Error)
		switch {
		case c.field == "" && err != nil, c.field != "" && (!errors.As(err, &bad) || bad.Field != c.field || !errors.Is(err, ErrInvalid)):
			t.Errorf("%s: %v", name, err)
		case c.field == "" && n.AllowNetwork != c.asked.AllowNetwork:
			t.Errorf("%s: the network is open: %v", name, n.AllowNetwork)
		}
	}
}
