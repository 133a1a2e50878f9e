// SPDX-License-Identifier: Apache-2.0

package policy

import "testing"

// Unknown and doubled fields, and values of another type.
func TestFieldErrors(t *testing.T) {
	decodeErrors(t, []decodeError{
		{`{"read_path": []}`, `p.json:1:2: unknown field "read_path"; did you mean "read_paths"?`},
		{`{"readPaths": []}`, `p.json:1:2: unknown field "readPaths"; did you mean "read_paths"?`},
		{`{"Strict": true}`, `p.json:1:2: unknown field "Strict"; did you mean "strict"?`},
		{`{"banana": 1}`,
			`p.json:1:2: unknown field "banana"; known are extends, read_paths, write_paths, blocked_paths, blocked_write_paths, work_dir, allow_network, private_tmp, strict, env, secrets, limits, unprotect, accept`},
		{`{"env": {"passs": []}}`, `p.json:1:10: unknown field "passs" in env; did you mean "pass"?`},
		{`{"limits": {"memory": 1}}`,
			`p.json:1:13: unknown field "memory" in limits; did you mean "memory_bytes"?`},
		{`{"secrets": {"A": {"path": "/x"}}}`,
			`p.json:1:20: unknown field "path" in secrets.A; known are file, fd, env`},
		{`{"a\u001b[31m": 1}`,
			`p.json:1:2: unknown field "a\x1b[31m"; known are extends, read_paths, write_paths, blocked_paths, blocked_write_paths, work_dir, allow_network, private_tmp, strict, env, secrets, limits, unprotect, accept`},
		{`{"strict": true, "allow_network": false, "strict": true}`,
			`p.json:1:42: duplicate field "strict"; it is in line 1 already; keep one`},
		{"{\n\"env\": {\"set\": {\"A\": \"1\",\n\"\\u0041\": \"2\"}}}",
			`p.json:3:1: duplicate field "A" in env.set; it is in line 2 already; keep one`},
		{`{"read_paths": 7}`, `p.json:1:16: read_paths must be a list of strings, not a number`},
		{`{"read_paths": "/a"}`,
			`p.json:1:16: read_paths must be a list of strings, not a string; put [ ] around it`},
		{`{"read_paths": null}`,
			`p.json:1:16: read_paths must be a list of strings, not null; leave it out instead`},
		{`{"read_paths": {}}`, `p.json:1:16: read_paths must be a list of strings, not an object`},
		{`{"read_paths": ["/a", 7]}`, `p.json:1:23: read_paths[1] must be a string, not a number`},
		{`{"read_paths": ["/a", null]}`,
			`p.json:1:23: read_paths[1] must be a string, not null; leave it out instead`},
		{`{"read_paths": [["/a"]]}`, `p.json:1:17: read_paths[0] must be a string, not a list`},
		{`{"read_paths": ["/a", ""]}`,
			`p.json:1:23: read_paths[1] is empty; give it a value, or leave it out`},
		{`{"work_dir": ""}`, `p.json:1:14: work_dir is empty; give it a value, or leave it out`},
		{`{"work_dir": []}`, `p.json:1:14: work_dir must be a string, not a list`},
		{`{"extends": ""}`, `p.json:1:13: extends is empty; give it a value, or leave it out`},
		{`{"extends": 1}`, `p.json:1:13: extends must be a string, not a number`},
		{`{"extends": "workspce"}`,
			`p.json:1:13: extends: there is no built-in policy "workspce"; did you mean "workspace"?`},
		{`{"extends": "foo"}`,
			`p.json:1:13: extends: there is no built-in policy "foo"; known are none, system, workspace`},
		{`{"strict": "true"}`,
			`p.json:1:12: strict must be true or false, not a string; write true without quotes`},
		{`{"strict": 1}`, `p.json:1:12: strict must be true or false, not a number`},
		{`{"strict": null}`, `p.json:1:12: strict must be true or false, not null; leave it out instead`},
		{`{"env": []}`, `p.json:1:9: env must be an object, not a list`},
		{`{"env": {"pass": "A"}}`,
			`p.json:1:18: env.pass must be a list of strings, not a string; put [ ] around it`},
		{`{"env": {"set": ["A=1"]}}`, `p.json:1:17: env.set must be an object, not a list`},
		{`{"env": {"set": {"A": 1}}}`, `p.json:1:23: env.set.A must be a string, not a number`},
		{`{"env": {"set": {"A": null}}}`,
			`p.json:1:23: env.set.A must be a string, not null; leave it out instead`},
		{`{"secrets": ["A"]}`, `p.json:1:13: secrets must be an object, not a list`},
		{`{"secrets": {"A": "hush"}}`,
			`p.json:1:19: secrets.A must be an object that says where the secret is, not the secret; write {"file": "/path"}, {"fd": 3} or {"env": "NAME"}`},
		{`{"secrets": {"A": 1}}`, `p.json:1:19: secrets.A must be an object, not a number`},
		{`{"limits": 1}`, `p.json:1:12: limits must be an object, not a number`},
		{`{"accept": {}}`, `p.json:1:12: accept must be a list of strings, not an object`},
	})
}

// Paths that a file cannot hold.
func TestPathErrors(t *testing.T) {
	decodeErrors(t, []decodeError{
		{`{"read_paths": ["src"]}`,
			`p.json:1:17: read_paths[0]: "src" is a relative path; write ${WORK_DIR}/src instead`},
		{`{"read_paths": ["./src/"]}`,
			`p.json:1:17: read_paths[0]: "./src/" is a relative path; write ${WORK_DIR}/src instead`},
		{`{"read_paths": ["."]}`,
			`p.json:1:17: read_paths[0]: "." is a relative path; write ${WORK_DIR} instead`},
		{`{"read_paths": ["../x"]}`,
			`p.json:1:17: read_paths[0]: "../x" is a relative path; write the absolute path`},
		{`{"read_paths": ["$HOME/x"]}`,
			`p.json:1:17: read_paths[0]: "$HOME/x" is a relative path; write ${HOME}/x instead`},
		{`{"read_paths": ["~bob/x"]}`,
			`p.json:1:17: read_paths[0]: "~bob/x" names another user's home, which is not supported; write the absolute path`},
		{`{"read_paths": ["${USER}/x"]}`,
			`p.json:1:17: read_paths[0]: "${USER}/x" holds the unknown variable ${USER}; the variables are ${HOME}, ${WORK_DIR} and ${TMPDIR}`},
		{`{"read_paths": ["${WORKDIR}/x"]}`,
			`p.json:1:17: read_paths[0]: "${WORKDIR}/x" holds the unknown variable ${WORKDIR}; did you mean ${WORK_DIR}?`},
		{`{"read_paths": ["${HOMEx"]}`,
			`p.json:1:17: read_paths[0]: "${HOMEx" has no closing }; the variables are ${HOME}, ${WORK_DIR} and ${TMPDIR}`},
		{`{"read_paths": ["${HOME}x"]}`,
			`p.json:1:17: read_paths[0]: "${HOME}x" has text right after the variable; put a / after the }`},
		{`{"read_paths": ["/a/${HOME}"]}`,
			`p.json:1:17: read_paths[0]: "/a/${HOME}" holds a variable after its start; a path may only start with one; write $${ for a name that holds ${`},
		{`{"read_paths": ["/a/\u0000"]}`,
			`p.json:1:17: read_paths[0]: "/a/\x00" holds a NUL byte; no path can hold one`},
		{`{"read_paths": ["/a/\n"]}`,
			`p.json:1:17: read_paths[0]: "/a/\n" holds a control character; remove it; a path that really has one can only be given by a flag`},
		{`{"read_paths": ["/a/\u0085"]}`,
			`p.json:1:17: read_paths[0]: "/a/\u0085" holds a control character; remove it; a path that really has one can only be given by a flag`},
		{`{"read_paths": ["/a/*"]}`,
			`p.json:1:17: read_paths[0]: "/a/*" holds * or ?, and only a block can be a pattern: what is granted by its name could be anything that gets the name; list the folder or file itself; write $* or $? for a name that holds one`},
		{`{"read_paths": ["**/.env"]}`,
			`p.json:1:17: read_paths[0]: "**/.env" holds * or ?, and only a block can be a pattern: what is granted by its name could be anything that gets the name; list the folder or file itself; write $* or $? for a name that holds one`},
		{`{"read_paths": ["/a/?"]}`,
			`p.json:1:17: read_paths[0]: "/a/?" holds * or ?, and only a block can be a pattern: what is granted by its name could be anything that gets the name; list the folder or file itself; write $* or $? for a name that holds one`},
		{`{"read_paths": ["/a/../b"]}`,
			`p.json:1:17: read_paths[0]: "/a/../b" holds ".."; write the path without it`},
		{`{"read_paths": ["~/.."]}`,
			`p.json:1:17: read_paths[0]: "~/.." holds ".."; write the path without it`},
	})
}

// Names and values of variables.
func TestEnvErrors(t *testing.T) {
	decodeErrors(t, []decodeError{
		{`{"env": {"pass": ["A", ""]}}`,
			`p.json:1:24: env.pass[1] is empty; give it a value, or leave it out`},
		{`{"env": {"pass": ["A-B"]}}`,
			`p.json:1:19: env.pass[0]: "A-B" is not the name of a variable; a name has letters, digits and _, and does not start with a digit; one * may end it`},
		{`{"env": {"pass": ["A*B"]}}`,
			`p.json:1:19: env.pass[0]: "A*B" is not the name of a variable; a name has letters, digits and _, and does not start with a digit; one * may end it`},
		{`{"env": {"pass": ["1A"]}}`,
			`p.json:1:19: env.pass[0]: "1A" is not the name of a variable; a name has letters, digits and _, and does not start with a digit; one * may end it`},
		{`{"env": {"set": {"A=B": "x"}}}`,
			`p.json:1:18: env.set: "A=..." is not the name of a variable; write "NAME": "value" in env.set`},
		{`{"env": {"set": {"": "x"}}}`,
			`p.json:1:18: env.set: "" is not the name of a variable; a name has letters, digits and _, and does not start with a digit`},
		{`{"env": {"set": {"A": "x\u0000y"}}}`,
			`p.json:1:23: env.set.A: the value holds a NUL byte; no variable can hold one`},
		{`{"env": {"set": {"A*": "x"}}}`,
			`p.json:1:18: env.set: "A*" is not the name of a variable; a name has letters, digits and _, and does not start with a digit`},
	})
}

// Sources of secrets. None of the errors shows what may be a secret in the
// wrong place.
func TestSecretErrors(t *testing.T) {
	decodeErrors(t, []decodeError{
		{`{"secrets": {"A": {}}}`, `p.json:1:19: secrets.A has no source; give it one of file, fd, env`},
		{`{"secrets": {"A": {"fd": 3, "env": "B"}}}`,
			`p.json:1:19: secrets.A has more than one source; keep one of file, fd, env`},
		{`{"secrets": {"A B": {"fd": 3}}}`,
			`p.json:1:14: secrets: this is not the name of a variable; a name has letters, digits and _, and does not start with a digit`},
		{`{"secrets": {"A": {"fd": 2}}}`,
			`p.json:1:26: secrets.A.fd: 2 is not a descriptor that can hold a secret; use one from 3 on that the caller leaves open`},
		{`{"secrets": {"A": {"fd": -1}}}`,
			`p.json:1:26: secrets.A.fd: -1 is not a descriptor that can hold a secret; use one from 3 on that the caller leaves open`},
		{`{"secrets": {"A": {"fd": 99999999999}}}`,
			`p.json:1:26: secrets.A.fd is out of range; use one from 3 on that the caller leaves open`},
		{`{"secrets": {"A": {"fd": 1.5}}}`,
			`p.json:1:26: secrets.A.fd must be a whole number, not 1.5; write it without a fraction and an exponent`},
		{`{"secrets": {"A": {"env": "B-C"}}}`,
			`p.json:1:27: secrets.A.env: this is not the name of a variable; a name has letters, digits and _, and does not start with a digit`},
		{`{"secrets": {"A": {"file": "x"}}}`,
			`p.json:1:28: secrets.A.file is not a usable path; write an absolute path, or one that starts with ~, ${HOME} or ${WORK_DIR}`},
		{`{"secrets": {"A": {"file": ""}}}`,
			`p.json:1:28: secrets.A.file is empty; give it a value, or leave it out`},
		{`{"env": {"set": {"A": "1"}}, "secrets": {"A": {"fd": 3}}}`,
			`p.json:1:47: secrets.A: the same variable is in env.set; leave one of them out`},
	})
}

// Limits that are no limit.
func TestLimitErrors(t *testing.T) {
	decodeErrors(t, []decodeError{
		{`{"limits": {"processes": 0}}`,
			`p.json:1:26: limits.processes must be at least 1, not 0; leave it out for no limit`},
		{`{"limits": {"processes": -1}}`,
			`p.json:1:26: limits.processes must be at least 1, not -1; leave it out for no limit`},
		{`{"limits": {"processes": -0}}`,
			`p.json:1:26: limits.processes must be at least 1, not 0; leave it out for no limit`},
		{`{"limits": {"processes": 1.5}}`,
			`p.json:1:26: limits.processes must be a whole number, not 1.5; write it without a fraction and an exponent`},
		{`{"limits": {"processes": 1e3}}`,
			`p.json:1:26: limits.processes must be a whole number, not 1e3; write it without a fraction and an exponent`},
		{`{"limits": {"memory_bytes": 9223372036854775808}}`,
			`p.json:1:29: limits.memory_bytes is out of range; the largest value is 9223372036854775807`},
		{`{"limits": {"memory_bytes": -9223372036854775809}}`,
			`p.json:1:29: limits.memory_bytes is out of range; the largest value is 9223372036854775807`},
		{`{"limits": {"memory_bytes": "512MB"}}`,
			`p.json:1:29: limits.memory_bytes must be a whole number, not a string; write it without quotes and units`},
		{`{"limits": {"timeout": 90}}`,
			`p.json:1:24: limits.timeout must be a duration like "90s", not a number; put it in quotes, with a unit`},
		{`{"limits": {"timeout": "90"}}`,
			`p.json:1:24: limits.timeout: "90" is not a duration; give it a unit: "90s" for seconds, "90m" for minutes`},
		{`{"limits": {"timeout": ""}}`,
			`p.json:1:24: limits.timeout: "" is not a duration; write it like "90s", "10m" or "1h30m", at most "2562047h"`},
		{`{"limits": {"timeout": "0s"}}`,
			`p.json:1:24: limits.timeout must be longer than 0, not 0s; leave it out for no limit`},
		{`{"limits": {"timeout": "-5s"}}`,
			`p.json:1:24: limits.timeout must be longer than 0, not -5s; leave it out for no limit`},
		{`{"limits": {"timeout": "1 hour"}}`,
			`p.json:1:24: limits.timeout: "1 hour" is not a duration; write it like "90s", "10m" or "1h30m", at most "2562047h"`},
		{`{"limits": {"timeout": "9999999999h"}}`,
			`p.json:1:24: limits.timeout: "9999999999h" is not a duration; write it like "90s", "10m" or "1h30m", at most "2562047h"`},
		{`{"limits": {"timeout": "999999999999999999999999999999"}}`,
			`p.json:1:24: limits.timeout: "999999999999999999999999999999" is not a duration; give a smaller one, with a unit`},
	})
}

// Items to accept, and which of several errors is reported: the first one.
func TestOtherErrors(t *testing.T) {
	decodeErrors(t, []decodeError{
		{`{"accept": ["files.meta"]}`,
			`p.json:1:13: accept[0]: there is no item "files.meta"; did you mean "files.metadata"?`},
		{`{"accept": ["everything"]}`,
			"p.json:1:13: accept[0]: there is no item \"everything\"; known are files.devices, files.metadata, files.truncate, limits.memory, limits.processes, process.ipc, process.signal, process.trace, process.tree, unix.abstract, unix.pathname"},
		{`{"accept": ["files.metadata", ""]}`,
			`p.json:1:31: accept[1] is empty; give it a value, or leave it out`},
		{"{\n  \"limits\": {\"processes\": -1},\n  \"extends\": \"foo\"\n}",
			`p.json:2:27: limits.processes must be at least 1, not -1; leave it out for no limit`},
		{"{\n  // é\n  /* ü */ \"extends\": \"foo\"}",
			`p.json:3:22: extends: there is no built-in policy "foo"; known are none, system, workspace`},
	})
}
