// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestOpenAPI holds real answers against the schemas that the service itself
// serves.
func TestOpenAPI(t *testing.T) {
	s := newService(t, nil)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.ask("GET", "/api/openapi.json", "").raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://ambit.invalid/openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	valid := func(name string, raw []byte) error {
		schema, err := c.Compile("https://ambit.invalid/openapi.json#/components/schemas/" + name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
	request := body("chmod 600 /etc/passwd; kill -9 $$", map[string]any{"timeout": "9s", "env": map[string]any{"A": "b"}})
	for _, x := range []struct {
		schema string
		raw    []byte
	}{
		{"Request", []byte(request)},
		{"Result", s.ask("POST", "/api/execute", request).raw},
		{"Result", s.run("sleep 1000", map[string]any{"timeout": "50ms"}).raw},
		{"Result", s.run("exec no-such-command", nil).raw},
		{"Problem", s.run("true", map[string]any{"project": "no"}).raw},
		{"Problem", s.run("true", map[string]any{"folder_guard": map[string]any{"write_paths": []string{"/"}}}).raw},
		{"Health", s.ask("GET", "/health", "").raw},
		{"Sandbox", s.ask("POST", "/api/probe", "").raw},
		{"Status", s.ask("GET", "/readyz", "").raw},
	} {
		if err := valid(x.schema, x.raw); err != nil {
			t.Errorf("%s: %v\n%s", x.schema, err, x.raw)
		}
	}
	for schema, wrong := range map[string]string{"Request": `{"project":"p"}`, "Result": `{}`, "Problem": `{"status":"1"}`, "Health": `{"status":"fine"}`} {
		if valid(schema, []byte(wrong)) == nil {
			t.Errorf("%s allows %s", schema, wrong)
		}
	}
}
