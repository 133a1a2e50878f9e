// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"os"
	"strings"
	"testing"
)

// The manual names every field, item and built-in policy, and its example is a
// policy.
func TestManual(t *testing.T) {
	data, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := string(data)
	for _, names := range [][]string{
		fieldNames(policyFields), fieldNames(limitFields), BuiltinNames, acceptNames(), protectionNames(),
	} {
		for _, name := range names {
			if !strings.Contains(manual, "`"+name+"`") && !strings.Contains(manual, "`\""+name+"\"`") {
				t.Errorf("the manual does not name %s", name)
			}
		}
	}
	for _, item := range AcceptItems {
		if doc := strings.TrimSuffix(item.Doc, ".") + " |"; !strings.Contains(strings.ToLower(manual), strings.ToLower(doc)) {
			t.Errorf("the manual says something else of %s than %q", item.Name, item.Doc)
		}
	}
	for _, p := range Protections {
		for _, place := range p.Paths {
			if name := strings.TrimPrefix(place, "${WORK_DIR}/"); !strings.Contains(manual, "`"+name+"`") {
				t.Errorf("the manual does not name %s of %s", name, p.Name)
			}
		}
	}
	_, example, _ := strings.Cut(manual, "```jsonc\n")
	example, _, _ = strings.Cut(example, "```")
	p, err := Decode("example", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	resolve(t, vars, layer("example", p))
	for _, c := range []decodeError{
		{"{\n\n\n  \"read_path\": []}", `ci.json:4:3: unknown field "read_path"; did you mean "read_paths"?`},
		{"{\n\n\n\n  \"write_paths\": [\"build\"]}", `ci.json:5:19: write_paths[0]: "build" is a relative path; write ${WORK_DIR}/build instead`},
	} {
		if _, err := Decode("ci.json", []byte(c.text)); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
		if !strings.Contains(manual, c.want) {
			t.Errorf("the manual does not show %s", c.want)
		}
	}
}
