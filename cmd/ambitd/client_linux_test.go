// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/client"
	"github.com/ambit-sandbox/ambit/policy"
)

// TestClient: the same result as a whole and as a stream, bytes included, and
// typed errors.
func TestClient(t *testing.T) {
	s := newService(t, nil)
	c := client.Unix(s.dir + "/s/sock")
	q := &client.Request{Project: "p", Command: `cat; echo "$A" >&2; exit 3`, Stdin: []byte("\xff\x00é\n"), Env: map[string]string{"A": "b"}}
	whole, err := c.Execute(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	live, err := c.Stream(t.Context(), q, &out, &errs)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"whole": string(whole.Stdout) + string(whole.Stderr), "events": out.String() + errs.String(), "done": string(live.Stdout) + string(live.Stderr)} {
		if got != "\xff\x00é\nb\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if whole.ExitCode != 3 || live.ExitCode != 3 || whole.Receipt.Backend == "" {
		t.Errorf("%+v, %+v", whole, live)
	}
	q.FolderGuard = &policy.Policy{WritePaths: []string{"/"}}
	for range 2 {
		var e *client.Error
		if _, err := c.Execute(t.Context(), q); !errors.Is(err, ambit.ErrPolicy) || !errors.As(err, &e) || e.Status != 422 {
			t.Errorf("more than is allowed: %v", err)
		}
	}
	if _, err := c.Stream(t.Context(), &client.Request{Project: "no", Command: "true"}, nil, nil); err == nil || errors.Is(err, ambit.ErrPolicy) {
		t.Errorf("no project: %v", err)
	}
}
