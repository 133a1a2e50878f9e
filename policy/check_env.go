// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
