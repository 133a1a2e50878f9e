// SPDX-License-Identifier: Apache-2.0

package policy

import "strings"

// Resolve merges layers, lowest first, into one policy, and replaces the
// variables in its paths. It looks at nothing but its arguments.
//
//   - The last layer that sets Extends names the built-in policy that goes
//     below all of them; without one it is "system".
//   - Lists are united in the order of the layers, single values and each
//     limit are the last layer's that sets them.
//   - For each variable of the environment the last layer that names it in
//     Pass, Set or Secrets decides.
//   - ${WORK_DIR} is the resolved WorkDir, which is v.WorkDir if no layer sets
//     one. ${TMPDIR} is v.TmpDir if the policy wants a private temporary
//     folder, and has no value otherwise.
//   - The private temporary folder is writable, and TMPDIR names it unless a
//     layer says otherwise.
//
// A built-in entry whose variable has no value is dropped; in another layer
// it is an error. All errors are of the type [*Error].
func Resolve(layers []Layer, v Vars) (*Resolved, error) {
	extends := System
	for _, layer := range layers {
		if err := layer.Policy.Check(layer.Name); err != nil {
			return nil, err
		}
		if layer.Policy.Extends != "" {
			extends = layer.Policy.Extends
		}
	}
	m := merged{set: map[string]value{}, secrets: map[string]ownedSecret{}}
	base, _ := Builtin(extends)
	m.merge(Layer{Name: "built-in " + extends, Policy: base}, fromBuiltin)
	for _, layer := range layers {
		m.merge(layer, fromUser)
	}
	x, err := m.expander(v)
	if err != nil {
		return nil, err
	}
	if err := x.checkWorkspace(extends, m.workDir.layer); err != nil {
		return nil, err
	}
	return m.resolve(x)
}

// resolve replaces the variables in everything that was merged.
func (m *merged) resolve(x *expander) (*Resolved, error) {
	r := &Resolved{
		WorkDir:      x.values[varWorkDir],
		TmpDir:       x.values[varTmpDir],
		AllowNetwork: isTrue(m.allowNetwork),
		PrivateTmp:   isTrue(m.privateTmp),
		Strict:       isTrue(m.strict),
		Limits:       m.limits,
		Accept:       sortedSet(m.accept),
	}
	r.Rules = make([]PathRule, 0, len(m.rules)+1)
	for _, rule := range m.rules {
		path, err := x.path(rule.place)
		if err != nil && rule.builtin == fromBuiltin {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.Rules = append(r.Rules, PathRule{path, rule.kind, rule.layer, rule.builtin == fromBuiltin})
	}
	if r.TmpDir != "" {
		r.Rules = append(r.Rules, PathRule{r.TmpDir, Write, "private_tmp", true})
	}
	if m.workDir.path != "" {
		// What a policy names as the place to work in is usable. A folder
		// that the command merely starts in is not named, and may be "/".
		r.Rules = append(r.Rules, PathRule{r.WorkDir, Read, m.workDir.layer, true})
	}
	var err error
	if r.Secrets, err = m.resolveSecrets(x); err != nil {
		return nil, err
	}
	r.Env = m.resolveEnv(x)
	return r, nil
}

func (m *merged) resolveSecrets(x *expander) (map[string]Secret, error) {
	resolved := make(map[string]Secret, len(m.secrets))
	for name, s := range m.secrets {
		if s.File != "" {
			path, err := x.path(place{s.File, member("secrets", name) + ".file", noIndex, s.layer})
			if err != nil {
				return nil, err
			}
			s.File = path
		}
		resolved[name] = s.Secret
	}
	return resolved, nil
}

func (m *merged) resolveEnv(x *expander) Env {
	env := Env{Pass: sortedSet(m.pass), Set: make(map[string]string, len(m.set))}
	for name, v := range m.set {
		text := v.text
		if v.builtin == fromBuiltin {
			var ok bool
			if text, ok = x.text(text); !ok {
				continue
			}
		}
		env.Set[name] = text
	}
	if tmp := x.values[varTmpDir]; tmp != "" && !m.mentions(tmpDirEnv) {
		env.Set[tmpDirEnv] = tmp
	}
	return env
}

const tmpDirEnv = "TMPDIR"

// mentions tells whether a layer says where a variable's value comes from.
func (m *merged) mentions(name string) bool {
	_, set := m.set[name]
	_, secret := m.secrets[name]
	return set || secret || contains(m.pass, name)
}

func isTrue(b *bool) bool { return b != nil && *b }

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
	rest = strings.ReplaceAll(rest, "$${", "${")
	if variable == "" {
		return clean(rest), nil
	}
	prefix, known := x.values[variable]
	if !known {
		return "", noValue(p, variable)
	}
	return clean(prefix + rest), nil
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
