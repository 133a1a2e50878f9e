// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fields are the documented fields of each type, with their types.
type fields map[string]map[string]string

var (
	section = regexp.MustCompile(`(?m)^### (\w+)$`)
	row     = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]*) \\|")
	linked  = regexp.MustCompile(`\[(\w+)\]\(#\w+\)`)
	code    = regexp.MustCompile("`([^`]+)`")
)

func documented(t *testing.T) (fields, string) {
	t.Helper()
	b, err := os.ReadFile("../../docs/context.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	schema, _, _ := strings.Cut(page, "\n## Causes")
	out := fields{}
	at := section.FindAllStringSubmatchIndex(schema, -1)
	for i, m := range at {
		end := len(schema)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		of := map[string]string{}
		for _, r := range row.FindAllStringSubmatch(schema[m[1]:end], -1) {
			of[r[1]] = strings.TrimSpace(linked.ReplaceAllString(r[2], "$1"))
		}
		out[schema[m[2]:m[3]]] = of
	}
	if len(out) < 25 {
		t.Fatalf("only %d types are described", len(out))
	}
	return out, page
}

// TestContextSchema: the documentation describes each field of the types, and
// no other, with its type; and what is really gathered fits to it.
func TestContextSchema(t *testing.T) {
	doc, _ := documented(t)
	types := map[string]map[string]string{}
	describe(reflect.TypeFor[Context](), types)
	describe(reflect.TypeFor[Comparison](), types)
	for name, of := range types {
		for field, kind := range of {
			if doc[name][field] != kind {
				t.Errorf("%s.%s is a %q, and described as %q", name, field, kind, doc[name][field])
			}
		}
		for field := range doc[name] {
			if of[field] == "" {
				t.Errorf("%s.%s is described and does not exist", name, field)
			}
		}
	}
	for name := range doc {
		if types[name] == nil {
			t.Errorf("%s is described and does not exist", name)
		}
	}
	own, err := Gather(0, []string{"/etc/passwd", "/none", "/proc/self/exe", "."})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Gather(1, []string{"/etc"})
	if err != nil {
		t.Fatal(err)
	}
	started, err := GatherStarted([]string{"/bin/true"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []any{own, other, started, recorded()} {
		doc.fits(t, "Context", value(t, c), fmt.Sprintf("context %d", i))
	}
	doc.fits(t, "Comparison", value(t, Diff(own, other)), "comparison")
}

// value is what a reader of the JSON gets.
func value(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// describe names the types of fields as the documentation does.
func describe(s reflect.Type, into map[string]map[string]string) {
	if into[s.Name()] != nil {
		return
	}
	of := map[string]string{}
	into[s.Name()] = of
	for i := range s.NumField() {
		f := s.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		of[name] = kindName(f.Type, into)
	}
}

func kindName(f reflect.Type, into map[string]map[string]string) string {
	switch f.Kind() {
	case reflect.Pointer:
		return kindName(f.Elem(), into)
	case reflect.Slice:
		return "list of " + kindName(f.Elem(), into)
	case reflect.Map:
		return "map of " + kindName(f.Elem(), into)
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct:
		if strings.HasPrefix(f.Name(), "List[") {
			return "cut " + kindName(f.Field(0).Type, into)
		}
		describe(f, into)
		return f.Name()
	}
	return "number"
}

// fits checks a value of real output against its documented type.
func (doc fields) fits(t *testing.T, kind string, v any, at string) {
	t.Helper()
	of, list := strings.CutPrefix(kind, "list of ")
	cut, isCut := strings.CutPrefix(kind, "cut list of ")
	mapped, isMap := strings.CutPrefix(kind, "map of ")
	ok := true
	switch {
	case list:
		items, is := v.([]any)
		for i, item := range items {
			doc.fits(t, of, item, fmt.Sprintf("%s[%d]", at, i))
		}
		ok = is
	case isCut:
		o, is := v.(map[string]any)
		if ok = is && len(o) == 2 && o["total"] != nil; ok {
			doc.fits(t, "list of "+cut, o["items"], at)
		}
	case isMap:
		o, is := v.(map[string]any)
		for name, item := range o {
			doc.fits(t, mapped, item, at+"."+name)
		}
		ok = is
	case kind == "text":
		_, ok = v.(string)
	case kind == "number":
		_, ok = v.(float64)
	case kind == "true or false":
		_, ok = v.(bool)
	default:
		o, is := v.(map[string]any)
		for name, item := range o {
			field, known := doc[kind][name]
			if !known {
				t.Errorf("%s.%s is not described", at, name)
				continue
			}
			doc.fits(t, field, item, at+"."+name)
		}
		ok = is && doc[kind] != nil
	}
	if !ok {
		t.Errorf("%s is %v, described as %s", at, v, kind)
	}
}

// TestCausesAreDocumented: each cause has its line, in the order of rank.
func TestCausesAreDocumented(t *testing.T) {
	_, page := documented(t)
	_, table, _ := strings.Cut(page, "\n## Causes")
	var listed []Cause
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|").FindAllStringSubmatch(table, -1) {
		listed = append(listed, Cause(m[1]))
	}
	if !slices.Equal(listed, Causes()) {
		t.Errorf("described: %q\nthere are: %q", listed, Causes())
	}
}

// TestComparedVariablesAreDocumented: no digest is kept of a variable that the
// documentation does not name.
func TestComparedVariablesAreDocumented(t *testing.T) {
	_, page := documented(t)
	_, rest, _ := strings.Cut(page, "**No value of an environment variable.**")
	sentence, _, _ := strings.Cut(rest, "(`Test")
	var listed []string
	for _, m := range code.FindAllStringSubmatch(sentence, -1) {
		listed = append(listed, m[1])
	}
	if !slices.Equal(listed, compared[:]) {
		t.Errorf("described: %q\ncompared: %q", listed, compared)
	}
}
