// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
)

// text gives the string that a JSON string stands for. Strings that pass scan
// lose nothing by it.
func text(v hujson.Value) string {
	lit, _ := v.Value.(hujson.Literal)
	return lit.String()
}

// str reads any string; want says in an error what it is.
func (d *decoder) str(field, want string, v hujson.Value) (s string, ok bool) {
	if v.Value.Kind() != '"' {
		d.wrongType(field, want, v)
		return "", false
	}
	return text(v), true
}

// word reads a string that is not empty.
func (d *decoder) word(field string, v hujson.Value) string {
	s, ok := d.str(field, "a string", v)
	if ok && s == "" {
		d.fail(v.StartOffset, problem(field, field+" is empty", "give it a value, or leave it out"))
	}
	return s
}

// words reads a list of strings that are not empty. An empty list is as good
// as none.
func (d *decoder) words(field string, v hujson.Value) []string {
	return d.list(field, v, (*decoder).word)
}

// paths reads a list of paths.
func (d *decoder) paths(field string, v hujson.Value) []string {
	return d.list(field, v, (*decoder).path)
}

// blocks reads a list of paths and patterns.
func (d *decoder) blocks(field string, v hujson.Value) []string {
	return d.list(field, v, func(d *decoder, field string, v hujson.Value) string { return d.pathBy(checkBlock, field, v) })
}

func (d *decoder) list(field string, v hujson.Value, read func(*decoder, string, hujson.Value) string) []string {
	arr, ok := v.Value.(*hujson.Array)
	if !ok {
		d.wrongType(field, "a list of strings", v)
		return nil
	}
	var list []string
	for i, v := range arr.Elements {
		path := element(field, i)
		d.at[path] = v.StartOffset
		list = append(list, read(d, path, v))
		if d.err != nil {
			return nil
		}
	}
	return list
}

// path reads a path. What only text is held to is checked here: control
// characters in a file are slips or tricks, and ".." would name another place
// than it seems to where a link is on the way.
func (d *decoder) path(field string, v hujson.Value) string { return d.pathBy(checkPath, field, v) }

func (d *decoder) pathBy(check func(field, path string) *Error, field string, v hujson.Value) string {
	s := d.word(field, v)
	if d.err != nil {
		return s
	}
	if e := check(field, s); e != nil {
		d.fail(v.StartOffset, e)
	}
	if strings.IndexFunc(s, unicode.IsControl) >= 0 {
		d.fail(v.StartOffset, problem(field, field+": "+quote(s)+" holds a control character",
			"remove it; a path that really has one can only be given by a flag"))
	}
	if strings.Contains("/"+s+"/", "/../") {
		d.fail(v.StartOffset, problem(field, field+": "+quote(s)+` holds ".."`, "write the path without it"))
	}
	return s
}

func (d *decoder) boolean(field string, v hujson.Value) *bool {
	kind := v.Value.Kind()
	if kind != 't' && kind != 'f' {
		d.wrongType(field, "true or false", v)
		return nil
	}
	b := kind == 't'
	return &b
}

// integer reads a whole number in plain digits. Its sign is checked with the
// policy.
func (d *decoder) integer(field string, v hujson.Value) *int64 {
	if v.Value.Kind() != '0' {
		d.wrongType(field, "a whole number", v)
		return nil
	}
	digits := string(v.Value.(hujson.Literal))
	if strings.Trim(digits, "-0123456789") != "" {
		d.fail(v.StartOffset, problem(field, field+" must be a whole number, not "+clip(digits),
			"write it without a fraction and an exponent"))
		return nil
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		d.fail(v.StartOffset, problem(field, field+" is out of range", "the largest value is "+strconv.Itoa(math.MaxInt64)))
		return nil
	}
	return &n
}

func (d *decoder) descriptor(field string, v hujson.Value) *int {
	n := d.integer(field, v)
	if n == nil {
		return nil
	}
	fd := int(*n)
	if *n != int64(int32(*n)) {
		d.fail(v.StartOffset, problem(field, field+" is out of range", "use one from 3 on that the caller leaves open"))
	}
	return &fd
}

func (d *decoder) duration(field string, v hujson.Value) *Duration {
	s, ok := d.str(field, `a duration like "90s"`, v)
	if !ok {
		return nil
	}
	duration, err := ParseDuration(s)
	if err != nil {
		e := err.(*Error)
		d.fail(v.StartOffset, problem(field, field+": "+e.Msg, e.Hint))
		return nil
	}
	return &duration
}

// wrongType reports a value of another type than the field's.
func (d *decoder) wrongType(field, want string, v hujson.Value) {
	got := kindName(v.Value.Kind())
	hint := ""
	switch {
	case got == "null":
		hint = "leave it out instead"
	case want == "a list of strings" && got == "a string":
		hint = "put [ ] around it"
	case want == "true or false" && (text(v) == "true" || text(v) == "false"):
		hint = "write " + text(v) + " without quotes"
	case want == "a whole number" && got == "a string":
		hint = "write it without quotes and units"
	case want == `a duration like "90s"` && got == "a number":
		hint = "put it in quotes, with a unit"
	}
	if field == "" {
		field = "a policy"
	}
	d.fail(v.StartOffset, problem(field, field+" must be "+want+", not "+got, hint))
}
