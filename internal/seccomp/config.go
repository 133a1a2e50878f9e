// SPDX-License-Identifier: Apache-2.0

package seccomp

import "fmt"

// Verdict is what the filter answers for a call.
type Verdict uint8

// The zero value refuses, so a field that nobody set is the strict one.
const (
	// Refuse fails the call with an errno, without running it.
	Refuse Verdict = iota
	// Notify hands the call to the listener of the filter, the broker. With
	// no listener the kernel answers ENOSYS.
	Notify
	// Allow lets the kernel run the call.
	Allow
)

// String returns "refuse", "notify" or "allow".
func (v Verdict) String() string {
	switch v {
	case Refuse:
		return "refuse"
	case Notify:
		return "notify"
	case Allow:
		return "allow"
	}
	return fmt.Sprintf("Verdict(%d)", uint8(v))
}

// Network says which families of sockets a command may make.
type Network uint8

const (
	// NetworkNone allows unix sockets alone.
	NetworkNone Network = iota
	// NetworkOpen allows also TCP, UDP and unprivileged ICMP over IPv4 and
	// IPv6, and route netlink, by which programs list interfaces. No other
	// family or protocol.
	NetworkOpen
)

// String returns "none" or "open".
func (n Network) String() string {
	switch n {
	case NetworkNone:
		return "none"
	case NetworkOpen:
		return "open"
	}
	return fmt.Sprintf("Network(%d)", uint8(n))
}

// Files says which calls on files go to the broker.
type Files uint8

const (
	// FilesNative: none, Landlock decides over all files.
	FilesNative Files = iota
	// FilesWrites: those that may change something.
	FilesWrites
	// FilesAll: every open too, and executing.
	FilesAll
)

// String returns "native", "writes" or "all".
func (f Files) String() string {
	switch f {
	case FilesNative:
		return "native"
	case FilesWrites:
		return "writes"
	case FilesAll:
		return "all"
	}
	return fmt.Sprintf("Files(%d)", uint8(f))
}

// Refusals says who answers the rare calls that the rules refuse.
type Refusals uint8

const (
	// RefusalsBare: the filter answers the errno, and nobody hears of the call.
	RefusalsBare Refusals = iota
	// RefusalsTrapped: the filter traps the calls of the rules that have a
	// name. The broker answers the same errno ([Refused]), and can record it.
	RefusalsTrapped
)

// String returns "bare" or "trapped".
func (r Refusals) String() string {
	switch r {
	case RefusalsBare:
		return "bare"
	case RefusalsTrapped:
		return "trapped"
	}
	return fmt.Sprintf("Refusals(%d)", uint8(r))
}

// Config says what depends on the policy and on the host. Everything else is
// the same for every command (see [Rules]). The zero value is the strictest.
type Config struct {
	// Network says which sockets can be made. Default: NetworkNone.
	Network Network

	// Metadata decides the calls that change a file's mode, owner, times,
	// extended attributes or flags, which Landlock does not cover: Notify
	// where a broker answers them, Refuse (EPERM) where there is none, Allow
	// where the policy accepts that they work on every file of the caller's.
	// Under Notify, file flags (ioctl) are refused with EPERM, since a filter
	// cannot hand a descriptor's ioctl on, and the newest calls, whose
	// arguments are a structure in memory, answer ENOSYS: callers fall back
	// on the older ones.
	Metadata Verdict

	// UnixConnect decides connect(2), whose address a filter cannot read. It
	// concerns connects of every family. Allow is right where Landlock
	// resolves unix sockets (ABI 9); Notify hands each to the broker; Refuse
	// answers EACCES.
	UnixConnect Verdict

	// UnixDatagram decides making unix datagram sockets, which send to any
	// path without connecting first: Refuse (EACCES) or Allow. Allow is right
	// where Landlock resolves unix sockets (ABI 9).
	UnixDatagram Verdict

	// PathTruncate decides truncation by name with no writable descriptor:
	// truncate(2), and O_TRUNC together with O_RDONLY. Allow is right where
	// Landlock has the TRUNCATE right (ABI 3); Notify hands truncate to the
	// broker and refuses such opens; Refuse answers EACCES to both. Under
	// Notify and Refuse, openat2 answers ENOSYS, since its flags are in memory.
	PathTruncate Verdict

	// SharedIPC decides System V shared memory, semaphores and message
	// queues, and POSIX message queues, which reach processes outside the
	// sandbox by a number or a name that no path rule covers: Refuse (EACCES)
	// or Allow.
	SharedIPC Verdict

	// Files hands calls on files to the broker, where the plan has places
	// with less than the folder around them. Landlock still restricts what
	// the broker lets the kernel decide; what PathTruncate hands on or refuses
	// stays as it says there. Default: FilesNative.
	Files Files

	// Reads decides the calls that read of a file what Landlock does not
	// cover: extended attributes, and watching with inotify, which tells the
	// names in a folder. Notify where a broker answers them, Allow where they
	// may work on every file. Refuse answers ENOTSUP for attributes, as a
	// file system without them does, and EACCES for watches. Under Notify and
	// Refuse, the newest calls, whose arguments are a structure in memory,
	// answer ENOSYS: callers fall back on the older ones.
	Reads Verdict

	// Signals decides the calls that send signals, and what has the kernel
	// send one for a descriptor's owner. Allow is right where Landlock scopes
	// signals (ABI 6); Notify hands the calls to the broker; Refuse answers
	// EPERM. Under both, asynchronous input and output (O_ASYNC) is refused
	// with EPERM, since a filter can't see whose signal it is.
	Signals Verdict

	// Landlock decides landlock_restrict_self(2), by which a program confines
	// itself further: Allow where the kernel alone decides over files and
	// connections; Notify where a broker makes such calls, which must know
	// whose it may not make; Refuse answers EOPNOTSUPP, as a kernel that was
	// booted without Landlock does.
	Landlock Verdict

	// Refusals says whether the broker hears of refused calls. Default:
	// RefusalsBare.
	Refusals Refusals
}

// ConfigError says which field of a Config has a value that it cannot have.
type ConfigError struct {
	// Field is the name of the field, Value what it holds.
	Field, Value string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("cannot build a system call filter: %s cannot be %s", e.Field, e.Value)
}

// check finds a field whose value has no meaning. A filter cannot hand such a
// call to the broker, and must not guess.
func (c Config) check() error {
	if c.Network > NetworkOpen {
		return &ConfigError{"Network", c.Network.String()}
	}
	if c.Refusals > RefusalsTrapped {
		return &ConfigError{"Refusals", c.Refusals.String()}
	}
	if c.Files > FilesAll {
		return &ConfigError{"Files", c.Files.String()}
	}
	for _, f := range [...]struct {
		name string
		has  Verdict
	}{{"Metadata", c.Metadata}, {"UnixConnect", c.UnixConnect}, {"Reads", c.Reads}, {"Signals", c.Signals}, {"Landlock", c.Landlock}, {"PathTruncate", c.PathTruncate}} {
		if f.has > Allow {
			return &ConfigError{f.name, f.has.String()}
		}
	}
	for _, f := range [...]struct {
		name string
		has  Verdict
	}{{"UnixDatagram", c.UnixDatagram}, {"SharedIPC", c.SharedIPC}} {
		if f.has != Refuse && f.has != Allow {
			return &ConfigError{f.name, f.has.String()}
		}
	}
	return nil
}
