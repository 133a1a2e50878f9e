// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/ambit-sandbox/ambit/policy"
)

// decode reads a text into the struct that into points to. Package
// encoding/json would take "Command" for "command", the last of two equal
// names, and null for anything; here each is an error with its place.
func decode(name string, data []byte, s syntax, into any) error {
	d := &document{name: name, data: data}
	root, err := d.parse(s)
	if err != nil {
		return err
	}
	return d.value("", root, reflect.ValueOf(into).Elem())
}

var policyType = reflect.TypeFor[policy.Policy]()

// value reads one value by the type of what it goes into.
func (d *document) value(field string, v hujson.Value, into reflect.Value) error {
	if into.Kind() == reflect.Pointer {
		p := reflect.New(into.Type().Elem())
		if err := d.value(field, v, p.Elem()); err != nil {
			return err
		}
		into.Set(p)
		return nil
	}
	if into.Type() == policyType {
		return d.policy(v, into)
	}
	if t, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return d.text(field, v, t)
	}
	switch into.Kind() {
	case reflect.Struct, reflect.Map:
		return d.object(field, v, into)
	case reflect.Slice:
		return d.array(field, v, into)
	}
	return d.literal(field, v, into)
}

// policy leaves the value to the one decoder of policies, in a copy of the
// text in which only it stands, so that the places are the whole text's.
func (d *document) policy(v hujson.Value, into reflect.Value) error {
	alone := bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, d.data[:v.StartOffset])
	p, err := policy.Decode(d.name, append(alone, d.data[v.StartOffset:v.EndOffset]...))
	if err != nil {
		return err
	}
	into.Set(reflect.ValueOf(p))
	return nil
}

func (d *document) object(field string, v hujson.Value, into reflect.Value) error {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return d.wrong(field, v, "an object")
	}
	if into.Kind() == reflect.Map {
		into.Set(reflect.MakeMap(into.Type()))
	}
	seen := map[string]bool{}
	for _, m := range obj.Members {
		name, err := d.str(field, m.Name)
		if err != nil {
			return err
		}
		if seen[name] {
			return d.at(m.Name.StartOffset, "the field "+quote(name)+" is there twice", "leave one")
		}
		seen[name] = true
		path := strings.TrimPrefix(field+"."+name, ".")
		if into.Kind() == reflect.Map {
			item := reflect.New(into.Type().Elem()).Elem()
			if err := d.value(path, m.Value, item); err != nil {
				return err
			}
			into.SetMapIndex(reflect.ValueOf(name), item)
			continue
		}
		f, ok := fieldNamed(into, name)
		if !ok {
			return d.at(m.Name.StartOffset, "unknown field "+quote(path), "known are "+strings.Join(fieldNames(into.Type()), ", "))
		}
		if err := d.value(path, m.Value, f); err != nil {
			return err
		}
	}
	return nil
}

func fieldNamed(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if tagOf(v.Type().Field(i)) == name && name != "" {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if n := tagOf(t.Field(i)); n != "" {
			names = append(names, n)
		}
	}
	return names
}

func tagOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func (d *document) array(field string, v hujson.Value, into reflect.Value) error {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		return d.wrong(field, v, "an array")
	}
	into.Set(reflect.MakeSlice(into.Type(), len(arr.Elements), len(arr.Elements)))
	for i, e := range arr.Elements {
		if err := d.value(fmt.Sprintf("%s[%d]", field, i), e, into.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) literal(field string, v hujson.Value, into reflect.Value) error {
	switch into.Kind() {
	case reflect.String:
		s, err := d.str(field, v)
		into.SetString(s)
		return err
	case reflect.Bool:
		if k := v.Value.Kind(); k != 't' && k != 'f' {
			return d.wrong(field, v, "true or false")
		}
		into.SetBool(v.Value.Kind() == 't')
		return nil
	case reflect.Int, reflect.Int64, reflect.Uint32:
		lit, ok := v.Value.(hujson.Literal)
		n, err := strconv.ParseInt(string(lit), 10, 64)
		if !ok || err != nil || n < 0 || into.Kind() == reflect.Uint32 && n > 1<<32-1 {
			return d.wrong(field, v, "a whole number, 0 or more")
		}
		if into.Kind() == reflect.Uint32 {
			into.SetUint(uint64(n))
		} else {
			into.SetInt(n)
		}
		return nil
	}
	return fmt.Errorf("cannot decode %s: no field is of the type %s", field, into.Type())
}

func (d *document) text(field string, v hujson.Value, into encoding.TextUnmarshaler) error {
	s, err := d.str(field, v)
	if err != nil {
		return err
	}
	if err := into.UnmarshalText([]byte(s)); err != nil {
		var p *policy.Error
		if errors.As(err, &p) {
			return d.at(v.StartOffset, field+": "+p.Msg, p.Hint)
		}
		return d.at(v.StartOffset, field+": "+err.Error(), "")
	}
	return nil
}

// str reads a string. A lone surrogate, which encoding/json replaces, is an
// error: the command that runs is the one that was sent.
func (d *document) str(field string, v hujson.Value) (string, error) {
	lit, ok := v.Value.(hujson.Literal)
	if !ok || lit.Kind() != '"' {
		return "", d.wrong(field, v, "a string")
	}
	var s string
	if err := json.Unmarshal(lit, &s); err != nil {
		return "", d.wrong(field, v, "a string")
	}
	if strings.ContainsRune(s, '\uFFFD') && !strings.Contains(string(lit), "\uFFFD") && !strings.Contains(strings.ToLower(string(lit)), `\ufffd`) {
		return "", d.at(v.StartOffset, nameOf(field)+" holds half of a surrogate pair", "send the character itself")
	}
	return s, nil
}

func (d *document) wrong(field string, v hujson.Value, want string) error {
	return d.at(v.StartOffset, nameOf(field)+" must be "+want, "")
}

func nameOf(field string) string {
	if field == "" {
		return "the value"
	}
	return field
}

func quote(s string) string {
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	return strconv.Quote(s)
}
