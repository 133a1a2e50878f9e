// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzRequest: what is taken means to encoding/json what it means here, is a
// whole command, and can't name a folder that is not a project's.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{"project":"p","command":"true"}`, `{"project":"p","argv":["a","b"],"env":{"A":"b"},"timeout":"9s","serialize":true}`,
		`{"project":"p","command":"x","folder_guard":{"read_paths":["/a"]},"max_output_bytes":1,"secrets":["A"]}`,
		`{"project":"p","command":"x","stdin":"eA==","stdin_encoding":"base64"}`, `{"project":"\ud800","command":"x"}`, `[[[`, `{"a":1}//`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := decodeRequest(body)
		if err != nil {
			return
		}
		var loose struct {
			Project string
			Argv    []string
			Command *string
		}
		if err := json.Unmarshal(body, &loose); err != nil {
			t.Fatalf("encoding/json refuses what was taken: %v", err)
		}
		if loose.Project != q.Project || strings.Join(loose.Argv, "\x00") != strings.Join(q.Argv, "\x00") || len(q.argv()) == 0 {
			t.Fatalf("%q is read as %+v", body, q)
		}
		if projectName.MatchString(q.Project) && strings.ContainsAny(q.Project, "/\x00") {
			t.Fatalf("%q would be a project", q.Project)
		}
	})
}

// TestDecodePlace: an error points at its place in the whole text, that of a
// policy within it too.
func TestDecodePlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n \"project\": 1}":                                               "request:2:13: project must be a string",
		"{\n \"folder_guard\": {\n  \"read_path\": []}}":                    "request:3:3:",
		"{\"project\":\"é\", \"x\": 1}":                                     "request:1:17: unknown field \"x\"",
		"{\"env\":{\"A\":\"1\",\"A\":\"2\"}}":                               "request:1:17: the field \"A\" is there twice",
		"{\"project\":\"p\",\"command\":\"x\",\"max_output_bytes\":-1}":     "max_output_bytes must be a whole number",
		"{\"project\":\"p\",\"command\":\"x\",\"max_output_bytes\":1e3}":    "max_output_bytes must be a whole number",
		"{\"project\":\"p\",\"command\":\"x\",\"timeout\":\"5\"}":           "is not a duration",
		"{\"project\":\"p\",\"command\":\"x\",\"env\":{\"A=\":\"secret\"}}": "env",
	} {
		if _, err := decodeRequest([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
