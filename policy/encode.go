// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Encode writes a policy as indented JSON that [Decode] reads back as the same
// policy. Equal policies give equal text. A policy that passes [Policy.Check]
// but not Decode (a path from a flag may hold control characters) is written
// too; one that is not valid UTF-8 has no JSON form and is an error.
func Encode(p Policy) ([]byte, error) {
	if err := p.Check("policy"); err != nil {
		return nil, err
	}
	if field := p.notUTF8(); field != "" {
		return nil, &Error{Name: "policy", Field: field, Msg: "cannot write " + field + " as JSON: it is not valid UTF-8",
			Hint: "give it by a flag"}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	// A policy is not shown by a browser, and <, > and & are easier to read.
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, &Error{Name: "policy", Msg: "cannot write it as JSON", Err: err}
	}
	return b.Bytes(), nil
}

// notUTF8 names the first field that is not valid UTF-8. Names of variables
// are ASCII, as Check has seen.
func (p Policy) notUTF8() string {
	for _, list := range p.pathLists() {
		for i, path := range list.paths {
			if !utf8.ValidString(path) {
				return element(list.field, i)
			}
		}
	}
	if !utf8.ValidString(p.WorkDir) {
		return "work_dir"
	}
	for name, s := range p.Secrets {
		if !utf8.ValidString(s.File) {
			return member("secrets", name) + ".file"
		}
	}
	if p.Env == nil {
		return ""
	}
	for name, value := range p.Env.Set {
		if !utf8.ValidString(value) {
			return member("env.set", name)
		}
	}
	return ""
}
