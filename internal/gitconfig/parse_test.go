// SPDX-License-Identifier: Apache-2.0

package gitconfig

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// texts are configuration files, good ones and faulty ones.
var texts = []string{
	"",
	"[core]\n\thooksPath = .githooks\n",
	"[core]hooksPath=.githooks",
	"\ufeff[Core]\r\n\tHooksPath = a b  \r\n",
	"[include]\n path = ../x # comment\n path=y;comment\n",
	"[includeIf \"gitdir:~/p/\"]\n path = \"~/with space \" \n",
	"[a \"b\\\"c\\\\d\\e\"]\n x = 1\n[a.B]\n y = 2\n[a.b \"C\"]\n z = 3\n[a.]\n w = 4\n", "[]\n v = 5\n", "[ \"b\"]\n x = 1", "[.]x", "[a]\fx", "[a]x=1\x002 \n y\n",
	"[a]\n x = one \\\n  two\n y = \"q # no comment\" tail # comment\n z = a\\tb\\nc\\\\d\\\"e\\b\n",
	"[a]\n flag\n x =\n y = \"\"\n z = \" \" \n w = a\"b\"c\n-x = 1",
	"x = 1\n[a] ; comment\n# [b]\n y = 2",
	"[a]\n x = \"open\n", "[a]\n x = \\q\n", "[a\n]", "[a \"b\n\"]", "[a \"b\"", "[a b]\n", "[\"b\"]x=1", "[a]\n 1x = 2", "[a]\n x y = 2",
	"[a]\n x = 1\n[b", "[a]\n x = \\", "[a]\n x = 1 # c\\\n y = 2\n", "[a]\rx=1", "[a]x=\xff\xc3\n", "[a]\x0bx=1",
	"[a]x = 1\ry\r\n", "[a] x\t = 1", "[a] x\v= 1", "[a  \t\"b\"]x", "[a \"b\" ]x", "[a_b]x", "[a]x_y=1", "[a]\n x = 1 \\\r\n 2", "[a]x\r\n",
}

// TestParse: Git reads the same, or refuses the same.
func TestParse(t *testing.T) {
	for _, text := range texts {
		got, err := Parse([]byte(text))
		// Git before 2.45 makes each blank within a value a space.
		blanks := strings.NewReplacer("\t", " ", "\r", " ")
		if want, ok := byGit(t, text); ok != (err == nil) || ok && blanks.Replace(shown(got)) != blanks.Replace(want) {
			t.Errorf("%q:\n  read %q, %v\n  git  %q, %v", text, shown(got), err, want, ok)
		}
	}
}

// byGit is what Git lists of a file, and whether it reads it.
func byGit(t testing.TB, text string) (listed string, ok bool) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "config", "--file", file, "--no-includes", "--list", "-z")
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if _, refused := err.(*exec.ExitError); err != nil && !refused {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// shown writes entries as git config --list -z does.
func shown(entries []Entry) string {
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(e.Name)
		if !e.NoValue {
			b.WriteString("\n" + e.Value)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// FuzzParse: no text makes the parser panic or go on for ever, and what it
// reads it reads in the same way again, written with quotes.
func FuzzParse(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	quote := strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n")
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, _ := Parse(text)
		for _, e := range entries {
			if e.NoValue || strings.Contains(e.Value, "\r") {
				continue
			}
			again, err := Parse([]byte("[a]\nx = \"" + quote.Replace(e.Value) + "\"\n"))
			if err != nil || len(again) != 1 || again[0].Value != e.Value {
				t.Fatalf("%q was read again as %q, %v", e.Value, shown(again), err)
			}
		}
		Names(entries, Base{File: "/p/.git", Top: "/p", Home: "/h"})
	})
}
