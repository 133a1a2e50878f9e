// SPDX-License-Identifier: Apache-2.0

// Package supervisor is the process that the service has for each run, and
// the protocol between the two.
//
//	service                                supervisor (ambit supervise)
//	   | -- exec, descriptor 3 ------------> | starts its launcher
//	   | <- ready: versions, launcher ------ | waits
//	   | -- run: request, three streams ---> | plans
//	   | <- starting ----------------------- | nothing has run before this
//	   | <- started ------------------------ | the command was executed
//	   | -- signal n, cancel --------------> |
//	   | <- done: outcome, receipt --------- | exit
//
// Messages are frames of four bytes of length and JSON on a unix socket. The
// end of the connection is one too: for the supervisor it means "cancel", for
// the service that the run is lost if it was not done. The request travels in
// a sealed memory file, since it holds the values of secrets: they are in no
// command line, no environment but the command's, and in no socket's buffer.
package supervisor

import (
	"runtime"
	"runtime/debug"
)

// Arg is the argument that makes the binary a supervisor.
const Arg = "supervise"

// Protocol is the version of the messages; both sides must have the same.
const Protocol = 1

// Build identifies a build as far as the tool chain recorded it.
func Build() string {
	b := runtime.Version() + " devel"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b = runtime.Version() + " " + v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			b += " " + s.Value
		}
	}
	return b
}
