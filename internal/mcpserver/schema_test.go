// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

// node is what the tests read of a schema.
type node struct {
	Properties           map[string]*node `json:"properties"`
	AdditionalProperties json.RawMessage  `json:"additionalProperties"`
	Required             []string         `json:"required"`
}

func read(t *testing.T, name string) *node {
	t.Helper()
	n := &node{}
	if err := json.Unmarshal(schema(name), n); err != nil {
		t.Fatal(err)
	}
	return n
}

// names are the JSON fields of a struct, without those given.
func names[T any](without ...string) []string {
	var list []string
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && !slices.Contains(without, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func (n *node) names() []string {
	var list []string
	for name := range n.Properties {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// TestSchemasAreWhole: each schema names just what is decoded or written, and
// those of arguments take nothing else.
func TestSchemasAreWhole(t *testing.T) {
	in, out, none, status1 := read(t, "execute_input"), read(t, "execute_output"), read(t, "status_input"), read(t, "status_output")
	guard := in.Properties["folder_guard"]
	for name, c := range map[string]struct{ schema, want []string }{
		"folder_guard":        {guard.names(), names[policy.Policy]("secrets")},
		"folder_guard.env":    {guard.Properties["env"].names(), names[policy.Env]()},
		"folder_guard.limits": {guard.Properties["limits"].names(), names[policy.Limits]()},
		"the result":          {out.names(), names[outcome]()},
		"the status":          {status1.names(), names[status]()},
	} {
		if !slices.Equal(c.schema, c.want) {
			t.Errorf("%s: the schema has %v, the type %v", name, c.schema, c.want)
		}
	}
	for name, n := range map[string]*node{"arguments": in, "folder_guard": guard, "env": guard.Properties["env"], "limits": guard.Properties["limits"], "status": none} {
		if string(n.AdditionalProperties) != "false" {
			t.Errorf("%s: other properties are %s", name, n.AdditionalProperties)
		}
	}
}
