// SPDX-License-Identifier: Apache-2.0

// Package gitconfig finds the files that Git runs or reads because its
// configuration names them.
//
// In: the text of a configuration file, as git-config(1) describes it. Out: the
// hooks directory, the included files, and the files in commands:
//
//	[core]
//		hooksPath = .githooks       →  /p/.githooks, Hooks
//	[include]
//		path = ../shared.conf       →  /p/.git/../shared.conf, Include
//	[filter "x"]
//		clean = python3 tools/x.py  →  /p/tools/x.py, Program
//
// The package opens no file. Ambit closes these names to its commands, since
// Git uses them later outside of every sandbox.
package gitconfig
