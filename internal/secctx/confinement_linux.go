// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

func (g *gatherer) capabilities() {
	c := &g.c.Capabilities
	for _, s := range [...]struct {
		field, as string
		into      *[]string
	}{
		{"CapEff", "effective", &c.Effective}, {"CapPrm", "permitted", &c.Permitted}, {"CapInh", "inheritable", &c.Inheritable},
		{"CapBnd", "bounding", &c.Bounding}, {"CapAmb", "ambient", &c.Ambient},
	} {
		set, err := g.status.capSet(s.field)
		if err != nil {
			g.because("capabilities."+s.as, "the status of the process does not tell", "")
			continue
		}
		*s.into = set
	}
	if !g.own() {
		g.because("capabilities.securebits", "the kernel tells a process its own secure bits alone", "to be gathered by the process itself")
		return
	}
	bits, errno := sys.Securebits()
	if errno != 0 {
		g.unknown("capabilities.securebits", errno, "")
		return
	}
	c.Securebits = securebitList(bits)
}

// seccompModes are the values of Seccomp (proc_pid_status(5)).
var seccompModes = map[string]string{"0": "none", "1": "strict", "2": "filter"}

func (g *gatherer) confinement() {
	c := &g.c.Confinement
	if v, ok := g.status["NoNewPrivs"]; ok { // Linux 4.10
		set := v == "1"
		c.NoNewPrivs = &set
	} else {
		g.because("confinement.no_new_privs", "this kernel does not tell", "")
	}
	if mode, ok := seccompModes[g.status["Seccomp"]]; ok {
		c.Seccomp = mode
	} else {
		g.because("confinement.seccomp", "this kernel does not tell", "")
	}
	if n, err := strconv.Atoi(g.status["Seccomp_filters"]); err == nil { // Linux 5.9
		c.SeccompFilters = &n
	} else {
		g.because("confinement.seccomp_filters", "this kernel does not tell", "")
	}
	g.landlock()
	g.labels()
}

// countTime bounds the counting of Landlock layers, which takes milliseconds.
const countTime = 20 * time.Second

// landlock counts layers. A domain is inherited by fork and by exec, so what a
// child of this process is in, this process is in too, and what it started.
func (g *gatherer) landlock() {
	const as = "confinement.landlock_layers"
	if g.p.how == ofPID {
		g.because(as, "Landlock layers can't be counted from outside", "to be gathered by a process where that one was started")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTime)
	defer cancel()
	layers, err := probe.CountLayers(ctx)
	var errno syscall.Errno
	switch {
	case err == nil:
		g.c.Confinement.LandlockLayers = &layers.Used
	case errors.Is(err, syscall.EOPNOTSUPP):
		none := 0 // it was not started at boot
		g.c.Confinement.LandlockLayers = &none
	case errors.As(err, &errno):
		// ENOSYS: the kernel may lack it, or a filter may hide it.
		g.unknown(as, errno, "Landlock's system calls")
	default:
		g.broken(as, err)
	}
}

// labels reads the labels of the modules that have them. Each has a folder of
// its own but SELinux, which shares the old file.
func (g *gatherer) labels() {
	g.c.Confinement.Labels = map[string]string{}
	active, err := sys.ActiveLSMs()
	for _, l := range [...][2]string{{"apparmor", "attr/apparmor/current"}, {"smack", "attr/smack/current"}, {"selinux", "attr/current"}} {
		if err == nil && !slices.Contains(active, l[0]) {
			continue
		}
		if err != nil && l[0] == "selinux" && len(g.c.Confinement.Labels) > 0 {
			continue // the shared file is that of the other one
		}
		label, errno := g.p.read(l[1])
		if errno == syscall.ENOENT && err == nil {
			label, errno = g.p.read("attr/current") // before Linux 5.1 and 5.8
		}
		switch {
		case errno == 0:
			g.c.Confinement.Labels[l[0]] = text(strings.TrimRight(label, "\x00\n"))
		case err != nil && (errno == syscall.ENOENT || errno == syscall.EINVAL):
			// not active
		default:
			g.unknown("confinement.labels."+l[0], errno, needsTrace)
		}
	}
}
