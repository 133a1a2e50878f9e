// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"errors"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// domainRefusals: landlock_create_ruleset(2) and landlock_restrict_self(2),
// ERRORS.
var domainRefusals = refusals{
	{syscall.E2BIG, "this process already has as many Landlock layers as the kernel stacks"},
	{syscall.EOPNOTSUPP, "Landlock was not started at boot"},
	{syscall.ENOSYS, notBuilt},
	{syscall.EPERM, byFilter},
	{syscall.EACCES, byFilter},
}

// landlockChild restricts itself with everything that the ABI offers, looks
// whether it is denied what it could do before, and then stacks domains until
// the kernel takes no more.
func landlockChild(t teller, _ []string) {
	control := firstReadable()
	if t.try("restrict", restrictFully) == nil {
		_ = t.try("denied", func() error { return expectDenied(control) })
	}
	_ = t.count("stack", countLayers)
}

func restrictFully() error {
	abi, err := sys.LandlockABI()
	if err != nil {
		return err
	}
	r := RightsOf(abi)
	return restrictSelf(sys.Ruleset{FS: uint64(r.FS), Net: uint64(r.Net), Scoped: uint64(r.Scope)},
		uint32(r.Restrict&RestrictLogNewExecOn))
}

func restrictSelf(r sys.Ruleset, flags uint32) error {
	if err := sys.SetNoNewPrivs(); err != nil {
		return err
	}
	fd, err := sys.LandlockCreateRuleset(r)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return sys.LandlockRestrictSelf(fd, flags)
}

// firstReadable returns something that this process may open for reading, so
// that a denial of it proves something; "" if it finds nothing. An outer
// sandbox may have closed any of them.
func firstReadable() string {
	for _, name := range []string{"/", self, "/proc/self/status"} {
		if openForReading(name) == nil {
			return name
		}
	}
	return ""
}

func openForReading(name string) error {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}

var (
	errNotDenied = errors.New("a restricted process could still do what its ruleset denies")
	errNoControl = errors.New("nothing can be read here, so a denial would prove nothing")
)

// expectDenied opens what could be opened before. A domain without rules
// refuses that with EACCES.
func expectDenied(control string) error {
	if control == "" {
		return errNoControl
	}
	err := openForReading(control)
	switch {
	case err == nil:
		return errNotDenied
	case errors.Is(err, syscall.EACCES):
		return nil
	}
	return err
}

// countLayers stacks trivial domains until the kernel answers E2BIG, and
// returns how many it took. Nothing in /proc shows a Landlock domain, so this
// is the only way for an ordinary process to learn how many it is in.
func countLayers() (int, error) {
	for n := range oldLayerLimit + 1 {
		err := restrictSelf(sys.Ruleset{FS: uint64(FSMakeSock)}, 0)
		if errors.Is(err, syscall.E2BIG) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return 0, errors.New("the kernel stacks more layers than it is known to")
}

// tryLandlock restricts a child for real.
func tryLandlock(ctx context.Context, run childRunner) (Result, Layers) {
	o := run(ctx, childSpec{name: "landlock"})
	r := Result{Feature: featureIn(attemptFeatures, FeatDomain)}
	answer, _ := o.answer("restrict")
	if answer == nil {
		answer, _ = o.answer("denied")
	}
	r.Err = answer
	r.Verdict, r.Detail = domainRefusals.judge(answer)
	layers := layersOf(o)
	if r.Verdict == Yes {
		r.Detail = "a child restricted itself and was denied; " + layers.String()
	}
	return r, layers
}
