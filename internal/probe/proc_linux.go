// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

const procMagic = 0x9fa0 // PROC_SUPER_MAGIC, linux/magic.h

var errNoProc = errors.New("something else is mounted on /proc")

// tryProc looks whether /proc is mounted and shows this process to itself.
func (h host) tryProc() Result {
	r := Result{Feature: featureIn(attemptFeatures, FeatProc)}
	if r.Err = checkProc(); r.Err != nil {
		r.Verdict, r.Detail = No, "/proc is not mounted, or not readable"
		return r
	}
	r.Verdict = Yes
	if mounts, err := h.readWhole("/proc/self/mountinfo"); err == nil {
		r.Detail = procOptions(mounts)
	}
	return r
}

func checkProc() error {
	var st syscall.Statfs_t
	if err := syscall.Statfs("/proc", &st); err != nil {
		return &os.PathError{Op: "statfs", Path: "/proc", Err: err}
	}
	if st.Type != procMagic {
		return errNoProc
	}
	_, err := os.Readlink(self)
	return err
}

// procOptions returns the options of /proc that hide other processes
// (hidepid, subset; proc(5), MOUNT OPTIONS).
func procOptions(mountinfo string) string {
	var hiding []string
	for m := range mountsOf(mountinfo) {
		if m.point != "/proc" || m.fstype != "proc" {
			continue
		}
		hiding = nil // a later mount covers an earlier one
		for opt := range strings.SplitSeq(m.super, ",") {
			if strings.HasPrefix(opt, "hidepid=") || strings.HasPrefix(opt, "subset=") {
				hiding = append(hiding, opt)
			}
		}
	}
	return strings.Join(hiding, ",")
}
