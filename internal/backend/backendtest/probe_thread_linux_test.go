// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"runtime"
	"syscall"
)

// parentDeath is the signal that this process gets when its parent dies. The
// kernel keeps it for each thread, and new ones have none (copy_process, kernel/fork.c):
// the thread that called execve is asked, on which Go may run anything.
func parentDeath() string {
	said := "the first thread was not to be had"
	onFirstThread(100, func() { said = prctlInt(2) }) // PR_GET_PDEATHSIG, linux/prctl.h
	return said
}

// onFirstThread calls do on the thread that the process began with. On another
// one it keeps that, so that Go has to use a further one, so many times at most.
func onFirstThread(more int, do func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if syscall.Gettid() == syscall.Getpid() {
		do()
		return
	}
	if more == 0 {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		onFirstThread(more-1, do)
	}()
	<-done
}
