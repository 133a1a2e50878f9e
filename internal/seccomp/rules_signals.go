// SPDX-License-Identifier: Apache-2.0

package seccomp

// signalCalls send signals.
var signalCalls = []call{callKill, callTkill, callTgkill, callRtSigqueueinfo, callRtTgsigqueueinfo, callPidfdSendSignal}

const (
	signalReason = "a filter cannot tell whose process a number is, and Landlock scopes signals from ABI 6 only"
	signalSource = "Documentation/userspace-api/landlock.rst, \"Signal (ABI < 6)\""
	asyncReason  = "has the kernel send a signal, of any number, to whoever is named or to the terminal's foreground, which Landlock scopes from ABI 6 only"
)

// signalRules are those of a verdict for signals.
func signalRules(v Verdict) []rule {
	switch v {
	case Allow:
		return signalAllow
	case Notify:
		return signalNotify
	}
	return signalRefuse
}

var (
	signalAllow = []rule{{
		calls: signalCalls, then: Allow,
		reason: "a filter cannot tell whose process a number is; Landlock scopes signals from ABI 6", source: signalSource,
	}}
	signalNotify = append([]rule{{calls: signalCalls, then: Notify, reason: signalReason, source: signalSource}}, asyncRules...)
	signalRefuse = append([]rule{{calls: signalCalls, errno: EPERM, reason: signalReason, source: "kill(2): EPERM; " + signalSource}}, asyncRules...)
)

// asyncRules close the signals that the kernel sends for a descriptor's owner.
// A terminal's owner, where none was named, is its foreground process group.
var asyncRules = []rule{
	{
		calls: []call{callFcntl}, when: "F_SETOWN with a process",
		checks: []check{{word: arg1, values: []uint32{8}}, {word: arg2, op: notIn, values: []uint32{0}}},
		errno:  EPERM, reason: asyncReason, source: "fcntl(2), F_SETOWN",
	},
	{
		calls: []call{callFcntl}, when: "F_SETSIG",
		checks: []check{{word: arg1, values: []uint32{10}}},
		errno:  EPERM, reason: asyncReason, source: "fcntl(2), F_SETSIG",
	},
	{
		calls: []call{callFcntl}, when: "F_SETFL with O_ASYNC",
		checks: []check{{word: arg1, values: []uint32{4}}, {word: arg2, mask: 0x2000, op: anyBit}},
		errno:  EPERM, reason: asyncReason, source: "fcntl(2), F_SETFL; __tty_fasync, drivers/tty/tty_io.c",
	},
	{
		calls: []call{callIoctl}, when: "FIOASYNC",
		checks: []check{{word: arg1, values: []uint32{0x5452}}},
		errno:  EPERM, reason: asyncReason, source: "ioctl(2), FIOASYNC; __tty_fasync, drivers/tty/tty_io.c",
	},
}
