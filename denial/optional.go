// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"path"
	"strings"
)

// optional is something that programs like to write and do without.
type optional struct {
	// Names are base names.
	Names []string
	// Within are successive components of a path; what stands there or below
	// is optional.
	Within string
	// Suffix is an ending of the base name.
	Suffix string
	// By are the programs that it concerns; empty is all. Where it is set, a
	// directory on the way to Within is optional too: the program makes that
	// first.
	By []string
}

// optionals are the well-known ones: a refusal of one of these alone is never
// taken for what made a command fail. What some command can't do without is
// not among them, as Git's index.lock or Go's build cache.
var optionals = []optional{
	// Histories of shells and of interpreters, written at the end: bash(1),
	// HISTFILE; less(1), LESSHISTFILE; Python's module site, "Readline
	// configuration"; Node's REPL, "Persistent history"; psql(1), mysql(1).
	{Names: []string{
		".bash_history", ".zsh_history", ".sh_history", ".python_history", ".node_repl_history", ".irb_history",
		".lesshst", "lesshst", ".psql_history", ".mysql_history", ".sqlite_history",
	}},
	{Names: []string{".viminfo", ".viminfo.tmp"}},        // Vim's starting.txt, "viminfo"
	{Names: []string{".wget-hsts"}},                      // GNU Wget's manual, --hsts-file
	{Names: []string{"gc.pid", "gc.log", "gc.log.lock"}}, // git-gc(1), of the automatic one
	// Python goes on if it can't write what it compiled: _cache_bytecode in
	// importlib/_bootstrap_external.py.
	{Within: "__pycache__"},
	{Suffix: ".pyc"},
	// Node's module.enableCompileCache: it never throws for the cache.
	{Within: "node-compile-cache"},
	// npm's logs: it warns that they were not written (npm-logging).
	{Within: ".npm/_logs"},
	// A cache by definition (XDG Base Directory Specification).
	{Within: ".cache"},
	// Counters of golang.org/x/telemetry: "go help telemetry".
	{Within: ".config/go/telemetry", By: []string{"go", "compile", "link", "asm", "vet", "cgo", "gopls", "covdata", "cover"}},
	// Cargo asks for it at each step, and goes on without; it needs it to
	// fetch a dependency, for which the network must be open too.
	{Within: ".cargo/registry", By: []string{"cargo"}},
	{Within: ".cargo/.package-cache", By: []string{"cargo"}},
	{Within: ".cargo/.global-cache", By: []string{"cargo"}},
}

// required stand within what is optional otherwise: "go build" fails without
// its cache (go help cache).
const required = ".cache/go-build"

// isOptional reports whether a denial concerns nothing that programs need.
func isOptional(d *Denial) bool {
	if within(d.Object, required) {
		return false
	}
	if d.Network == NetworkListed {
		return true // libraries ask for the host's addresses, and go on without
	}
	for i := range optionals {
		if optionals[i].has(d) {
			return true
		}
	}
	return false
}

func (o *optional) has(d *Denial) bool {
	base := path.Base(d.Object)
	for _, name := range o.Names {
		if base == name {
			return true
		}
	}
	if o.Suffix != "" && (strings.HasSuffix(base, o.Suffix) || strings.Contains(base, o.Suffix+".")) {
		return true // Python's own temporary name is NAME.pyc.NUMBER
	}
	switch {
	case o.Within == "":
		return false
	case len(o.By) == 0:
		return within(d.Object, o.Within)
	}
	return o.by(d.Program) && (within(d.Object, o.Within) || leads(d.Object, o.Within))
}

func (o *optional) by(program string) bool {
	for _, name := range o.By {
		if name == program {
			return true
		}
	}
	return false
}

// within reports whether the components stand in a path, one after the other.
func within(name, components string) bool {
	return strings.Contains(name+"/", "/"+components+"/")
}

// leads reports whether a path ends with the first of the components.
func leads(name, components string) bool {
	for up := path.Dir(components); up != "."; up = path.Dir(up) {
		if strings.HasSuffix(name, "/"+up) {
			return true
		}
	}
	return false
}
