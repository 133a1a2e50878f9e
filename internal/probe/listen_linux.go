// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"encoding/binary"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// listenerRefusals: seccomp(2), ERRORS. EBUSY comes from has_duplicate_listener
// in kernel/seccomp.c: one listener on all the filters that a process has.
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

// allowAll is the one-instruction filter "return SECCOMP_RET_ALLOW": struct
// sock_filter in the host's byte order.
func allowAll() []byte {
	const bpfRet = 0x06 // BPF_RET|BPF_K
	b := binary.NativeEndian.AppendUint16(nil, bpfRet)
	return binary.NativeEndian.AppendUint32(append(b, 0, 0), sys.SeccompRetAllow)
}

// listenerChild installs a filter with a listener.
func listenerChild(t teller, _ []string) {
	fd := -1
	err := t.try("listener", func() (err error) {
		if err = sys.SetNoNewPrivs(); err == nil {
			fd, err = sys.InstallFilter(allowAll(), sys.SeccompNewListener|sys.SeccompWaitKillableRecv)
		}
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
	if listener.Verdict != Yes {
		wake.Verdict, wake.Detail, wake.Err = listener.Verdict, "needs a listener", listener.Err
		return []Result{listener, wake}
	}
	wake.Err, _ = o.answer("wake")
	wake.Verdict, wake.Detail = wakeUpRefusals.judge(wake.Err)
	return []Result{listener, wake}
}
