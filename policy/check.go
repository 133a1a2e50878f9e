// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Check judges what a policy says, apart from how it was written: a layer made
// of flags or by a program passes it just as a file does. name is the layer's
// name in the error, which is an [*Error]. A path must be absolute, or start
// with "~", ${HOME}, ${WORK_DIR} or ${TMPDIR}; it may hold any byte but NUL.
func (p Policy) Check(name string) error {
	if found := p.problems(); len(found) > 0 {
		found[0].Name = name
		return found[0]
	}
	return nil
}

// problems lists everything that is wrong, in a fixed order, so that [Decode]
// can report what stands first in the text.
func (p Policy) problems() []*Error {
	var found problemList
	found.add(checkExtends(p.Extends))
	for _, list := range p.pathLists() {
		for i, path := range list.paths {
			found.add(list.check(element(list.field, i), path))
		}
	}
	if p.WorkDir != "" {
		found.add(checkPath("work_dir", p.WorkDir))
	}
	if p.Env != nil {
		p.Env.check(&found)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		p.checkSecret(name, &found)
	}
	if p.Limits != nil {
		p.Limits.check(&found)
	}
	for i, name := range p.Unprotect {
		found.add(checkKnown(element("unprotect", i), "protection", name, protectionNames()))
	}
	for i, item := range p.Accept {
		found.add(checkKnown(element("accept", i), "item", item, acceptNames()))
	}
	return found
}

// problemList collects; add leaves out nil.
type problemList []*Error

func (l *problemList) add(e *Error) {
	if e != nil {
		*l = append(*l, e)
	}
}

// pathList is one of the four lists of paths.
type pathList struct {
	field string
	kind  Kind
	paths []string
	check func(field, path string) *Error
}

func (p Policy) pathLists() []pathList {
	return []pathList{
		{"read_paths", Read, p.ReadPaths, checkPath},
		{"write_paths", Write, p.WritePaths, checkPath},
		{"blocked_paths", Blocked, p.BlockedPaths, checkBlock},
		{"blocked_write_paths", BlockedWrite, p.BlockedWritePaths, checkBlock},
	}
}

// element names an element of a list, and member one of an object.
func element(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

func member(field, name string) string {
	if isEnvName(name) {
		return field + "." + name
	}
	return field + "[" + quote(name) + "]"
}

func checkExtends(name string) *Error {
	if name == "" {
		return nil
	}
	return checkKnown("extends", "built-in policy", name, BuiltinNames)
}

// checkKnown judges a name that must be one of those known.
func checkKnown(field, kind, name string, known []string) *Error {
	if slices.Contains(known, name) {
		return nil
	}
	hint := "known are " + strings.Join(known, ", ")
	if near := closest(name, known); near != "" {
		hint = "did you mean " + quote(near) + "?"
	}
	return problem(field, field+": there is no "+kind+" "+quote(name), hint)
}

// amount is one limit that is a plain number.
type amount struct {
	field string
	value **int64
}

func (l *Limits) amounts() []amount {
	return []amount{
		{"output_bytes", &l.OutputBytes}, {"memory_bytes", &l.MemoryBytes},
		{"processes", &l.Processes}, {"open_files", &l.OpenFiles},
		{"cpu_seconds", &l.CPUSeconds}, {"file_size_bytes", &l.FileSizeBytes},
	}
}

func (l *Limits) check(found *problemList) {
	const hint = "leave it out for no limit"
	if l.Timeout != nil && *l.Timeout <= 0 {
		found.add(problem("limits.timeout", "limits.timeout must be longer than 0, not "+l.Timeout.String(), hint))
	}
	for _, a := range l.amounts() {
		if v := *a.value; v != nil && *v <= 0 {
			field := "limits." + a.field
			found.add(problem(field, fmt.Sprintf("%s must be at least 1, not %d", field, *v), hint))
		}
	}
}
