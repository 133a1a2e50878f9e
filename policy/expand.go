// SPDX-License-Identifier: Apache-2.0

package policy

import "strings"

// expander replaces variables.
type expander struct {
	values map[string]string // without the unknown ones
}

// expander finds the variables' values, of which the working directory may
// itself be written with the others.
func (m *merged) expander(v Vars) (*expander, error) {
	x := &expander{values: map[string]string{}}
	if !isTrue(m.privateTmp) {
		v.TmpDir = ""
	}
	for _, given := range []struct{ name, path string }{
		{varHome, v.Home}, {varTmpDir, v.TmpDir}, {varWorkDir, v.WorkDir},
	} {
		switch {
		case given.path == "":
		case !strings.HasPrefix(given.path, "/") || strings.Contains(given.path, "\x00"):
			return nil, problem("", "cannot use "+quote(given.path)+" as ${"+given.name+"}", "it must be an absolute path")
		default:
			x.values[given.name] = clean(given.path)
		}
	}
	if m.workDir.path != "" {
		path, err := x.path(m.workDir)
		if err != nil {
			return nil, err
		}
		x.values[varWorkDir] = path
	}
	if x.values[varWorkDir] == "" {
		return nil, problem("work_dir", "work_dir is not set, and there is no current directory to take", "set it to an absolute path")
	}
	return x, nil
}

// path replaces the variable at the start of a checked path.
func (x *expander) path(p place) (string, error) {
	variable, rest, _ := splitPath(p.path)
	rest = fromLiteral.Replace(rest)
	if variable == "" {
		return clean(rest), nil
	}
	prefix, known := x.values[variable]
	if !known {
		return "", noValue(p, variable)
	}
	return clean(prefix + rest), nil
}

// pattern replaces the variable at the start of a checked pattern. Its value
// has no wildcards.
func (x *expander) pattern(p place) (string, error) {
	variable, rest, _ := splitPath(p.path)
	if variable == "" {
		return clean(rest), nil
	}
	prefix, known := x.values[variable]
	if !known {
		return "", noValue(p, variable)
	}
	return clean(Literal(prefix) + rest), nil
}

func noValue(p place, variable string) *Error {
	hint := "write an absolute path"
	switch variable {
	case varHome:
		hint = "set the variable HOME, or " + hint
	case varTmpDir:
		hint = "set private_tmp to true, or " + hint
	}
	return &Error{Name: p.layer, Field: p.field(), Hint: hint,
		Msg: p.field() + ": " + quote(p.path) + " starts with ${" + variable + "}, which has no value"}
}

// text replaces the variables in a built-in value; ok is false where one has
// no value.
func (x *expander) text(s string) (string, bool) {
	if !strings.Contains(s, "${") {
		return s, true
	}
	var pairs []string
	for _, name := range variables {
		reference := "${" + name + "}"
		value, known := x.values[name]
		if !known && strings.Contains(s, reference) {
			return "", false
		}
		pairs = append(pairs, reference, value)
	}
	// In one pass, so that a value is not searched for variables itself.
	return strings.NewReplacer(pairs...).Replace(s), true
}

// checkWorkspace refuses "/", the home and folders above it as the workspace:
// the policy would open every key there, for writing even, which nobody means
// who happens to start a command in one.
func (x *expander) checkWorkspace(extends, layer string) error {
	home, dir := x.values[varHome], x.values[varWorkDir]
	what := ""
	switch {
	case extends != Workspace:
	case dir == "/":
		what = "the whole file system"
	case home == dir || strings.HasPrefix(home, dir+"/"):
		what = "all of the home"
	}
	if what == "" {
		return nil
	}
	return &Error{Name: layer, Field: "work_dir",
		Msg:  `in ` + quote(dir) + `, the policy "workspace" would make ` + what + ` writable`,
		Hint: `start from a project's folder, or extend "system" and list the paths to open`}
}
