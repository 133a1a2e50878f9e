// SPDX-License-Identifier: Apache-2.0

package probe

import "strings"

// The masks below are the numbers of linux/landlock.h, spelled out so that
// plans and coverage can be computed and tested on any operating system.
// TestMasksAgreeWithKernel holds them against the running kernel.

// FS is a set of Landlock filesystem rights (LANDLOCK_ACCESS_FS_*).
type FS uint64

const (
	FSExecute FS = 1 << iota
	FSWriteFile
	FSReadFile
	FSReadDir
	FSRemoveDir
	FSRemoveFile
	FSMakeChar
	FSMakeDir
	FSMakeReg
	FSMakeSock
	FSMakeFifo
	FSMakeBlock
	FSMakeSym
	FSRefer       // rename and link between directories
	FSTruncate    // truncate, ftruncate, O_TRUNC
	FSIoctlDev    // ioctl on devices opened from now on
	FSResolveUnix // connect or send to a pathname socket
)

// FSFile are the rights that a rule on anything but a directory may name; the
// kernel refuses others there with EINVAL (ACCESS_FILE in
// security/landlock/fs.c).
const FSFile = FSExecute | FSWriteFile | FSReadFile | FSTruncate | FSIoctlDev | FSResolveUnix

// Net is a set of Landlock network rights (LANDLOCK_ACCESS_NET_*). They look
// at the port alone, never at the address.
type Net uint64

const (
	NetBindTCP Net = 1 << iota
	NetConnectTCP
	NetBindUDP
	NetConnectSendUDP
)

// Scope is a set of Landlock scopes (LANDLOCK_SCOPE_*): what the domain
// cannot reach outside itself, without exceptions by rule.
type Scope uint64

const (
	ScopeAbstractUnix Scope = 1 << iota
	ScopeSignal
)

// Restrict is a set of landlock_restrict_self(2) flags.
type Restrict uint32

const (
	RestrictLogSameExecOff Restrict = 1 << iota // no audit records until the next execve
	RestrictLogNewExecOn                        // audit records after execve too
	RestrictLogSubdomainsOff
	RestrictTSync // all threads of the process
	RestrictNoNewPrivs
)

// AddRule is a set of landlock_add_rule(2) flags.
type AddRule uint32

// AddRuleQuiet keeps denials on the rule's object out of the audit log.
const AddRuleQuiet AddRule = 1

// The names of the bits, in bit order, as the header spells them in lower
// case.
var (
	fsNames = []string{
		"execute", "write_file", "read_file", "read_dir", "remove_dir", "remove_file",
		"make_char", "make_dir", "make_reg", "make_sock", "make_fifo", "make_block",
		"make_sym", "refer", "truncate", "ioctl_dev", "resolve_unix",
	}
	netNames      = []string{"bind_tcp", "connect_tcp", "bind_udp", "connect_send_udp"}
	scopeNames    = []string{"abstract_unix_socket", "signal"}
	restrictNames = []string{"log_same_exec_off", "log_new_exec_on", "log_subdomains_off", "tsync", "no_new_privs"}
	addRuleNames  = []string{"quiet"}
)

// String lists the rights, separated by commas; "none" for an empty set.
func (m FS) String() string { return bitNames(uint64(m), fsNames) }

// String lists the rights, separated by commas; "none" for an empty set.
func (m Net) String() string { return bitNames(uint64(m), netNames) }

// String lists the scopes, separated by commas; "none" for an empty set.
func (m Scope) String() string { return bitNames(uint64(m), scopeNames) }

// String lists the flags, separated by commas; "none" for an empty set.
func (m Restrict) String() string { return bitNames(uint64(m), restrictNames) }

// String lists the flags, separated by commas; "none" for an empty set.
func (m AddRule) String() string { return bitNames(uint64(m), addRuleNames) }

// bitNames names each set bit; one beyond the names is "unknown", so that it
// can't go unseen.
func bitNames(mask uint64, names []string) string {
	var set []string
	for i := 0; i < 64 && mask>>i != 0; i++ {
		switch {
		case mask>>i&1 == 0:
		case i < len(names):
			set = append(set, names[i])
		default:
			set = append(set, "unknown")
		}
	}
	if len(set) == 0 {
		return "none"
	}
	return strings.Join(set, ",")
}
