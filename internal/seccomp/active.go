// SPDX-License-Identifier: Apache-2.0

package seccomp

// active lists the groups of rules that a Config puts in force, in the order
// in which the rules of one call are tried.
func active(c Config) [18][]rule {
	return [...][]rule{
		kernelRules,
		terminalRules,
		mountRules,
		namespaceRules,
		processRules,
		datagramRules(c.UnixDatagram), // before those that allow unix sockets
		networkRules(c.Network),
		connectRules(c.UnixConnect),
		metadataRules(c.Metadata),
		fileFlagRules(c.Metadata),
		readRules(c.Reads),
		landlockRules(c.Landlock),
		truncateRules(c.PathTruncate),
		filesRules(c.Files), // after what is refused to everybody
		signalRules(c.Signals),
		ownerRules,
		ipcRules(c.SharedIPC),
		allowedRules,
	}
}

// hot lists the calls that programs make most, with a weight for the shape of
// the search. Calls whose arguments are looked at weigh most: the filter runs
// for them on every kernel, while since Linux 5.11 it is skipped for those that
// are always allowed.
var hot = [...]struct {
	call   call
	weight uint16
}{
	{callIoctl, 64}, {callOpenat, 64}, {callClone, 32}, {callPrlimit64, 8}, {callSocket, 16}, {callConnect, 16},
	{callRead, 32}, {callWrite, 32}, {callClose, 24}, {callFutex, 32}, {callMmap, 24}, {callMunmap, 12},
	{callNewfstatat, 24}, {callFstat, 16}, {callStat, 16}, {callLstat, 16}, {callStatx, 8}, {callOpen, 8},
	{callLseek, 12}, {callPread64, 12}, {callPwrite64, 12}, {callReadv, 4}, {callWritev, 8},
	{callPoll, 8}, {callPpoll, 8}, {callEpollWait, 8}, {callEpollPwait, 24}, {callEpollCtl, 4},
	{callSendto, 8}, {callRecvfrom, 8}, {callSendmsg, 8}, {callRecvmsg, 8},
	{callRtSigaction, 8}, {callRtSigprocmask, 12}, {callRtSigreturn, 4}, {callTgkill, 4}, {callGetpid, 4},
	{callMprotect, 12}, {callMadvise, 8}, {callBrk, 4}, {callFcntl, 12}, {callGetdents64, 8},
	{callAccess, 8}, {callFaccessat, 4}, {callFaccessat2, 4}, {callReadlink, 8}, {callReadlinkat, 4},
	{callSchedYield, 8}, {callNanosleep, 4}, {callClockNanosleep, 4}, {callExecve, 4}, {callWait4, 4},
}
