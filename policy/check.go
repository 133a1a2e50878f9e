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
			found.add(checkPath(element(list.field, i), path))
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
	for i, item := range p.Accept {
		found.add(checkAccept(element("accept", i), item))
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
}

func (p Policy) pathLists() []pathList {
	return []pathList{
		{"read_paths", Read, p.ReadPaths},
		{"write_paths", Write, p.WritePaths},
		{"blocked_paths", Blocked, p.BlockedPaths},
		{"blocked_write_paths", BlockedWrite, p.BlockedWritePaths},
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
	if name == "" || contains(BuiltinNames, name) {
		return nil
	}
	hint := "known are " + strings.Join(BuiltinNames, ", ")
	if near := closest(name, BuiltinNames); near != "" {
		hint = "did you mean " + quote(near) + "?"
	}
	return problem("extends", "extends: there is no built-in policy "+quote(name), hint)
}

func checkAccept(field, name string) *Error {
	known := acceptNames()
	if contains(known, name) {
		return nil
	}
	hint := "known are " + strings.Join(known, ", ")
	if near := closest(name, known); near != "" {
		hint = "did you mean " + quote(near) + "?"
	}
	return problem(field, field+": there is no item "+quote(name), hint)
}

const envNameHint = "a name has letters, digits and _, and does not start with a digit"

func (e *Env) check(found *problemList) {
	for i, name := range e.Pass {
		// A bare "*" is a name too: all variables.
		if stem, star := strings.CutSuffix(name, "*"); !isEnvName(stem) && !(star && stem == "") {
			found.add(checkEnvName(element("env.pass", i), name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Set)) {
		found.add(checkEnvName("env.set", name))
		if strings.Contains(e.Set[name], "\x00") {
			field := member("env.set", name)
			found.add(problem(field, field+": the value holds a NUL byte", "no variable can hold one"))
		}
	}
}

// checkEnvName judges a variable's name. Of a wrong one it shows only what
// cannot be a value that got there by mistake ("API_KEY=...").
func checkEnvName(field, name string) *Error {
	if isEnvName(name) {
		return nil
	}
	shown, _, assignment := strings.Cut(name, "=")
	switch {
	case strings.HasPrefix(field, "secrets"):
		return problem(field, field+": this is not the name of a variable", envNameHint)
	case assignment:
		return problem(field, field+": "+quote(shown+"=...")+" is not the name of a variable",
			`write "NAME": "value" in env.set`)
	case strings.HasPrefix(field, "env.pass"):
		return problem(field, field+": "+quote(name)+" is not the name of a variable", envNameHint+"; one * may end it")
	}
	return problem(field, field+": "+quote(name)+" is not the name of a variable", envNameHint)
}

// isEnvName is stricter than the kernel, which takes any string: other names
// cannot be set by a shell (POSIX.1-2024, XBD 3.216), and "=" or a newline in
// one would let it pose as another.
func isEnvName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func (p Policy) checkSecret(name string, found *problemList) {
	field, s := member("secrets", name), p.Secrets[name]
	if e := checkEnvName("secrets", name); e != nil {
		found.add(e)
		return
	}
	if p.Env != nil {
		if _, both := p.Env.Set[name]; both {
			found.add(problem(field, field+": the same variable is in env.set", "leave one of them out"))
		}
	}
	found.add(s.checkSources(field))
	if s.File != "" {
		found.add(checkSecretFile(field+".file", s.File))
	}
	if s.Env != "" {
		found.add(checkEnvName(field+".env", s.Env))
	}
	// 0, 1 and 2 are the command's own; a secret read from them would take
	// away its input.
	if s.FD != nil && (*s.FD < 3 || *s.FD > 1<<20) {
		found.add(problem(field+".fd", fmt.Sprintf("%s.fd: %d is not a descriptor that can hold a secret", field, *s.FD),
			"use one from 3 on that the caller leaves open"))
	}
}

// checkSecretFile is checkPath without the text in its words, which may be the
// secret itself in the wrong place.
func checkSecretFile(field, path string) *Error {
	if checkPath(field, path) == nil {
		return nil
	}
	return problem(field, field+" is not a usable path", `write an absolute path, or one that starts with ~, ${HOME} or ${WORK_DIR}`)
}

func (s Secret) checkSources(field string) *Error {
	sources := 0
	for _, set := range []bool{s.File != "", s.FD != nil, s.Env != ""} {
		if set {
			sources++
		}
	}
	switch sources {
	case 1:
		return nil
	case 0:
		return problem(field, field+" has no source", "give it one of file, fd, env")
	}
	return problem(field, field+" has more than one source", "keep one of file, fd, env")
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
