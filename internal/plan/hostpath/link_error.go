// SPDX-License-Identifier: Apache-2.0

package hostpath

// LinkError is a name that leads through a symbolic link which a sandboxed
// command could have made.
type LinkError struct{ Name, Link string }

func (e *LinkError) Error() string {
	return "cannot use " + e.Name + ": it leads through the symbolic link " + e.Link +
		", which a sandboxed command could have made or changed; name what it leads to itself, or put the file where no command can write"
}

// PlaceError is the name of a file of Ambit's own that lies where sandboxed
// commands could write.
type PlaceError struct{ Name, Place string }

func (e *PlaceError) Error() string {
	return "cannot use " + e.Name + ": commands of earlier runs could write in " + e.Place +
		", so one could have changed it; review it and keep it where none can write, such as ~/.config/ambit"
}
