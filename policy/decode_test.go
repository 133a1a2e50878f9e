// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// decodeError is a text and the whole error that it must give.
type decodeError struct{ text, want string }

func decodeErrors(t *testing.T, cases []decodeError) {
	t.Helper()
	for _, c := range cases {
		p, err := Decode("p.json", []byte(c.text))
		if err == nil {
			t.Errorf("Decode(%q): got no error, want %s", c.text, c.want)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("Decode(%q):\n got %s\nwant %s", c.text, err, c.want)
		}
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("Decode(%q): the error does not match ErrInvalid", c.text)
		}
		if !cmp.Equal(p, Policy{}) {
			t.Errorf("Decode(%q): got a policy beside the error: %+v", c.text, p)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// everything uses each field once.
const everything = `// A policy for the tests.
{
  "extends": "workspace", // with a comment behind
  "read_paths": ["/srv/data", "~/notes", "${HOME}/x/./y", "/odd $${name}",],
  "write_paths": ["${WORK_DIR}/out", "${TMPDIR}"],
  "blocked_paths": ["${WORK_DIR}/.env", "/sp ace/\"quoted\"/\u00fc\ud83d\ude00"],
  "blocked_write_paths": ["${WORK_DIR}/.git/hooks"],
  "work_dir": "~/project",
  "allow_network": false,
  "private_tmp": true,
  "strict": true,
  "env": {"pass": ["PATH", "LC_*", "_x1"], "set": {"A": "", "B": "two\nlines ${HOME}"}},
  "secrets": {"S1": {"file": "~/.key"}, "S2": {"fd": 3}, "S3": {"env": "OUTER"}},
  "limits": {
    "timeout": "1m30s", "output_bytes": 1, "memory_bytes": 9223372036854775807, "processes": 64,
    "open_files": 256, "cpu_seconds": 60, "file_size_bytes": 1000000, /* and a block */
  },
  "unprotect": ["editor", "git-config"],
  "accept": ["files.metadata", "process.ipc"],
} // no line break at the end`

func everythingDecoded() Policy {
	return Policy{
		Extends:           "workspace",
		ReadPaths:         []string{"/srv/data", "~/notes", "${HOME}/x/./y", "/odd $${name}"},
		WritePaths:        []string{"${WORK_DIR}/out", "${TMPDIR}"},
		BlockedPaths:      []string{"${WORK_DIR}/.env", "/sp ace/\"quoted\"/ü😀"},
		BlockedWritePaths: []string{"${WORK_DIR}/.git/hooks"},
		WorkDir:           "~/project",
		AllowNetwork:      ptr(false),
		PrivateTmp:        ptr(true),
		Strict:            ptr(true),
		Env: &Env{
			Pass: []string{"PATH", "LC_*", "_x1"},
			Set:  map[string]string{"A": "", "B": "two\nlines ${HOME}"},
		},
		Secrets: map[string]Secret{"S1": {File: "~/.key"}, "S2": {FD: ptr(3)}, "S3": {Env: "OUTER"}},
		Limits: &Limits{
			Timeout: ptr(Duration(90 * time.Second)), OutputBytes: ptr(int64(1)),
			MemoryBytes: ptr(int64(1<<63 - 1)), Processes: ptr(int64(64)), OpenFiles: ptr(int64(256)),
			CPUSeconds: ptr(int64(60)), FileSizeBytes: ptr(int64(1000000)),
		},
		Unprotect: []string{"editor", "git-config"},
		Accept:    []string{"files.metadata", "process.ipc"},
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		text string
		want Policy
	}{
		{everything, everythingDecoded()},
		{"{}", Policy{}},
		{" /**/ {//\n} ", Policy{}},
		// An empty list or object of names says nothing.
		{`{"read_paths": [], "secrets": {}, "accept": []}`, Policy{}},
		{`{"env": {"pass": [], "set": {}}, "limits": {}}`, Policy{Env: &Env{}, Limits: &Limits{}}},
		{`{"env": {"pass": ["*"]}}`, Policy{Env: &Env{Pass: []string{"*"}}}},
		{`{"read_paths": ["/", "~", "${HOME}", "/a..b/..."]}`, Policy{ReadPaths: []string{"/", "~", "${HOME}", "/a..b/..."}}},
		{"{\r\n\t\"strict\":\rfalse}\r\n", Policy{Strict: ptr(false)}},
		{`{"read\u005fpaths": ["\/a"]}`, Policy{ReadPaths: []string{"/a"}}},
		{`{"secrets": {"A": {"fd": 1048576}}}`, Policy{Secrets: map[string]Secret{"A": {FD: ptr(1 << 20)}}}},
	} {
		got, err := Decode("p.json", []byte(c.text))
		if err != nil {
			t.Errorf("Decode(%q): %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("Decode(%q) (-want +got):\n%s", c.text, diff)
		}
	}
}

// What is shown of a text is short and cannot write to a terminal.
func TestErrorsAreShortAndPrintable(t *testing.T) {
	long := strings.Repeat("é\x1b", 100)
	_, err := Decode("p.json", []byte(`{"`+strings.ReplaceAll(long, "\x1b", `\u001b`)+`": 1}`))
	if err == nil || len(err.Error()) > 600 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("got %q", err)
	}
	want := `p.json:1:17: read_paths[0]: "/` + strings.Repeat("é", 39) + `"... holds * or ?, and only a block can be a pattern: what is granted by its name could be anything that gets the name; list the folder or file itself; write $* or $? for a name that holds one`
	_, err = Decode("p.json", []byte(`{"read_paths": ["/`+strings.Repeat("é", 100)+`*"]}`))
	if err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	_, err = Decode("a\nb\x1b.json", []byte("[]"))
	if want := `"a\nb\x1b.json":1:1: a policy must be an object, not a list; start it with {`; err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

// Deep nesting, many members and long names are answered at once.
func TestDecodeHostileText(t *testing.T) {
	const n = 1 << 19
	var members strings.Builder
	for i := range n / 16 {
		members.WriteString(`"A` + strings.Repeat("B", i%7) + Duration(i).String() + `":"",`)
	}
	for name, text := range map[string]string{
		"lists":    `{"a":` + strings.Repeat("[", n),
		"objects":  strings.Repeat(`{"a":`, n),
		"comments": `{` + strings.Repeat("/**/", n/4),
		"opened":   `{` + strings.Repeat("/*", n/2),
		"names":    `{"env":{"set":{` + members.String(),
		"name":     `{"` + strings.Repeat("x", n) + `":1}`,
		"digits":   `{"limits":{"processes":` + strings.Repeat("9", n) + `}}`,
		"slashes":  `{"read_paths":["` + strings.Repeat("../", n/3) + `"]}`,
	} {
		start := time.Now()
		_, err := Decode("p.json", []byte(text))
		if err == nil {
			t.Errorf("%s: got no error", name)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%s: took %v", name, took)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

// A value that a message could leak by accident is in none.
func TestErrorsHideValues(t *testing.T) {
	const hush = "sk-hush-1234"
	for _, text := range []string{
		`{"secrets": {"A": "` + hush + `"}}`,
		`{"secrets": {"A": {"env": "` + hush + `"}}}`,
		`{"secrets": {"A": {"file": "` + hush + `"}}}`,
		`{"secrets": {"A": {"file": "` + hush + `/*"}}}`,
		`{"secrets": {"` + hush + `": {"fd": 3}}}`,
		`{"secrets": {"A=` + hush + `": {"fd": 3}}}`,
		`{"env": {"set": {"A": "` + hush + `\u0000"}}}`,
		`{"env": {"set": {"A=` + hush + `": ""}}}`,
		`{"env": {"pass": ["A=` + hush + `"]}}`,
		`{"env": {"set": {"A": ["` + hush + `"]}}}`,
		"{\"env\": {\"set\": {\"A\": \"" + hush + "\n\"}}}",
		`{"env": {"set": {"A": "` + hush + `\x"}}}`,
		`{"env": {"set": {"A": ` + hush + `}}}`,
		`{"env": {"set": {"A": '` + hush + `'}}}`,
		`{"env": {"set": {"A": "` + hush + `"`,
		`{"env": {"set": {"A": "` + hush,
	} {
		_, err := Decode("p.json", []byte(text))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Decode(%q): got %v, want an *Error", text, err)
			continue
		}
		if strings.Contains(err.Error()+e.Field, "hush") {
			t.Errorf("Decode(%q) shows the value: %v (field %q)", text, err, e.Field)
		}
	}
}
