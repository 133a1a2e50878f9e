// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// Decode reads a policy from JSON with comments and trailing commas. It is
// strict: an unknown or doubled field, a value of another type, null, or
// anything else that might not mean what its writer thinks is an error, of
// the type [*Error], with the position in the text. name is the text's name
// in it.
//
// The policy passes [Policy.Check]. On top of that, paths hold neither
// control characters nor "..".
func Decode(name string, data []byte) (Policy, error) {
	if f := scan(data); f != nil {
		return Policy{}, f.in(name, data)
	}
	// The line break lets a line comment end the text. The copy is needed:
	// the parser's result aliases its input.
	root, err := hujson.Parse(append(bytes.Clone(data), '\n'))
	if err != nil {
		return Policy{}, syntaxFault(data, err).in(name, data)
	}
	d := decoder{data: data, at: map[string]int{}}
	var p Policy
	object(&d, "", root, policyFields, &p)
	if d.err == nil {
		d.failFirst(p.problems())
	}
	if d.err != nil {
		d.err.Name = name
		return Policy{}, d.err
	}
	return p, nil
}

// in turns a fault into the error that users see.
func (f *fault) in(name string, data []byte) *Error {
	e := &Error{Name: name, Msg: f.msg, Hint: f.hint}
	e.Line, e.Column = position(data, f.at)
	return e
}

// position counts the lines, and the characters in the last one, up to an
// offset.
func position(data []byte, at int) (line, column int) {
	before := data[:min(at, len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// decoder walks the syntax tree in the order of the text. Its first error
// stays; what is read after one is not used.
type decoder struct {
	data []byte
	at   map[string]int // where each field's value starts
	err  *Error
}

// fail records the first error.
func (d *decoder) fail(at int, e *Error) {
	if d.err == nil {
		d.err = e
		e.Line, e.Column = position(d.data, at)
	}
}

// failFirst records, of the problems that the whole policy has, the one that
// stands first in the text.
func (d *decoder) failFirst(found []*Error) {
	if len(found) == 0 {
		return
	}
	first := found[0]
	for _, e := range found {
		if d.at[e.Field] < d.at[first.Field] {
			first = e
		}
	}
	d.fail(d.at[first.Field], first)
}

// fieldOf is one field of an object: its name, and how it is read.
type fieldOf[T any] struct {
	name string
	read func(d *decoder, field string, v hujson.Value, into *T)
}

// object reads the members of an object by a table of its fields.
func object[T any](d *decoder, field string, v hujson.Value, fields []fieldOf[T], into *T) {
	d.members(field, v, func(path string, name, v hujson.Value) {
		key := text(name)
		for _, f := range fields {
			if f.name == key {
				f.read(d, path, v, into)
				return
			}
		}
		d.fail(name.StartOffset, unknownField(field, key, fieldNames(fields)))
	})
}

func fieldNames[T any](fields []fieldOf[T]) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// members calls read for each member of an object, with the member's field
// path, and refuses doubled names.
func (d *decoder) members(field string, v hujson.Value, read func(path string, name, v hujson.Value)) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		d.wrongType(field, "an object", v)
		return
	}
	seen := map[string]int{}
	for _, m := range obj.Members {
		key := text(m.Name)
		path := key
		if field != "" {
			path = member(field, key)
		}
		if first, doubled := seen[key]; doubled {
			line, _ := position(d.data, first)
			d.fail(m.Name.StartOffset, duplicateField(field, path, key, line))
			return
		}
		seen[key] = m.Name.StartOffset
		d.at[path] = m.Value.StartOffset
		read(path, m.Name, m.Value)
		// Whatever follows an error is not looked at: that bounds the work
		// on a text made to be wrong.
		if d.err != nil {
			return
		}
	}
}
