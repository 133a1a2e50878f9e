// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
)

// TestToolTakesTheRequest: the arguments of the MCP tool are the fields of a
// request, all of them.
func TestToolTakesTheRequest(t *testing.T) {
	b, err := os.ReadFile("../mcpserver/schema/execute_input.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	want := fieldNames(reflect.TypeFor[request]())
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(got, want) {
		t.Errorf("the tool takes %v, a request has %v", got, want)
	}
}
