// SPDX-License-Identifier: Apache-2.0

package seccomp

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables in docs/seccomp.md")

const document = "../../docs/seccomp.md"

// TestDocument compares the tables in the documentation with those in force.
func TestDocument(t *testing.T) {
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	want := between(t, text, "<!-- baseline", baselineTable())
	want = between(t, want, "<!-- choices", choicesTable())
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != want {
		t.Errorf("%s differs from the rules: run go test -run TestDocument -update", document)
	}
	if name, nr := Newest(); !strings.Contains(text, fmt.Sprintf("`%s` (%d)", name, nr)) {
		t.Errorf("%s does not name the newest known call, `%s` (%d)", document, name, nr)
	}
}

// between replaces what stands between a line that begins with a marker and
// the next end.
func between(t *testing.T, text, marker, table string) string {
	before, rest, ok := strings.Cut(text, marker)
	first, rest, ok2 := strings.Cut(rest, "\n")
	_, after, ok3 := strings.Cut(rest, "<!-- end -->")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%s has no part %s", document, marker)
	}
	return before + marker + first + "\n" + table + "<!-- end -->" + after
}

const tableHead = "| calls | when | answer | reason | source |\n|---|---|---|---|---|\n"

func baselineTable() string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, group := range [][]rule{kernelRules, terminalRules, mountRules, namespaceRules, processRules, ownerRules, signalAllow, allowedRules} {
		writeRows(&b, group)
	}
	return b.String()
}

func choicesTable() string {
	var b strings.Builder
	for _, choice := range []struct {
		title string
		rules []rule
	}{
		{"Network: none", networkRules(NetworkNone)},
		{"Network: open", networkRules(NetworkOpen)},
		{"Unix datagrams: refuse", datagramRules(Refuse)},
		{"Connecting: notify", connectRules(Notify)},
		{"Connecting: refuse", connectRules(Refuse)},
		{"Metadata: notify", metadataRules(Notify)},
		{"Metadata: refuse", metadataRules(Refuse)},
		{"Metadata: notify or refuse", fileFlagRules(Refuse)},
		{"Reads: notify", readRules(Notify)},
		{"Reads: refuse", readRules(Refuse)},
		{"Landlock inside: notify", landlockRules(Notify)},
		{"Landlock inside: refuse", landlockRules(Refuse)},
		{"Truncation by name: notify", truncateRules(Notify)},
		{"Truncation by name: refuse", truncateRules(Refuse)},
		{"Shared IPC: refuse", ipcRules(Refuse)},
		{"Signals: notify", signalRules(Notify)},
		{"Signals: refuse", signalRules(Refuse)},
		{"Files: writes", filesRules(FilesWrites)},
		{"Files: all", filesRules(FilesAll)},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n%s", choice.title, tableHead)
		writeRows(&b, choice.rules)
	}
	b.WriteString("\n")
	return b.String()
}

func writeRows(b *strings.Builder, rules []rule) {
	for i := range rules {
		r := rules[i].public()
		answer := r.Verdict.String()
		if r.Verdict == Refuse {
			answer = r.Errno.String()
			if rules[i].name != "" {
				answer += ", recorded as " + rules[i].name
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n",
			"`"+strings.Join(r.Calls, "` `")+"`", r.When, answer, r.Reason, r.Source)
	}
}
