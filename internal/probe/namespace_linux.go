// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// namespaceRefusals: clone(2) and user_namespaces(7), ERRORS; EACCES is what
// an AppArmor profile without the userns rule or SELinux answers
// (security_create_user_ns). explain adds which of them it was.
var namespaceRefusals = refusals{
	{syscall.EPERM, "refused"},
	{syscall.EACCES, "refused by a security module"},
	{syscall.ENOSPC, "the limit on namespaces, or on how deep they nest, is reached"},
	{syscall.EUSERS, "the limit on how deep user namespaces nest is reached"},
	{syscall.EINVAL, "not built into the kernel"},
	{syscall.ENOSYS, "not built into the kernel, or hidden by a seccomp filter"},
}

// insideRefusals: mount(2) and netdevice(7), ERRORS, and those of clone(2),
// which come first.
var insideRefusals = refusals{
	{syscall.EPERM, "refused"},
	{syscall.EACCES, "refused by a security module"},
	{syscall.ENOSPC, "the limit on namespaces or mounts is reached"},
	{syscall.ENODEV, "not built into the kernel"},
	{syscall.ENOSYS, "not built into the kernel, or hidden by a seccomp filter"},
}

// mountChild runs in a user and mount namespace of its own. Everything is
// mounted over the root directory, which its own paths don't notice.
func mountChild(t teller, _ []string) {
	_ = t.try("private", func() error {
		return mount("none", "", syscall.MS_REC|syscall.MS_PRIVATE)
	})
	_ = t.try("bind", func() error {
		return mount("/", "", syscall.MS_BIND|syscall.MS_REC)
	})
	_ = t.try("tmpfs", func() error { return mount("ambit", "tmpfs", 0) })
}

func mount(source, fstype string, flags uintptr) error {
	return os.NewSyscallError("mount", syscall.Mount(source, "/", fstype, flags, ""))
}

// procChild is the first process of a pid namespace and mounts its /proc.
// The kernel refuses with EPERM where the outer /proc has parts covered, as
// containers do (mount_too_revealing in fs/namespace.c).
func procChild(t teller, _ []string) {
	_ = t.try("first", func() error {
		if os.Getpid() != 1 {
			return errUnheard
		}
		return nil
	})
	_ = t.try("private", func() error {
		return mount("none", "", syscall.MS_REC|syscall.MS_PRIVATE)
	})
	_ = t.try("proc", func() error {
		return os.NewSyscallError("mount", syscall.Mount("ambit", "/proc", "proc", 0, ""))
	})
}

// networkChild raises the loopback interface of its network namespace.
func networkChild(t teller, _ []string) {
	_ = t.try("loopback", sys.RaiseLoopback)
}

// tryNamespaces makes the namespaces that a mount-namespace backend needs,
// each with what it is good for. A namespace that can be made is not enough:
// on some hosts its owner has no capabilities in it.
func (a attempts) tryNamespaces(ctx context.Context, s Settings) []Result {
	user := a.tryUserNamespace(s)
	results := []Result{user}
	if user.Verdict != Yes {
		for _, name := range []Name{FeatUserMap, FeatMountNS, FeatPIDNS, FeatMountProc, FeatNetNS} {
			results = append(results, Result{
				Feature: featureIn(attemptFeatures, name), Verdict: user.Verdict,
				Detail: "needs a user namespace", Err: user.Err,
			})
		}
		return results
	}
	mapped := Result{Feature: featureIn(attemptFeatures, FeatUserMap)}
	mapped.Err = a.clone(childSpec{namespaces: syscall.CLONE_NEWUSER, users: mapRoot})
	mapped.Verdict, mapped.Detail = namespaceRefusals.judge(mapped.Err)
	mapped.Detail += explainInside(mapped.Verdict, s)
	results = append(results, mapped)
	return append(results, a.tryInside(ctx, s)...)
}

func (a attempts) tryUserNamespace(s Settings) Result {
	r := Result{Feature: featureIn(attemptFeatures, FeatUserNS)}
	r.Err = a.clone(childSpec{namespaces: syscall.CLONE_NEWUSER})
	r.Verdict, r.Detail = namespaceRefusals.judge(r.Err)
	if r.Verdict == No {
		r.Detail += explainUserNS(r.Err, s)
	}
	return r
}

// tryInside makes the other namespaces inside a user namespace and uses them.
func (a attempts) tryInside(ctx context.Context, s Settings) []Result {
	const user = syscall.CLONE_NEWUSER
	inside := func(program string, flags uintptr) outcome {
		return a.run(ctx, childSpec{name: program, namespaces: user | flags, users: mapRoot})
	}
	mounts := inside("mount", syscall.CLONE_NEWNS)
	pids := inside("proc", syscall.CLONE_NEWNS|syscall.CLONE_NEWPID)
	net := inside("network", syscall.CLONE_NEWNET)
	return []Result{
		insideResult(FeatMountNS, mounts, s, "private", "bind", "tmpfs"),
		insideResult(FeatPIDNS, pids, s, "first"),
		insideResult(FeatMountProc, pids, s, "proc"),
		insideResult(FeatNetNS, net, s, "loopback"),
	}
}

// insideResult is yes if all of the steps succeeded, else about the first
// that did not.
func insideResult(name Name, o outcome, s Settings, steps ...string) Result {
	r := Result{Feature: featureIn(attemptFeatures, name)}
	for _, step := range steps {
		answer, heard := o.answer(step)
		r.Err = answer
		if r.Verdict, r.Detail = insideRefusals.judge(answer); r.Verdict == Yes {
			continue
		}
		if heard {
			r.Detail = step + ": " + r.Detail
		}
		r.Detail += explainInside(r.Verdict, s)
		break
	}
	return r
}
