// SPDX-License-Identifier: Apache-2.0

package backendtest

// parentDeath is the signal that this process gets when its parent dies. The
// kernel keeps it for each thread, and new ones have none (copy_process,
// kernel/fork.c), so that the thread that called execve has to be asked.
// Package variables are initialised on it, before anything else can run (Go
// documents this of init functions, at runtime.LockOSThread); later a program
// may not get that thread back.
var parentDeath = prctlInt(2) // PR_GET_PDEATHSIG, linux/prctl.h
