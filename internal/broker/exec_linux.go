// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"bytes"
	"errors"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/stock"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// execve, execveat: fs/exec.c. The broker can't execute for the caller, and
// Landlock covers it: the kernel always goes on, and decides. What is made
// beside a place that may not be read has no rule to be executed by, though
// the tree grants it; before the kernel looks, the broker has it replaced by a
// copy that has one.

func execve(t *task) syscall.Errno { return t.exec(sys.AtCWD, 0, 0) }

func execveat(t *task) syscall.Errno {
	flags := t.reg(4)
	if flags&^(atSymlinkNoFollow|atEmptyPath) != 0 {
		return letKernel
	}
	var how naming
	if flags&atSymlinkNoFollow != 0 {
		how = noFollow
	}
	if flags&atEmptyPath != 0 {
		how |= emptyIsDir
	}
	return t.exec(t.reg(0), 1, how)
}

func (t *task) exec(dir int32, arg int, how naming) syscall.Errno {
	on, errno := t.path(dir, arg, how)
	if errno != 0 {
		return letKernel
	}
	// An interpreter may be a script itself (exec_binprm in fs/exec.c).
	const maxInterpreters = 5
	for range maxInterpreters + 1 {
		interpreter, errno := t.makeRunnable(on)
		switch {
		case errno != 0:
			return errno
		case interpreter == "":
			return letKernel
		}
		on = target{dir: sys.AtCWD, name: interpreter}
	}
	return letKernel
}

// makeRunnable sees that what a name leads to can be executed if the tree
// grants it, and returns the interpreter that it names. An errno is the answer
// to the call: letKernel, or what the kernel would say if it had a rule.
func (t *task) makeRunnable(on target) (interpreter string, errno syscall.Errno) {
	t.wants = plan.Read
	s, errno := t.locate(on)
	if errno != 0 {
		return "", letKernel
	}
	defer s.close()
	o := s.object
	if o == nil || s.slash || o.place != named || o.stat.Mode&syscall.S_IFMT != syscall.S_IFREG || !sys.MayExecute(o.fd) {
		return "", letKernel
	}
	j, node := t.judgeObject(o, plan.Read)
	switch {
	case j == refused:
		return "", t.refuse(on.String(), o.name, node, syscall.EACCES)
	case j == brokered && !t.inner && !t.b.options.Files.Executable[Inode{uint64(o.stat.Dev), o.stat.Ino}]:
		if errno := t.replace(s, node); errno != 0 {
			return "", errno
		}
	}
	return interpreterOf(o), 0
}

// replace puts a file that has a rule in the place of one that has none.
func (t *task) replace(s *spot, node *plan.Node) syscall.Errno {
	o := s.object
	fail := func(why string) syscall.Errno {
		t.refuseFor(why, s.on.String(), o.name, node, syscall.EACCES)
		return letKernel
	}
	if j, _ := t.judgeName(s); j == refused {
		return fail("it was made while the command runs, where the command may not replace it")
	}
	err := t.b.options.Files.Stock.Replace(stock.Replaced{
		In: stock.Parent{FD: s.folder.fd, Stat: &s.folder.stat}, Name: s.last, FD: o.fd, Stat: &o.stat,
		Last: func() bool {
			name, errno := t.b.nameOf(o.fd)
			return errno == 0 && name == o.name && t.alive() == 0
		},
	})
	switch {
	case errors.Is(err, stock.ErrBusy):
		return syscall.ETXTBSY
	case err != nil:
		return fail("it was made while the command runs, and no copy can be made that has a rule: " + err.Error())
	}
	return 0
}

// interpreterOf returns the program that a script names in its first line
// (load_script in fs/binfmt_script.c); empty if it names none.
func interpreterOf(o *object) string {
	const start = 256 // BINPRM_BUF_SIZE, linux/binfmts.h
	fd, errno := sys.OpenAt(sys.AtCWD, sys.FDPath(o.fd), syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		return ""
	}
	defer func() { _ = syscall.Close(fd) }()
	buf := make([]byte, start)
	line, found := bytes.CutPrefix(buf[:sys.ReadStart(fd, buf)], []byte("#!"))
	if !found {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	line = bytes.TrimLeft(line, " \t")
	if i := bytes.IndexAny(line, " \t\x00"); i >= 0 {
		line = line[:i]
	}
	return string(line)
}
