// SPDX-License-Identifier: Apache-2.0

package ambit

// The exit codes that are not the command's own, as timeout(1) and the
// shells use them.
const (
	// ExitTimeout: the time limit ended the command.
	ExitTimeout = 124
	// ExitUnavailable: nothing ran, see the error.
	ExitUnavailable = 125
	// ExitNotExecutable: the file is there and can't be executed.
	ExitNotExecutable = 126
	// ExitNotFound: there is no such file.
	ExitNotFound = 127
)
