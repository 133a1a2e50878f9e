// SPDX-License-Identifier: Apache-2.0

// Package stock keeps inodes in store that have a Landlock rule already.
//
// A rule sticks to an inode, and none can be added to a command that is
// restricted. So what a command makes later, in a folder that can't have a
// rule itself, has none either. But an inode that was made before, and given
// a rule, keeps it wherever it is put: the broker moves one out of the stock
// to where the command makes something.
//
// The stock lies outside of everything that the command is granted, under a
// name that nobody can guess: its rules hold there too. When nothing of the
// command is left, what was not used is left to the next run. A stock that
// can't be made is none: the command is then served without, which is slower,
// and never wrong.
package stock
