// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// settingFiles are the settings that are one file each.
var settingFiles = []struct{ name, file string }{
	{SetAppArmorUserNS, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"},
	{"kernel.apparmor_restrict_unprivileged_unconfined", "/proc/sys/kernel/apparmor_restrict_unprivileged_unconfined"},
	{SetUserNSClone, "/proc/sys/kernel/unprivileged_userns_clone"},
	{SetMaxUserNS, "/proc/sys/user/max_user_namespaces"},
	{"user.max_mnt_namespaces", "/proc/sys/user/max_mnt_namespaces"},
	{"user.max_pid_namespaces", "/proc/sys/user/max_pid_namespaces"},
	{"user.max_net_namespaces", "/proc/sys/user/max_net_namespaces"},
	{"kernel.yama.ptrace_scope", yamaFile},
	{"kernel.io_uring_disabled", "/proc/sys/kernel/io_uring_disabled"},
	{SetAppArmorLabel, "/proc/self/attr/apparmor/current"},
	{SetSELinuxLabel, "/proc/self/attr/current"},
}

// statusLines are the settings that are a line of /proc/self/status.
var statusLines = []struct{ name, line string }{
	{"process.uid", "Uid"},
	{"process.gid", "Gid"},
	{"process.capabilities", "CapEff"},
	{"process.no_new_privs", "NoNewPrivs"},
	{SetSeccompMode, "Seccomp"},            // 0 none, 2 filter (proc_pid_status(5))
	{SetSeccompFilters, "Seccomp_filters"}, // since Linux 5.9
}

// settings reads every setting. It changes nothing.
func (h host) settings() Settings {
	s := Settings{h.lsmSetting()}
	for _, f := range settingFiles {
		text, err := h.readFile(f.file)
		s = append(s, settingOf(f.name, text, err))
	}
	status, err := h.readFile("/proc/self/status")
	for _, l := range statusLines {
		s = append(s, statusSetting(l.name, l.line, status, err))
	}
	return append(s, h.containerSetting())
}

// settingOf reads the answer of a file. A missing file, and one whose content
// the kernel does not offer here (EINVAL from /proc/self/attr without that
// security module), is an absent setting.
func settingOf(name, text string, err error) Setting {
	s := Setting{Name: name}
	switch {
	case err == nil:
		s.State, s.Value = StateSet, strings.TrimRight(text, "\n\x00 ")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.EINVAL):
		s.State = StateAbsent
	default:
		s.State, s.Err = StateUnreadable, err
	}
	return s
}

func statusSetting(name, line, status string, err error) Setting {
	if err != nil {
		return Setting{Name: name, State: StateUnreadable, Err: err}
	}
	for l := range strings.Lines(status) {
		if key, value, ok := strings.Cut(l, ":"); ok && key == line {
			return Setting{Name: name, State: StateSet, Value: strings.Join(strings.Fields(value), " ")}
		}
	}
	return Setting{Name: name, State: StateAbsent}
}

// lsmSetting lists the active security modules: by the system call where the
// kernel has it, else from securityfs, which many containers don't mount.
func (h host) lsmSetting() Setting {
	if names, err := h.activeLSMs(); err == nil {
		return Setting{Name: SetLSMs, State: StateSet, Value: strings.Join(names, ",")}
	}
	text, err := h.readFile("/sys/kernel/security/lsm")
	s := settingOf(SetLSMs, text, err)
	if s.State == StateAbsent { // it is the mount that is absent
		s.State, s.Err = StateUnreadable, err
	}
	return s
}

// containerHints are files that container runtimes leave, and the mark of
// Windows' subsystem for Linux. They only help a reader to see where he is.
var containerHints = []struct{ file, hint string }{
	{"/.dockerenv", "docker"},
	{"/run/.containerenv", "podman"},
	{"/run/systemd/container", "systemd"},
	{"/var/run/secrets/kubernetes.io", "kubernetes"},
	{"/proc/sys/fs/binfmt_misc/WSLInterop", "wsl"},
}

func (h host) containerSetting() Setting {
	var hints []string
	for _, c := range containerHints {
		if h.exists(c.file) == nil {
			hints = append(hints, c.hint)
		}
	}
	if len(hints) == 0 {
		return Setting{Name: SetContainer, State: StateAbsent}
	}
	return Setting{Name: SetContainer, State: StateSet, Value: strings.Join(hints, ",")}
}
