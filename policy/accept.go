// SPDX-License-Identifier: Apache-2.0

package policy

// AcceptItem is a coverage item that a policy may accept as not enforced.
type AcceptItem struct {
	// Name is what [Policy.Accept] lists.
	Name string
	// Doc says, in one sentence, what the command can do where the item is
	// not enforced.
	Doc string
}

// AcceptItems are the items that [Policy.Accept] may name, sorted by name.
// Everything else that a host cannot enforce stops the run.
var AcceptItems = []AcceptItem{
	{"files.devices", "Devices that are granted for reading can be configured (ioctl)."},
	{"files.metadata", "Modes, owners, times, extended attributes and file attributes can be changed on files outside the writable paths."},
	{"files.truncate", "Files outside the writable paths can be cut to another length, although not written."},
	{"limits.memory", "The memory limit is not applied, or only to each process on its own."},
	{"limits.processes", "The limit of processes and threads is not applied, or also counts the user's other processes."},
	{"process.ipc", "System V shared memory, semaphores and message queues outside the sandbox can be used."},
	{"process.signal", "Processes of the same user outside the sandbox can be sent signals."},
	{"process.trace", "Processes of the same user outside the sandbox can be traced, and their memory and environment read."},
	{"process.tree", "Processes that detach themselves from the command may outlive it."},
	{"unix.abstract", "Abstract unix sockets outside the sandbox can be connected to."},
	{"unix.pathname", "Unix sockets outside the writable paths can be connected to."},
}

// acceptNames lists the names alone.
func acceptNames() []string {
	names := make([]string, len(AcceptItems))
	for i, item := range AcceptItems {
		names[i] = item.Name
	}
	return names
}
