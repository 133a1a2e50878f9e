// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"fmt"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// target is an object as the caller names it.
type target struct {
	// dir is the folder that a relative name starts from, or sys.AtCWD; or
	// the object itself.
	dir  int32
	name string
	how  naming
	// asks is what the call needs of the folder that the name stands in and of
	// all in it, so that a glance at the folder may settle it. The default,
	// none, has everything looked at.
	asks plan.Mode
}

// naming says how a target is to be understood.
type naming uint8

const (
	// noFollow: a symbolic link that the name ends in is meant itself.
	noFollow naming = 1 << iota
	// emptyIsDir: an empty name means dir itself (AT_EMPTY_PATH).
	emptyIsDir
	// makes: a name that ends in a slash is not followed, since it can't be made
	// (EISDIR for O_CREAT, open_last_lookups in fs/namei.c).
	makes
	// descriptor: there is no name; dir is the object, opened for more than
	// naming it (fchmod and its like take no O_PATH descriptor).
	descriptor
	// bareName: the call is about the name itself, whatever stands there: it
	// makes, removes or replaces it.
	bareName
)

// Flags of the *at calls (linux/fcntl.h).
const (
	atSymlinkNoFollow = 0x100
	atEmptyPath       = 0x1000
)

// String is the object as the caller wrote it.
func (on target) String() string {
	switch {
	case on.how&descriptor != 0, on.name == "" && on.dir != sys.AtCWD:
		return fmt.Sprintf("fd %d", on.dir)
	case on.name == "":
		return "."
	case on.name[0] == '/' || on.dir == sys.AtCWD:
		return on.name
	}
	return fmt.Sprintf("fd %d/%s", on.dir, on.name)
}

// path is a target named by a path argument, from the folder dir.
func (t *task) path(dir int32, arg int, how naming) (target, syscall.Errno) {
	name, errno := t.copyPath(t.args[arg])
	switch {
	case errno != 0:
		return target{}, errno
	case name == "" && how&emptyIsDir == 0:
		return target{}, syscall.ENOENT
	}
	return target{dir: dir, name: name, how: how}, 0
}

// fd is a target named by a descriptor argument.
func (t *task) fd(arg int) target { return target{dir: t.reg(arg), how: descriptor} }

// atFlags translates the flags of an *at call. EINVAL: there are others.
func atFlags(flags int32) (naming, syscall.Errno) {
	var how naming
	if flags&^(atSymlinkNoFollow|atEmptyPath) != 0 {
		return 0, syscall.EINVAL
	}
	if flags&atSymlinkNoFollow != 0 {
		how |= noFollow
	}
	if flags&atEmptyPath != 0 {
		how |= emptyIsDir
	}
	return how, 0
}
