// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// Promise is what a job of the lab says about the machine it runs on.
type Promise struct {
	Release  string // what the kernel's release begins with
	ABI      string // a number, "N+", "ENOSYS" or "EOPNOTSUPP"
	UID      int
	AppArmor string // the label in /proc/self/attr, such as "unconfined"
	Userns   string // "full", "helper", "powerless" or "refused"
}

// Facts is what the machine shows of itself, asked without any code of the
// product.
type Facts struct {
	Release  string
	ABI      int   // 0 if ABIErr is set
	ABIErr   error // the errno of landlock_create_ruleset(2)
	UID      int
	AppArmor string

	NewUser  error // making a user namespace
	NewMount error // making a mount namespace within it, which takes its CAP_SYS_ADMIN
	Helper   error // bwrap doing both, and mounting
}

// Judge tells each promise that the facts break; nil if all are kept.
func (p Promise) Judge(f Facts) error {
	var broken []error
	no := func(format string, args ...any) { broken = append(broken, fmt.Errorf(format, args...)) }
	if !strings.HasPrefix(f.Release, p.Release) {
		no("kernel: promised %s, booted %s", p.Release, f.Release)
	}
	if err := p.judgeABI(f); err != nil {
		broken = append(broken, err)
	}
	if f.UID != p.UID {
		no("user: promised uid %d, running as %d", p.UID, f.UID)
	}
	if f.AppArmor != p.AppArmor {
		no("AppArmor: promised %q, running under %q", p.AppArmor, f.AppArmor)
	}
	if got := f.userns(); got != p.Userns {
		no("user namespaces: promised %s, found %s (making one: %v; using it: %v; bwrap: %v)",
			p.Userns, got, f.NewUser, f.NewMount, f.Helper)
	}
	return errors.Join(broken...)
}

func (p Promise) judgeABI(f Facts) error {
	switch p.ABI {
	case "ENOSYS":
		return wantErrno(f, syscall.ENOSYS)
	case "EOPNOTSUPP":
		return wantErrno(f, syscall.EOPNOTSUPP)
	}
	least, floor := strings.CutSuffix(p.ABI, "+")
	want, err := strconv.Atoi(least)
	if err != nil {
		return fmt.Errorf("cannot read the promised ABI: %w", err)
	}
	if f.ABIErr != nil {
		return fmt.Errorf("cannot confirm Landlock: promised ABI %s, the kernel answers %w", p.ABI, f.ABIErr)
	}
	known, exact, err := abiOf(f.Release)
	switch {
	case err != nil:
		return err
	case f.ABI < want || !floor && f.ABI != want:
		return fmt.Errorf("cannot confirm Landlock: promised ABI %s, the kernel has %d", p.ABI, f.ABI)
	case f.ABI < known || exact && f.ABI != known:
		return fmt.Errorf("cannot confirm Landlock: the kernel has ABI %d, by its release %s it should be %d", f.ABI, f.Release, known)
	}
	return nil
}

func wantErrno(f Facts, want syscall.Errno) error {
	if !errors.Is(f.ABIErr, want) {
		return fmt.Errorf("cannot confirm Landlock: promised none (%v): the kernel has ABI %d (%v)", want, f.ABI, f.ABIErr)
	}
	return nil
}

// userns names what the attempts showed; a combination that no profile of the
// lab brings about gets a name that no job promises.
func (f Facts) userns() string {
	switch {
	case errors.Is(f.NewUser, syscall.EACCES) && f.Helper != nil:
		return "refused"
	case f.NewUser == nil && errors.Is(f.NewMount, syscall.EPERM) && f.Helper != nil:
		return "powerless"
	case f.NewUser == nil && f.NewMount == nil && f.Helper != nil:
		return "helper"
	case f.NewUser == nil && f.NewMount == nil && f.Helper == nil:
		return "full"
	}
	return "something else"
}
