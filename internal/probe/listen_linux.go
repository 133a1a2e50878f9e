// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// listenerRefusals: seccomp(2), ERRORS, and init_listener in kernel/seccomp.c.
var listenerRefusals = refusals{
	{syscall.EBUSY, "a supervisor outside already listens to this process, and the kernel allows one"},
	{syscall.EINVAL, "not known to this kernel"},
	{syscall.ENOSYS, notBuilt},
	{syscall.EPERM, byFilter},
	{syscall.EACCES, byFilter},
}

// wakeUpRefusals: the ioctl came with Linux 6.6 (seccomp_unotify(2)).
var wakeUpRefusals = refusals{
	{syscall.EINVAL, "not known to this kernel"},
	{syscall.ENOTTY, "not known to this kernel"},
	{syscall.EPERM, byFilter},
}

// listenerChild installs a filter with a listener.
func listenerChild(t teller, _ []string) {
	fd := -1
	err := t.try("listener", func() (err error) {
		fd, err = sys.TryListener()
		return err
	})
	if err == nil {
		_ = t.try("wake", func() error { return sys.SetSyncWakeUp(fd) })
	}
}

// tryListener lets a child install a filter with a listener: whether another
// is in the way shows no sooner.
func tryListener(ctx context.Context, run childRunner) []Result {
	o := run(ctx, childSpec{name: "listener"})
	listener := Result{Feature: featureIn(attemptFeatures, FeatListener)}
	listener.Err, _ = o.answer("listener")
	listener.Verdict, listener.Detail = listenerRefusals.judge(listener.Err)

	wake := Result{Feature: featureIn(attemptFeatures, FeatSyncWakeUp)}
	wake.Err, _ = o.answer("wake")
	wake.Verdict, wake.Detail = wakeUpRefusals.judge(wake.Err)
	return []Result{listener, wake}
}
