// SPDX-License-Identifier: Apache-2.0

package statuspage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/denial"
	"github.com/ambit-sandbox/ambit/internal/journal"
	"github.com/ambit-sandbox/ambit/policy"
)

// nasty is what a command, a project's path or an error might be made of to
// become a part of the page.
const nasty = `</code></td><script>alert(1)</script><img src=x onerror=alert(1)>'"&{{.}}`

func start(argv ...string) journal.Start {
	return journal.Start{ID: strings.Repeat("a", 26), Time: time.Unix(1e9, 0), Who: nasty, Project: nasty, Argv: argv}
}

func receipt(t *testing.T, r *ambit.Receipt) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// nastyRun has the text everywhere where it can be.
func nastyRun(t *testing.T) *journal.Run {
	return &journal.Run{Start: start("/bin/sh", "-c", nasty), End: &journal.End{
		Outcome: nasty, Code: nasty, Error: nasty, PolicyDigest: nasty,
		Receipt: receipt(t, &ambit.Receipt{
			Backend: nasty, PolicyDigest: nasty, BoundDigest: nasty,
			Coverage: []ambit.CoverageLine{{Item: nasty, Subject: nasty, Verdict: nasty, Mechanism: nasty, Reason: nasty}},
			Denials:  []denial.Denial{{Call: nasty, Named: nasty, Object: nasty + "2", Errno: nasty, Reason: nasty, Grant: &denial.Grant{Keep: nasty, Policy: &policy.Policy{WritePaths: []string{nasty}}}, Rule: &policy.PathRule{Path: nasty, Kind: policy.Kind(nasty)}}},
		}),
	}}
}

// TestEscaping: whatever a command is called is shown as text, everywhere.
func TestEscaping(t *testing.T) {
	p := New()
	run := nastyRun(t)
	status, err := p.Status(&Status{Backend: nasty, Reason: nasty, Version: nasty, Limits: nasty, Running: []*journal.Start{&run.Start}, JournalTrouble: nasty, RecentTrouble: nasty, Recent: []*journal.Run{run}})
	if err != nil {
		t.Fatal(err)
	}
	one, err := p.Run(run, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		page  []byte
		times int // that the text is shown at least
	}{"status": {status, 12}, "run": {one, 18}} {
		text := string(c.page)
		if n := strings.Count(text, "&lt;script&gt;alert(1)&lt;/script&gt;"); n < c.times {
			t.Errorf("%s: the text is shown %d times, not %d\n%s", name, n, c.times, text)
		}
		for _, tag := range []string{"<script", "<img", "onerror=alert(1)>", "<link", "<iframe", "style=", "javascript:"} {
			if strings.Contains(text, tag) {
				t.Errorf("%s holds %s:\n%s", name, tag, text)
			}
		}
		// The style is in the page just as it was hashed.
		if strings.Count(text, "<style>"+style+"</style>") != 1 || strings.Contains(style, "<") {
			t.Errorf("%s: the style is not what the policy allows", name)
		}
	}
}

// TestVisible: what would be invisible, or turn the direction of the text, is
// shown by its number, and what is long is cut.
func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, line, block string }{
		{"plain é 日本 👍", "plain é 日本 👍", "plain é 日本 👍"},
		{"a\nb\tc\x1b[31m\x00", `a\nb\tc\x1b[31m\x00`, "a\nb\tc\\x1b[31m\\x00"},
		{"rm\u202e cod\u200b.\u2066x\ufeff", `rm\u202e cod\u200b.\u2066x\ufeff`, `rm\u202e cod\u200b.\u2066x\ufeff`},
		{"a\u00a0b\u2028c", `a\u00a0b\u2028c`, `a\u00a0b\u2028c`},
		{"\xff", `�`, `�`},
		{strings.Repeat("x", 9000), strings.Repeat("x", 300) + "… (9000 bytes in all)", strings.Repeat("x", 8000) + "… (9000 bytes in all)"},
	} {
		if got := line(c.in); got != c.line {
			t.Errorf("line %q: %q", c.in, got)
		}
		if got := block(c.in); got != c.block {
			t.Errorf("block %q: %q", c.in, got)
		}
	}
}

func TestCommand(t *testing.T) {
	for want, argv := range map[string][]string{
		"make test | cat":     {"/bin/sh", "-c", "make test | cat"},
		"ls -l 'a b' ''":      {"ls", "-l", "a b", ""},
		`echo 'it'\''s' '$A'`: {"echo", "it's", "$A"},
		"/bin/sh -c true x":   {"/bin/sh", "-c", "true", "x"},
	} {
		if got := command(argv); got != want {
			t.Errorf("%q is shown as %s", argv, got)
		}
	}
}

// TestBounded: no run makes a page larger than it may become.
func TestBounded(t *testing.T) {
	p := New()
	r := &ambit.Receipt{DenialsDropped: 7}
	long := strings.Repeat("<", 1<<20)
	for i := range 1000 {
		r.Denials = append(r.Denials, denial.Denial{Call: fmt.Sprint("call", i), Named: long[:1000]})
		r.Coverage = append(r.Coverage, ambit.CoverageLine{Item: "item", Reason: long[:1000]})
	}
	run := &journal.Run{Start: start("/bin/sh", "-c", long), End: &journal.End{Error: long, Receipt: receipt(t, r)}}
	one, err := p.Run(run, time.Now())
	if err != nil || len(one) > 2<<20 || !strings.Contains(string(one), "807 more are left out") || !strings.Contains(string(one), "call199") || strings.Contains(string(one), "call200") {
		t.Errorf("%d bytes, %v", len(one), err)
	}
	all := &Status{}
	for range 50 {
		all.Recent = append(all.Recent, run)
	}
	status, err := p.Status(all)
	if err != nil || len(status) > 1<<20 {
		t.Errorf("%d bytes, %v", len(status), err)
	}
}

// TestRefresh: only if it is asked for.
func TestRefresh(t *testing.T) {
	p := New()
	for _, seconds := range []int{0, 5} {
		b, err := p.Status(&Status{Refresh: seconds})
		if err != nil || strings.Contains(string(b), `<meta http-equiv="refresh" content="5">`) != (seconds == 5) {
			t.Errorf("%d: %v\n%s", seconds, err, b)
		}
	}
}

// TestStates: what is shown of a run that is under way, was refused, is over,
// or has a receipt that can't be read.
func TestStates(t *testing.T) {
	p := New()
	s := start("true")
	for want, end := range map[string]*journal.End{
		"<dd>running</dd>":          nil,
		"<dd>exited, code 3</dd>":   {Outcome: journal.Exited, ExitCode: 3},
		"<dd>timed-out</dd>":        {Outcome: journal.TimedOut, ExitCode: 124},
		"<dd>refused, <code>POLICY": {Outcome: journal.Refused, ExitCode: 125, Code: "POLICY_INVALID", Receipt: json.RawMessage(`[1`)},
	} {
		b, err := p.Run(&journal.Run{Start: s, End: end}, time.Now())
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("no %s: %v\n%s", want, err, b)
		}
	}
}
