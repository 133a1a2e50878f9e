// SPDX-License-Identifier: Apache-2.0

package broker

import "github.com/ambit-sandbox/ambit/internal/plan"

// facts are what a decision rests on. All are of a pinned object, at the
// moment of asking.
type facts struct {
	// name is the canonical name, of a removed object its last one.
	name  string
	place place
	// writable: the caller holds a descriptor that it could open for
	// writing, so it may change the object's data already.
	writable bool
	// device: a character or block device.
	device bool
}

// place is where an object is.
type place uint8

const (
	// nowhere: at no place that the tree could speak of, and not the
	// command's own either. The zero value refuses.
	nowhere place = iota
	// named: in a folder, under facts.name.
	named
	// removed: it had a name and has lost it, or never had one but belongs
	// to a folder (O_TMPFILE).
	removed
	// unnamed: a pipe, a socket, a memory file.
	unnamed
)

// places finds the node that decides over a canonical path, or nil.
type places interface{ Find(path string) *plan.Node }

// mayChange decides whether data and metadata of an object may change, and
// returns the node of the tree that said so, or nil.
//
//   - Its place is writable: yes. For a removed object that is its last one.
//   - It is open for writing: yes, the tree was asked when it was opened. That
//     holds for what the caller passed on as stdin, stdout and stderr, too:
//     whoever gave the command a file to write to gave it that file.
//   - It is a device: a descriptor, or a built-in grant, gives its data only.
//     The mode of /dev/null, or of the caller's terminal, concerns others.
func mayChange(tree places, f facts) (bool, *plan.Node) {
	switch f.place {
	case unnamed:
		return true, nil
	case nowhere:
		return false, nil
	}
	n := tree.Find(f.name)
	granted := n != nil && n.Mode == plan.Write
	if f.device {
		return granted && !n.Rule.Builtin, n
	}
	return granted || f.writable, n
}
