// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"syscall"
)

// A probe child tells its parent what it does, one JSON object a line: each
// step once before it is made and once after, so that the parent knows which
// system call a seccomp filter killed it for.
//
//	child                                  parent
//	{"step":"openat2"}            ──────▶  begun
//	{"step":"openat2","done":true} ─────▶  succeeded
//	{"step":"seccomp"}            ──────▶  begun
//	  (killed by SIGSYS)          ──────▶  "seccomp" is refused by a kill

// step is one such line.
type step struct {
	Name  string `json:"step"`
	Done  bool   `json:"done,omitempty"`
	Errno int    `json:"errno,omitempty"` // 0: it succeeded, or failed with Text alone
	Text  string `json:"text,omitempty"`  // what failed
	Value int    `json:"value,omitempty"` // what was counted, or an address
}

// err returns what the step failed with, nil if it succeeded.
func (s step) err() error {
	switch {
	case s.Errno != 0:
		return os.NewSyscallError(s.Text, syscall.Errno(s.Errno))
	case s.Text != "":
		return errors.New(s.Text)
	}
	return nil
}

// teller writes steps. A parent that is gone is no concern of the child, so
// write errors are dropped.
type teller struct{ out *json.Encoder }

func newTeller(w io.Writer) teller { return teller{json.NewEncoder(w)} }

// try makes a step and returns what it failed with.
func (t teller) try(name string, do func() error) error {
	_ = t.out.Encode(step{Name: name})
	err := do()
	t.end(step{Name: name}, err)
	return err
}

// count makes a step that also yields a number.
func (t teller) count(name string, do func() (int, error)) error {
	_ = t.out.Encode(step{Name: name})
	n, err := do()
	t.end(step{Name: name, Value: n}, err)
	return err
}

func (t teller) end(s step, err error) {
	s.Done = true
	var errno syscall.Errno
	var call *os.SyscallError
	if err != nil {
		s.Text = err.Error()
	}
	if errors.As(err, &errno) {
		s.Errno = int(errno)
	}
	if errors.As(err, &call) {
		s.Text = call.Syscall
	}
	_ = t.out.Encode(s)
}

// outcome is all that is known of a probe child.
type outcome struct {
	steps []step
	// err is why the child could not be started, or did not come to its
	// end; nil if it exited by itself.
	err error
	// badCall tells that the child died of SIGSYS: a seccomp filter killed
	// it for the call of the last step begun.
	badCall bool
}

// find returns the last that was heard of a step.
func (o outcome) find(name string) (step, bool) {
	for i := len(o.steps) - 1; i >= 0; i-- {
		if o.steps[i].Name == name {
			return o.steps[i], true
		}
	}
	return step{}, false
}

// errKilled stands for the answer to a call that ends the process.
var errKilled = errors.New("a seccomp filter kills the process that makes this call")

// errUnheard says that the child never came to a step.
var errUnheard = errors.New("not reached")

// answer returns what a step answered, and whether it answered at all.
func (o outcome) answer(name string) (answer error, heard bool) {
	s, begun := o.find(name)
	switch {
	case begun && s.Done:
		return s.err(), true
	case begun && o.badCall:
		return errKilled, true
	case o.err != nil:
		return o.err, false
	}
	return errUnheard, false
}
