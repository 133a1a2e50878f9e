// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"github.com/ambit-sandbox/ambit/policy"
)

// Object is what a listed path turned out to be on the host.
type Object struct {
	// Path is the canonical name. Of a path that does not exist it is the
	// canonical name of the longest part that does, and the rest.
	Path string
	// Links are the symbolic links that the name led through.
	Links []Link
	// Exists is false for a name that nothing stands under yet.
	Exists bool
	// Dir says that it is a folder; what is neither folder nor regular file
	// (a device, a socket, a FIFO) has Special set.
	Dir, Special bool
	// Device says that it is a device.
	Device bool
	// Linked says that it is a regular file with other names, Names how many
	// it has. Names is 0 for what is no regular file.
	Linked bool
	Names  int
	// Foreign says that it belongs to another user.
	Foreign bool
	// Executable says that it is a regular file with an execute bit. Only what
	// was found by listing a folder has it.
	Executable bool
	// Dev and Ino identify the inode, so that a later look at the same name
	// can tell whether it is still the same object.
	Dev, Ino uint64
}

// Link is a symbolic link on the way from a name to an object.
type Link struct {
	// Path is its canonical name.
	Path string
	// Doubtful: a sandboxed command of an earlier run could have made it.
	Doubtful bool
}

// Resolver names file objects canonically. It answers from the host, or in
// tests from a table.
type Resolver interface {
	// Resolve follows symbolic links and returns what stands at path. A
	// missing object is an answer, not an error; an error means that the
	// host would not say (no search permission, a loop of links).
	Resolve(path string) (Object, error)
	// Find is Resolve for a path that matters only if something stands
	// there: of a missing one it need not learn the canonical name.
	Find(path string) (Object, error)
	// Inside lists a directory: directories, files and special files, but no
	// symbolic links. Regular files whose names wanted, unless it is nil,
	// does not ask for may be left out. Of a directory that this user can
	// neither list nor search, or that is gone, it lists nothing.
	Inside(dir Object, wanted func(name string) bool) ([]Object, error)
}

// Listed is the fate of one listed path.
type Listed struct {
	policy.PathRule
	// Canonical is the name under which the rule is enforced.
	Canonical string
	// Status says what became of it.
	Status Status
	// Err says why, where Status is Unreadable or Untrusted.
	Err error
}

// Status is the fate of a listed path.
type Status string

const (
	// Enforced: the path exists and its rule is in the tree.
	Enforced Status = "enforced"
	// Missing: nothing stands there. A block still holds for the name; a
	// grant has nothing to be attached to.
	Missing Status = "missing"
	// Creatable: nothing stands there, and the command may make what does.
	Creatable Status = "creatable"
	// Unreadable: the host would not say what stands there.
	Unreadable Status = "unreadable"
	// Narrowed: a built-in path of which the bound allows less.
	Narrowed Status = "narrowed"
	// Untrusted: a built-in grant that leads through a symbolic link which a
	// sandboxed command could have made. It is not granted.
	Untrusted Status = "untrusted"
)

// PathError is a listed path that stops the plan: a block that can't be
// placed, or any trouble in strict mode.
type PathError struct {
	Rule   policy.PathRule
	Reason string
	Err    error
}

func (e *PathError) Error() string {
	s := fmt.Sprintf("cannot use %s path %q from %s: %s", e.Rule.Kind, e.Rule.Path, e.Rule.Origin, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *PathError) Unwrap() error { return e.Err }
