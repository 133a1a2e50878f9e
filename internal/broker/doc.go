// SPDX-License-Identifier: Apache-2.0

// Package broker serves the system calls of a sandboxed command that its
// kernel restrictions can't decide. A seccomp filter hands them over, with
// the caller stopped, and every one goes three ways:
//
//	resolve   the arguments are copied once, and what they name is pinned:
//	          an O_PATH descriptor, or a duplicate of the caller's own;
//	decide    the pinned object's canonical name is looked up in the plan's
//	          path tree;
//	perform   the broker makes the call itself, on the pinned descriptor.
//
// The caller's memory and the path are never looked at twice, and no call that
// Landlock does not cover is given back to the kernel to run ("continue"): a
// second thread of the caller could change both in between (seccomp_unotify(2),
// "NOTES").
//
// The broker does on the caller's behalf only what the caller could do
// itself: its threads hold no capabilities, so they have the same rights as
// the command, whose user and groups can't change either.
//
// One file holds one family of calls; the tables are in calls_linux.go and
// filecalls_linux.go.
//
// What a caller can tell from a call that the kernel runs by itself:
//
//   - A caller that may not be traced (it made itself undumpable, or its
//     program file is not readable) gets EACCES from every brokered call.
//   - An object whose canonical name is longer than PATH_MAX is refused.
//   - So are the inodes that the whole kernel shares: those of event and
//     timer descriptors and the like, and of namespaces.
//   - A server sees the supervisor's process as its peer (SO_PEERCRED), with
//     the caller's user and group.
//   - A socket that waits in connect has O_NONBLOCK set for moments, and a
//     signal reaches its caller up to 0.1 s late, where hundreds wait up to
//     a second. It waits for room in a full queue by asking again every 20 ms
//     at most.
//   - At most 512 connections wait at a time; the next fails with EAGAIN.
//   - Before Linux 6.13 the kernel looks up the path before the name and the
//     value of an attribute; of two errors the caller may get the other one.
//   - Before Linux 6.9 a thread that parted from its process's descriptors
//     gets EACCES for calls on descriptors.
//   - AppArmor and SELinux see the supervisor's label.
//   - A process that confined itself with Landlock, or descends from one that
//     did, connects to no TCP port and no abstract socket, and file calls
//     get what the tree and the kernel alone both grant (inner_linux.go). Its
//     limit of locks, which limits nothing, is 0.
//
// And of signals, where Landlock does not scope them (below ABI 6):
//
//   - Those to other processes come from the supervisor's: si_pid and si_code
//     say so, or, to one of several threads before Linux 6.9, that there is
//     something to read (POLL_IN); rt_tgsigqueueinfo to one of several threads
//     answers ENOSYS there. So do tkill and pidfd_send_signal to the caller's
//     own process; by other calls it gets its signals from itself.
//   - No signal can be sent by a folder of /proc, or to a process group by a
//     pidfd.
//   - Of a process group, who is forked while the signal is sent may miss one
//     that the parent survives.
//   - Before Linux 6.18 a signal that comes at the wrong moment makes a call
//     be made twice; one that sends a signal then sends two.
//
// And of file calls in a folder with an exception somewhere below it, or at a
// place where nothing stood when the command was started:
//
//   - getsockname(2) says the last component of what a socket was bound to.
//   - The flags of a file that was there, and is opened, lack O_NOFOLLOW.
//   - A caller with too many open files hears first what is wrong with the
//     name. If another of its threads takes the last descriptor in the very
//     moment, it gets EMFILE after the file was made.
//   - Who waits at one end of a FIFO notices the other up to 20 ms late, and
//     they count among the 512.
//   - A new folder may be one that was made before the command was started: it
//     was born then (statx(2), stx_btime), and inotify(7) says IN_MOVED_TO.
//   - A name that differs from a missing exception only in case, in characters
//     that can't be seen, or in dots and blanks at its end is refused. So is one
//     that a pattern would match but for these, unless something stands there and
//     the folder is seen to make a difference: another object, or none, under
//     the other name.
//   - Renaming anything to where a pattern matches other names below fails with
//     EXDEV. It does so for files too: whether a name is a folder's can change
//     until the kernel looks.
//   - A file made where something beside it may not be read is replaced by a
//     copy when it is first executed: its inode number and change time are new,
//     and a descriptor that was opened before shows the old one. It can't be
//     executed by descriptor (fexecve(3)), while it has several names or
//     another owner, or after so many of them that the stock is used up.
package broker
