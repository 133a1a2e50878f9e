// SPDX-License-Identifier: Apache-2.0

package gitconfig

import "strings"

// Name is a name of a file or directory that Git uses.
type Name struct {
	// Path is absolute, and may hold "..".
	Path string
	Kind Kind
}

// Kind says what Git does with what stands under a name.
type Kind int

const (
	// Hooks is a directory in which Git looks for hooks.
	Hooks Kind = iota
	// Include is a configuration file that Git reads too.
	Include
	// Program is a file that a command names as what is executed.
	Program
	// Argument is a word of a command that may be the name of a script: the
	// shell or an interpreter would run it. It counts if a regular file stands
	// there.
	Argument
)

// Base says what relative names begin with.
type Base struct {
	// File is the directory of the configuration file.
	File string
	// Top is the top of the working tree, where Git runs hooks and commands
	// (git-config(1), core.hooksPath; githooks(5)).
	Top string
	// Home is what "~" stands for, or empty.
	Home string
}

// Names returns the names in a file's entries. The conditions of includeIf are
// taken for true.
func Names(entries []Entry, b Base) []Name {
	var names []Name
	for _, e := range entries {
		key := e.Key()
		switch {
		case key == "core.hookspath":
			names = b.path(names, Hooks, b.Top, e.Value)
		case key == "include.path" || key == "includeif.path":
			names = b.path(names, Include, b.File, e.Value)
		case runs(key, e.Value):
			names = b.command(names, e.Value)
		}
	}
	return names
}

// path adds the value of a variable of the type "pathname" (git-config(1)). Of
// other users' homes and Git's own prefix nothing is known.
func (b Base) path(names []Name, kind Kind, relative, value string) []Name {
	value = strings.TrimPrefix(value, ":(optional)")
	rest, inHome := strings.CutPrefix(value, "~")
	switch {
	case value == "" || strings.HasPrefix(value, "%(prefix)/"):
		return names
	case strings.HasPrefix(value, "/"):
		return append(names, Name{value, kind})
	case inHome && rest != "" && rest[0] != '/', inHome && b.Home == "":
		return names
	case inHome:
		return append(names, Name{b.Home + rest, kind})
	}
	return append(names, Name{relative + "/" + value, kind})
}
