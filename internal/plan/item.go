// SPDX-License-Identifier: Apache-2.0

package plan

// Item is one thing that a plan asks of the backend. Its name is stable: it
// stands in receipts, and in a policy's accept list.
type Item string

// The contract's items, in the order in which reports list them.
const (
	// FilesRead: only granted paths can be read, listed or executed.
	FilesRead Item = "files.read"
	// FilesWrite: only write paths can be created, changed or removed.
	FilesWrite Item = "files.write"
	// FilesTruncate: a file can't be cut short without a write grant.
	FilesTruncate Item = "files.truncate"
	// FilesMetadata: mode, owner, times, attributes and ACLs likewise.
	FilesMetadata Item = "files.metadata"
	// FilesDevices: device nodes take no ioctl without a write grant.
	FilesDevices Item = "files.devices"
	// FilesNested: a place inside a granted one has less than it. One item
	// for each such place, with the place's path as Subject, and for each
	// pattern.
	FilesNested Item = "files.nested"
	// NetworkSockets: the network is as the plan says.
	NetworkSockets Item = "network.sockets"
	// UnixPathname: connecting to a socket file needs write on its path.
	UnixPathname Item = "unix.pathname"
	// UnixAbstract: abstract sockets outside the sandbox are out of reach.
	UnixAbstract Item = "unix.abstract"
	// ProcessSignal: no signal reaches a process outside.
	ProcessSignal Item = "process.signal"
	// ProcessTrace: no process outside is traced, or read through /proc.
	ProcessTrace Item = "process.trace"
	// ProcessIPC: no System V or POSIX queue, semaphore or memory is shared.
	ProcessIPC Item = "process.ipc"
	// ProcessTree: when the command ends, its whole tree ends.
	ProcessTree Item = "process.tree"
	// Privileges: no capability, and none to be gained by exec.
	Privileges Item = "privileges"
	// Syscalls: the kernel's dangerous calls are closed.
	Syscalls Item = "syscalls"
	// Descriptors: only stdin, stdout and stderr are inherited.
	Descriptors Item = "descriptors"
	// Environment: only the variables that the policy names.
	Environment Item = "environment"

	LimitTimeout   Item = "limits.timeout"
	LimitOutput    Item = "limits.output"
	LimitMemory    Item = "limits.memory"
	LimitProcesses Item = "limits.processes"
	LimitOpenFiles Item = "limits.open_files"
	LimitCPU       Item = "limits.cpu"
	LimitFileSize  Item = "limits.file_size"
)

// Ask is an item and, where there may be several of it, what it is about.
type Ask struct {
	Item    Item   `json:"item"`
	Subject string `json:"subject,omitempty"`
}

// Asks lists everything that the plan asks, in report order.
func (p *Plan) Asks() []Ask {
	asks := []Ask{}
	for _, i := range []Item{FilesRead, FilesWrite, FilesTruncate, FilesMetadata, FilesDevices} {
		asks = append(asks, Ask{Item: i})
	}
	for _, n := range p.Tree.Exceptions() {
		asks = append(asks, Ask{FilesNested, n.Path})
	}
	for _, p := range p.Tree.Patterns() {
		asks = append(asks, Ask{FilesNested, p.Path})
	}
	for _, i := range []Item{
		NetworkSockets, UnixPathname, UnixAbstract, ProcessSignal, ProcessTrace,
		ProcessIPC, ProcessTree, Privileges, Syscalls, Descriptors, Environment,
	} {
		asks = append(asks, Ask{Item: i})
	}
	return append(asks, p.limitAsks()...)
}

func (p *Plan) limitAsks() []Ask {
	var asks []Ask
	add := func(i Item, isSet bool) {
		if isSet {
			asks = append(asks, Ask{Item: i})
		}
	}
	l := p.Limits
	add(LimitTimeout, l.Timeout != nil)
	add(LimitOutput, l.OutputBytes != nil)
	add(LimitMemory, l.MemoryBytes != nil)
	add(LimitProcesses, l.Processes != nil)
	add(LimitOpenFiles, l.OpenFiles != nil)
	add(LimitCPU, l.CPUSeconds != nil)
	add(LimitFileSize, l.FileSizeBytes != nil)
	return asks
}
