// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// fakeFiles is a host of which only some files are known. A value that is an
// errno's name is that error.
type fakeFiles map[string]string

var fakeErrors = map[string]error{"EACCES": syscall.EACCES, "EINVAL": syscall.EINVAL}

func (f fakeFiles) read(path string) (string, error) {
	text, ok := f[path]
	if !ok {
		return "", &os.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	if err, ok := fakeErrors[text]; ok {
		return "", &os.PathError{Op: "read", Path: path, Err: err}
	}
	return text, nil
}

func (f fakeFiles) host() host {
	return host{
		readFile:   f.read,
		readWhole:  f.read,
		exists:     func(path string) error { _, err := f.read(path); return err },
		activeLSMs: func() ([]string, error) { return nil, syscall.ENOSYS },
		makeGroup:  func(string) error { return nil },
	}
}

func TestSettings(t *testing.T) {
	s := fakeFiles{
		"/sys/kernel/security/lsm": "capability,landlock,yama\n",
		"/proc/self/status": "Name:\tx\nUid:\t1\t2\t3\t4\nCapEff:\t0000000000000000\n" +
			"NoNewPrivs:\t1\nSeccomp:\t2\n",
		"/proc/sys/user/max_user_namespaces":                         "0\n",
		"/proc/sys/kernel/apparmor_restrict_unprivileged_unconfined": "EACCES",
		"/proc/self/attr/current":                                    "EINVAL",
		"/proc/self/attr/apparmor/current":                           "docker-default (enforce)\n\x00",
		"/run/.containerenv":                                         "",
		"/proc/sys/fs/binfmt_misc/WSLInterop":                        "enabled",
	}.host().settings()
	want := map[string]Setting{
		SetLSMs:           {State: StateSet, Value: "capability,landlock,yama"},
		SetMaxUserNS:      {State: StateSet, Value: "0"},
		SetUserNSClone:    {State: StateAbsent},
		SetSELinuxLabel:   {State: StateAbsent},
		SetAppArmorLabel:  {State: StateSet, Value: "docker-default (enforce)"},
		"process.uid":     {State: StateSet, Value: "1 2 3 4"},
		SetSeccompMode:    {State: StateSet, Value: "2"},
		SetSeccompFilters: {State: StateAbsent}, // before 5.9
		SetContainer:      {State: StateSet, Value: "podman,wsl"},
		"kernel.apparmor_restrict_unprivileged_unconfined": {State: StateUnreadable},
	}
	for name, w := range want {
		w.Name = name
		got := Setting{}
		for _, x := range s {
			if x.Name == name {
				got = x
			}
		}
		if diff := cmp.Diff(w, got, cmpopts.IgnoreFields(Setting{}, "Err")); diff != "" {
			t.Errorf("%s, -want +got:\n%s", name, diff)
		}
		if (got.State == StateUnreadable) != (got.Err != nil) {
			t.Errorf("%s: state %s with error %v", name, got.State, got.Err)
		}
	}
	if !s.filtered() || !s.HasLSM("yama") {
		t.Error("the filter or Yama went unseen")
	}
}

// TestNoSettings: where nothing can be read, nothing is claimed.
func TestNoSettings(t *testing.T) {
	s := fakeFiles{}.host().settings()
	for _, x := range s {
		if x.State == StateSet {
			t.Errorf("%s has the value %q out of nowhere", x.Name, x.Value)
		}
	}
	for _, name := range []string{SetLSMs, SetSeccompMode} {
		if v, ok := s.Get(name); ok {
			t.Errorf("%s: %q", name, v)
		}
		for _, x := range s {
			if x.Name == name && x.State != StateUnreadable {
				t.Errorf("%s is %s, but it may well be there", name, x.State)
			}
		}
	}
}

func TestActiveLSMsComeFirst(t *testing.T) {
	h := fakeFiles{"/sys/kernel/security/lsm": "stale"}.host()
	h.activeLSMs = func() ([]string, error) { return []string{"capability", "landlock"}, nil }
	if got := h.lsmSetting(); got.Value != "capability,landlock" {
		t.Errorf("got %+v", got)
	}
}

func TestProcOptions(t *testing.T) {
	for _, tt := range []struct{ name, mounts, want string }{
		{"hiding", mountinfo, "hidepid=invisible,subset=pid"},
		{"plain", "1 2 0:3 / /proc rw - proc proc rw\n", ""},
		{"a later mount covers it", mountinfo + "50 21 0:40 / /proc rw - proc proc rw\n", ""},
		{"elsewhere", "1 2 0:3 / /mnt/proc rw - proc proc rw,hidepid=2\n", ""},
	} {
		if got := procOptions(tt.mounts); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestCgroupDir(t *testing.T) {
	const v2 = "40 30 0:37 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	tests := []struct{ name, own, mounts, want string }{
		{"whole tree", "0::/user.slice/x\n", v2, "/sys/fs/cgroup/user.slice/x"},
		{"a part is mounted", "0::/user.slice/x\n", mountinfo, "/sys/fs/cgroup/x"},
		{"root of the part", "0::/user.slice\n", mountinfo, "/sys/fs/cgroup"},
		{"hybrid", "2:memory:/a\n0::/\n", v2, "/sys/fs/cgroup"},
		{"outside of what is mounted", "0::/../other\n", v2, ""},
		{"in another part", "0::/system.slice\n", mountinfo, ""},
		{"version 1 only", "2:memory:/a\n", v2, ""},
		{"not mounted", "0::/\n", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := cgroupDir(tt.own, tt.mounts)
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestTryCgroup(t *testing.T) {
	files := fakeFiles{
		"/proc/self/cgroup":                   "0::/user.slice/x\n",
		"/proc/self/mountinfo":                mountinfo,
		"/sys/fs/cgroup/x/cgroup.controllers": "cpu memory pids\n",
	}
	tests := []struct {
		name string
		err  error
		want Verdict
	}{
		{"delegated", nil, Yes},
		{"another's", syscall.EACCES, No},
		{"read-only", syscall.EROFS, No},
		{"odd", syscall.EIO, Unknown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := files.host()
			h.makeGroup = func(dir string) error {
				if !strings.HasPrefix(dir, "/sys/fs/cgroup/x/ambit-probe-") {
					t.Errorf("made %s", dir)
				}
				return tt.err
			}
			r := h.tryCgroup()
			if r.Verdict != tt.want || !errors.Is(r.Err, tt.err) {
				t.Errorf("got %+v", r)
			}
			if tt.want == Yes && r.Detail != "controllers: cpu,memory,pids" {
				t.Errorf("detail %q", r.Detail)
			}
		})
	}
	if r := (fakeFiles{}).host().tryCgroup(); r.Verdict != Unknown {
		t.Errorf("without /proc: %+v", r)
	}
	if r := (fakeFiles{"/proc/self/cgroup": "2:memory:/\n", "/proc/self/mountinfo": ""}).host().tryCgroup(); r.Verdict != No {
		t.Errorf("without version 2: %+v", r)
	}
}
