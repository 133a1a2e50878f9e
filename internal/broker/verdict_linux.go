// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// letKernel, as the answer of a call that Landlock covers, lets the kernel
// run the call. It is never a grant: it says that the broker won't do it, and
// the kernel then decides by the rules that it was told, on what it finds by
// itself. Whatever another thread changes meanwhile, it gets nothing that it
// could not have without the broker. It is no errno of the kernel's.
const letKernel = syscall.Errno(1 << 16)

// deny refuses a change in the directory, or of the object, that at pins. The
// answer is the broker's own: what a process outside has moved to a blocked
// name may have a rule from where it stood when the command was started, and
// the kernel would grant the call by that.
func (t *task) deny(on target, at *object, named string, node *plan.Node) syscall.Errno {
	errno := t.refuse(on.String(), named, node, syscall.EACCES)
	kind, unknown := sys.FSKindOf(at.fd)
	switch {
	case unknown != 0:
	case kind.Proc: // nothing is moved to there, and the kernel has other errnos (proc_lookupfd in fs/proc/fd.c)
		return letKernel
	case kind.ReadOnly: // found out before rights are asked for (mnt_want_write, fs/namespace.c)
		return syscall.EROFS
	}
	return errno
}

// stream reports whether an object is one of the command's standard streams,
// which have rules of their own wherever they stand.
func (t *task) stream(o *object) bool {
	return t.b.options.Files.Streams[Inode{uint64(o.stat.Dev), o.stat.Ino}]
}

// judgeName decides over making, removing or replacing the name of a spot.
// The kernel has the word on names that are no place in a folder.
func (t *task) judgeName(s *spot) (judgement, *plan.Node) {
	p := s.path()
	if p == "" {
		return refused, nil
	}
	if n := s.through; n != nil && n.Mode < plan.Write {
		return refused, n
	}
	// Some file systems find a name that is written in another way.
	if o := s.object; o != nil && o.place == named && o.name != p {
		if j, n := t.b.land.judgeName(o.name); j == refused {
			return refused, n
		}
	}
	return t.b.land.judgeName(p)
}

// judgeFound decides over the content of the object at a spot.
func (t *task) judgeFound(s *spot, need plan.Mode) (judgement, *plan.Node) {
	if n := s.through; n != nil && n.Mode < need {
		return refused, n
	}
	return t.judgeObject(s.object, need)
}

// judgeObject decides over the content of an object.
func (t *task) judgeObject(o *object, need plan.Mode) (judgement, *plan.Node) {
	if o.place != named && o.place != removed {
		return native, nil // a pipe or the like, which Landlock leaves alone
	}
	if o.stat.Nlink > 1 { // it may be an exception under another name
		if n := t.b.land.denied[Inode{uint64(o.stat.Dev), o.stat.Ino}]; n != nil && n.Mode < need {
			return refused, n
		}
	}
	j, n := t.b.land.judge(o.name, need)
	if j == brokered && !o.servable() {
		j = native
	}
	return j, n
}

// servable reports whether the broker may open an object for somebody else. A
// file of /proc answers by who has opened it (proc(5)), and that would be the
// broker, which is not in the caller's domain. Of what has no name that could be
// said the tree says nothing.
func (o *object) servable() bool {
	if o.place != named && o.place != removed {
		return false
	}
	kind, errno := sys.FSKindOf(o.fd)
	return errno == 0 && !kind.Proc
}

// unfollowed is the answer for a name that could not be followed. What is
// plainly wrong with it is said at once: were the kernel asked, it might find
// by then what the broker has made, and that has no rule. For all else the
// kernel has the word.
func unfollowed(errno syscall.Errno) syscall.Errno {
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP:
		return errno
	}
	return letKernel
}

// unlessNative gives an answer that what stands at a spot, or does not, has for
// everybody. The kernel gives it by itself where its rules are complete;
// elsewhere it might find something else by then, without a rule.
func (t *task) unlessNative(s *spot, errno syscall.Errno) syscall.Errno {
	if j, _ := t.judgeName(s); j == brokered {
		return errno
	}
	return letKernel
}

// missing is the answer where nothing stands.
func (t *task) missing(s *spot) syscall.Errno { return t.unlessNative(s, syscall.ENOENT) }

// exchangeable reports whether a name may lead to something else, without a
// rule, before the kernel looks at it: it stands in a folder that the kernel
// does not decide over. The broker then opens what was decided on, if it may.
func (t *task) exchangeable(s *spot, need plan.Mode) bool {
	if s.folder == nil || s.folder.place != named || !s.object.servable() {
		return false
	}
	land := t.b.land
	if around, found := land.fresh[land.spell(s.path())]; found && around < need {
		return true
	}
	folder := land.spell(s.folder.name)
	least, found := land.spine[folder]
	return found && least < need || land.tree.Reached(folder, need) == folder
}

// atName performs a call that makes or removes a name in a folder. A refusal is
// a denial only where there is something to make, or to remove: else the kernel
// has another errno for it.
func (t *task) atName(s *spot, purpose purpose, do func() syscall.Errno) syscall.Errno {
	j, node := t.judgeName(s)
	switch {
	case j == brokered:
		return t.perform(purpose, do)
	case j == refused && s.path() != "" && (s.object == nil) == (purpose == making):
		return t.deny(s.on, s.folder, s.path(), node)
	}
	return letKernel
}

// purpose says what a call does to a name.
type purpose uint8

const (
	removing purpose = iota
	// making: an object appears, with the mode that the caller's umask leaves.
	making
)

// perform makes a call, now that all is decided, if the caller still waits
// for it. For a caller in a Landlock domain of its own it makes none: only the
// kernel knows what that caller gave up.
func (t *task) perform(p purpose, do func() syscall.Errno) syscall.Errno {
	if t.inner {
		return letKernel
	}
	if p == making {
		if errno := t.takeUmask(); errno != 0 {
			return errno
		}
	}
	if errno := t.alive(); errno != 0 {
		return errno
	}
	return do()
}

// takeUmask gives the broker's thread the umask of the caller, so that the
// kernel applies it as it would there: not where a folder has default
// permissions (umask(2), acl(5)).
func (t *task) takeUmask() syscall.Errno {
	text, errno := t.readStatus()
	if errno != 0 {
		return errno
	}
	_, after, found := strings.Cut(text, "\nUmask:\t")
	line, _, _ := strings.Cut(after, "\n")
	mask, err := strconv.ParseUint(line, 8, 9)
	if !found || err != nil {
		return letKernel
	}
	t.umask = uint32(mask)
	t.w.wearUmask(int(mask))
	t.status = text
	return 0
}
