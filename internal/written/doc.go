// SPDX-License-Identifier: Apache-2.0

// Package written keeps the record of the places that sandboxed commands of
// this user could write.
//
// In: the write grants of a run, before its command starts. Out: whether a
// symbolic link, or a file, could be the work of a command of an earlier run.
// Ambit looks some names up outside of every sandbox (a grant's path, a file
// with a secret, the receipt). A command that can write where such a name
// leads through could otherwise choose what it means to the next run.
//
//	run 1, write /p:   rmdir /p/build; ln -s /home/u /p/build
//	run 2, write /p/build:   the link lies in /p, which is on record
//
// The record is one file in the user's directory for state, which commands
// can't write. It only grows, except for places that exist no more.
package written
