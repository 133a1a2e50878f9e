// SPDX-License-Identifier: Apache-2.0

package policy

import "github.com/tailscale/hujson"

// The fields of each object in a policy's text.

var policyFields = []fieldOf[Policy]{
	{"extends", func(d *decoder, f string, v hujson.Value, p *Policy) { p.Extends = d.word(f, v) }},
	{"read_paths", func(d *decoder, f string, v hujson.Value, p *Policy) { p.ReadPaths = d.paths(f, v) }},
	{"write_paths", func(d *decoder, f string, v hujson.Value, p *Policy) { p.WritePaths = d.paths(f, v) }},
	{"blocked_paths", func(d *decoder, f string, v hujson.Value, p *Policy) { p.BlockedPaths = d.blocks(f, v) }},
	{"blocked_write_paths", func(d *decoder, f string, v hujson.Value, p *Policy) { p.BlockedWritePaths = d.blocks(f, v) }},
	{"work_dir", func(d *decoder, f string, v hujson.Value, p *Policy) { p.WorkDir = d.path(f, v) }},
	{"allow_network", func(d *decoder, f string, v hujson.Value, p *Policy) { p.AllowNetwork = d.boolean(f, v) }},
	{"private_tmp", func(d *decoder, f string, v hujson.Value, p *Policy) { p.PrivateTmp = d.boolean(f, v) }},
	{"strict", func(d *decoder, f string, v hujson.Value, p *Policy) { p.Strict = d.boolean(f, v) }},
	{"env", func(d *decoder, f string, v hujson.Value, p *Policy) {
		p.Env = &Env{}
		object(d, f, v, envFields, p.Env)
	}},
	{"secrets", func(d *decoder, f string, v hujson.Value, p *Policy) { p.Secrets = d.secrets(f, v) }},
	{"limits", func(d *decoder, f string, v hujson.Value, p *Policy) {
		p.Limits = &Limits{}
		object(d, f, v, limitFields, p.Limits)
	}},
	{"unprotect", func(d *decoder, f string, v hujson.Value, p *Policy) { p.Unprotect = d.words(f, v) }},
	{"accept", func(d *decoder, f string, v hujson.Value, p *Policy) { p.Accept = d.words(f, v) }},
}

var envFields = []fieldOf[Env]{
	{"pass", func(d *decoder, f string, v hujson.Value, e *Env) { e.Pass = d.words(f, v) }},
	{"set", func(d *decoder, f string, v hujson.Value, e *Env) { e.Set = d.envSet(f, v) }},
}

var secretFields = []fieldOf[Secret]{
	{"file", func(d *decoder, f string, v hujson.Value, s *Secret) { s.File = d.pathBy(checkSecretFile, f, v) }},
	{"fd", func(d *decoder, f string, v hujson.Value, s *Secret) { s.FD = d.descriptor(f, v) }},
	{"env", func(d *decoder, f string, v hujson.Value, s *Secret) { s.Env = d.word(f, v) }},
}

var limitFields = []fieldOf[Limits]{
	{"timeout", func(d *decoder, f string, v hujson.Value, l *Limits) { l.Timeout = d.duration(f, v) }},
	{"output_bytes", func(d *decoder, f string, v hujson.Value, l *Limits) { l.OutputBytes = d.integer(f, v) }},
	{"memory_bytes", func(d *decoder, f string, v hujson.Value, l *Limits) { l.MemoryBytes = d.integer(f, v) }},
	{"processes", func(d *decoder, f string, v hujson.Value, l *Limits) { l.Processes = d.integer(f, v) }},
	{"open_files", func(d *decoder, f string, v hujson.Value, l *Limits) { l.OpenFiles = d.integer(f, v) }},
	{"cpu_seconds", func(d *decoder, f string, v hujson.Value, l *Limits) { l.CPUSeconds = d.integer(f, v) }},
	{"file_size_bytes", func(d *decoder, f string, v hujson.Value, l *Limits) { l.FileSizeBytes = d.integer(f, v) }},
}

func (d *decoder) envSet(field string, v hujson.Value) map[string]string {
	var set map[string]string
	d.members(field, v, func(path string, name, v hujson.Value) {
		key := d.name(field, name)
		// An empty value is a value; what it holds is shown nowhere.
		value, ok := d.str(path, "a string", v)
		if !ok {
			return
		}
		if set == nil {
			set = map[string]string{}
		}
		set[key] = value
	})
	return set
}

func (d *decoder) secrets(field string, v hujson.Value) map[string]Secret {
	var secrets map[string]Secret
	d.members(field, v, func(path string, name, v hujson.Value) {
		key := d.name(field, name)
		if _, inline := v.Value.(hujson.Literal); inline && v.Value.Kind() == '"' {
			d.fail(v.StartOffset, problem(path, path+" must be an object that says where the secret is, not the secret",
				`write {"file": "/path"}, {"fd": 3} or {"env": "NAME"}`))
			return
		}
		var s Secret
		object(d, path, v, secretFields, &s)
		if secrets == nil {
			secrets = map[string]Secret{}
		}
		secrets[key] = s
	})
	return secrets
}

// name reads the name of a variable. It is checked here, and not only with the
// policy, because the error points at the name, and others at its value.
func (d *decoder) name(field string, name hujson.Value) string {
	key := text(name)
	if e := checkEnvName(field, key); e != nil {
		d.fail(name.StartOffset, e)
	}
	return key
}
