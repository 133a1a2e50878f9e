// SPDX-License-Identifier: Apache-2.0

package policy

import "slices"

// Resolve merges layers, lowest first, into one policy, and replaces the
// variables in its paths. It looks at nothing but its arguments.
//
//   - The last layer that sets Extends names the built-in policy that goes
//     below all of them; without one it is "system".
//   - Lists are united in the order of the layers, single values and each
//     limit are the last layer's that sets them.
//   - A protection that some layer lifts is left out.
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
	base, _ := Builtin(extends)
	most := len(base.ReadPaths) + len(base.WritePaths) + len(base.BlockedWritePaths) + 16 // for the few of most users
	m := merged{rules: make([]rule, 0, most), set: map[string]value{}, secrets: map[string]ownedSecret{}}
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
		if m.lifted(rule) {
			continue
		}
		pattern := hasWildcard(rule.path)
		expand := x.path
		if pattern {
			expand = x.pattern
		}
		path, err := expand(rule.place)
		if err != nil && rule.builtin == fromBuiltin {
			continue
		}
		if err != nil {
			return nil, err
		}
		r.Rules = append(r.Rules, PathRule{path, rule.kind, rule.origin(), rule.builtin == fromBuiltin, pattern})
	}
	if r.TmpDir != "" {
		r.Rules = append(r.Rules, PathRule{r.TmpDir, Write, PrivateTmpOrigin, true, false})
	}
	if m.workDir.path != "" {
		// What a policy names as the place to work in is usable. A folder
		// that the command merely starts in is not named, and may be "/".
		r.Rules = append(r.Rules, PathRule{r.WorkDir, Read, m.workDir.layer, true, false})
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

// PrivateTmpOrigin is the origin of the rule for the private temporary folder.
const PrivateTmpOrigin = "private_tmp"

const tmpDirEnv = "TMPDIR"

// mentions tells whether a layer says where a variable's value comes from.
func (m *merged) mentions(name string) bool {
	_, set := m.set[name]
	_, secret := m.secrets[name]
	return set || secret || slices.Contains(m.pass, name)
}

func isTrue(b *bool) bool { return b != nil && *b }
