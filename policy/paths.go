// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strings"
)

// The variables of path fields. A path starts with one or with "/": all three
// stand for absolute paths, so that anywhere else they would make no sense.
const (
	varHome    = "HOME"
	varWorkDir = "WORK_DIR"
	varTmpDir  = "TMPDIR"
)

// variables lists them as users write them.
var variables = []string{varHome, varTmpDir, varWorkDir}

const knownVariables = "the variables are ${HOME}, ${WORK_DIR} and ${TMPDIR}"

// Literal makes a path that holds "${", "*" or "?" mean itself as a path field. Programs
// that take paths from elsewhere than a policy's text should apply it.
func Literal(path string) string { return toLiteral.Replace(path) }

// What stands for itself in a path is written with "$" before it. Replacing
// goes from left to right, so each undoes the other.
var (
	toLiteral   = strings.NewReplacer("${", "$${", "*", "$*", "?", "$?")
	fromLiteral = strings.NewReplacer("$${", "${", "$*", "*", "$?", "?")
	withoutStar = strings.NewReplacer("$*", "", "$?", "")
)

// splitPath separates the variable that a path starts with ("~" counts as
// HOME) from the rest, which is empty or starts with "/". ok is false where
// the path is none of the permitted forms.
func splitPath(s string) (variable, rest string, ok bool) {
	switch {
	case strings.HasPrefix(s, "/"):
		return "", s, true
	case s == "~" || strings.HasPrefix(s, "~/"):
		return varHome, s[1:], true
	}
	if inner, found := strings.CutPrefix(s, "${"); found {
		variable, rest, found = strings.Cut(inner, "}")
		return variable, rest, found && (rest == "" || rest[0] == '/')
	}
	return "", "", false
}

// checkPath judges one path field; nil means that only its variable's value
// is still needed. What a file may not hold beyond this, [Decode] checks.
func checkPath(field, s string) *Error {
	if hasWildcard(s) && !strings.Contains(s, "\x00") {
		// What a command makes, it can give any name that it likes.
		return problem(field, field+": "+quote(s)+" holds * or ?, and only a block can be a pattern: what is granted by its name could be anything that gets the name",
			"list the folder or file itself; write $* or $? for a name that holds one")
	}
	return checkForm(field, s)
}

// checkForm judges what paths and patterns have in common.
func checkForm(field, s string) *Error {
	switch {
	case s == "":
		return problem(field, field+" is empty", "write a path, or leave it out")
	case strings.Contains(s, "\x00"):
		return problem(field, field+": "+quote(s)+" holds a NUL byte", "no path can hold one")
	}
	variable, rest, ok := splitPath(s)
	switch {
	case !ok:
		return pathForm(field, s)
	case s[0] != '/' && !slices.Contains(variables, variable):
		return unknownVariable(field, s, variable)
	}
	if at := strings.Index(strings.ReplaceAll(rest, "$${", ""), "${"); at >= 0 {
		return problem(field, field+": "+quote(s)+" holds a variable after its start",
			"a path may only start with one; write $${ for a name that holds ${")
	}
	return nil
}

// pathForm says what is wrong with a path that is neither absolute nor starts
// with a variable.
func pathForm(field, s string) *Error {
	says := field + ": " + quote(s)
	name, rest := s, ""
	if at := strings.IndexByte(s, '/'); at >= 0 {
		name, rest = s[:at], s[at:]
	}
	switch {
	case name[0] == '~':
		return problem(field, says+" names another user's home, which is not supported", "write the absolute path")
	case strings.HasPrefix(s, "${") && !strings.Contains(s, "}"):
		return problem(field, says+" has no closing }", knownVariables)
	case strings.HasPrefix(s, "${"):
		return problem(field, says+" has text right after the variable", "put a / after the }")
	case name[0] == '$' && slices.Contains(variables, name[1:]):
		return problem(field, says+" is a relative path", "write "+clean("${"+name[1:]+"}"+rest)+" instead")
	case name == "..":
		return problem(field, says+" is a relative path", "write the absolute path")
	}
	return problem(field, says+" is a relative path", "write "+clean("${WORK_DIR}/"+s)+" instead")
}

func unknownVariable(field, s, variable string) *Error {
	hint := knownVariables
	if near := closest(variable, variables); near != "" {
		hint = "did you mean ${" + near + "}?"
	}
	return problem(field, field+": "+quote(s)+" holds the unknown variable ${"+quoteless(variable)+"}", hint)
}

// quoteless shows a name from a policy inside other punctuation.
func quoteless(s string) string { return strings.Trim(quote(s), `"`) }

// clean removes what cannot change a path's meaning: doubled slashes, "."
// and a slash at the end. It keeps "..", which filepath.Clean takes away
// together with the name before it: if that name is a symbolic link, the
// result is another place (path_resolution(7)). Whoever resolves the path on
// the host does that right.
func clean(path string) string {
	if isClean(path) {
		return path
	}
	parts := strings.Split(path, "/")
	kept := parts[:0]
	for _, part := range parts {
		if part != "" && part != "." {
			kept = append(kept, part)
		}
	}
	joined := strings.Join(kept, "/")
	if strings.HasPrefix(path, "/") {
		return "/" + joined
	}
	return joined
}

// isClean spares nearly every path the splitting: hundreds are resolved at
// each start.
func isClean(path string) bool {
	if path == "/" {
		return true
	}
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		rest := path[i+1:]
		if rest == "" || rest[0] == '/' || rest[0] == '.' && (len(rest) == 1 || rest[1] == '/') {
			return false
		}
	}
	return strings.HasPrefix(path, "/")
}
