// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// kept is a promise and the facts that keep it; each case breaks one thing.
func kept() (Promise, Facts) {
	return Promise{Release: "6.12.", ABI: "6", UID: 999, AppArmor: "unconfined", Userns: "full"},
		Facts{Release: "6.12.118+deb13-cloud-amd64", ABI: 6, UID: 999, AppArmor: "unconfined"}
}

func TestJudge(t *testing.T) {
	refused := func(p *Promise, f *Facts) {
		p.AppArmor, f.AppArmor = "ambit_lab_nouserns (enforce)", "ambit_lab_nouserns (enforce)"
		p.Userns, f.NewUser, f.NewMount, f.Helper = "refused", syscall.EACCES, syscall.EACCES, errors.New("exit status 1")
	}
	none := func(p *Promise, f *Facts) { f.ABI, f.ABIErr, p.ABI = 0, syscall.EOPNOTSUPP, "EOPNOTSUPP" }
	newest := func(release string, abi int) func(*Promise, *Facts) {
		return func(p *Promise, f *Facts) { p.Release, f.Release, p.ABI, f.ABI = "7.", release, "10+", abi }
	}
	for _, c := range []struct {
		name   string
		change func(*Promise, *Facts)
		want   string // part of the message; empty: kept
	}{
		{"all as promised", func(*Promise, *Facts) {}, ""},
		{"another kernel", func(_ *Promise, f *Facts) { f.Release = "6.1.192-cloud-amd64" }, "kernel: promised 6.12., booted 6.1.192"},
		{"a longer minor number", func(p *Promise, f *Facts) { p.Release, f.Release = "6.1.", "6.12.118" }, "kernel: promised 6.1."},
		{"another ABI", func(_ *Promise, f *Facts) { f.ABI = 7 }, "promised ABI 6, the kernel has 7"},
		{"a promise against the table", func(p *Promise, f *Facts) { p.ABI, f.ABI = "5", 5 }, "should be 6"},
		{"Landlock missing", func(_ *Promise, f *Facts) { f.ABI, f.ABIErr = 0, syscall.EOPNOTSUPP }, "promised ABI 6, the kernel answers"},
		{"root", func(_ *Promise, f *Facts) { f.UID = 0 }, "promised uid 999, running as 0"},
		{"no profile", func(p *Promise, f *Facts) { refused(p, f); f.AppArmor = "unconfined" }, "running under \"unconfined\""},
		{"complain mode", func(p *Promise, f *Facts) { refused(p, f); f.AppArmor = "ambit_lab_nouserns (complain)" }, "(complain)"},
		{"refused", refused, ""},
		{"refused by another layer", func(p *Promise, f *Facts) { refused(p, f); f.NewUser = syscall.EPERM }, "found something else"},
		{"a profile that doesn't bite", func(p *Promise, f *Facts) { refused(p, f); f.NewUser, f.NewMount, f.Helper = nil, nil, nil }, "found full"},
		{"powerless", func(p *Promise, f *Facts) {
			p.Userns, f.NewMount, f.Helper = "powerless", syscall.EPERM, errors.New("no")
		}, ""},
		{"helper", func(p *Promise, f *Facts) { p.Userns, f.Helper = "helper", errors.New("no") }, ""},
		{"full promised, helper tied", func(_ *Promise, f *Facts) { f.Helper = errors.New("no") }, "found helper"},
		{"no Landlock, as promised", none, ""},
		{"no Landlock, but another errno", func(p *Promise, f *Facts) { none(p, f); f.ABIErr = syscall.ENOSYS }, "promised none"},
		{"Landlock against the promise", func(p *Promise, f *Facts) { none(p, f); f.ABI, f.ABIErr = 6, nil }, "the kernel has ABI 6"},
		{"the newest known", newest("7.3.4+deb13-cloud-amd64", 11), ""},
		{"the newest known, with less", newest("7.3.4+deb13-cloud-amd64", 10), "should be 11"},
		{"the newest known, with more", newest("7.3.4+deb13-cloud-amd64", 12), "should be 11"},
		{"newer than the table", newest("7.9.1", 14), ""},
		{"newer than the table, with less", newest("7.9.1", 10), "should be 11"},
		{"below the floor", newest("7.1.13", 9), "promised ABI 10+"},
		{"a release without numbers", newest("7.x", 11), "cannot read the kernel release"},
		{"an ABI without number", func(p *Promise, _ *Facts) { p.ABI = "six" }, "cannot read the promised ABI"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, f := kept()
			c.change(&p, &f)
			err := p.Judge(f)
			if c.want == "" && err != nil {
				t.Errorf("broken: %v", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want a message with %q", err, c.want)
			}
		})
	}
}

func TestABIOf(t *testing.T) {
	for _, c := range []struct {
		release string
		abi     int
		exact   bool
	}{
		{"5.10.0-46-cloud-amd64", 0, true},
		{"5.13.19", 1, true},
		{"6.1.0-57-cloud-amd64", 2, true},
		{"6.9.1", 4, true},
		{"6.18.44", 7, true},
		{"7.3.4+deb13-cloud-amd64", 11, true},
		{"7.4", 11, false},
		{"8.0.1", 11, false},
	} {
		abi, exact, err := abiOf(c.release)
		if err != nil || abi != c.abi || exact != c.exact {
			t.Errorf("abiOf(%q) = %d, %v, %v, want %d, %v", c.release, abi, exact, err, c.abi, c.exact)
		}
	}
}
