// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"strings"
	"syscall"
	"testing"
)

func settingsOf(pairs ...string) Settings {
	var s Settings
	for i := 0; i < len(pairs); i += 2 {
		s = append(s, Setting{Name: pairs[i], State: StateSet, Value: pairs[i+1]})
	}
	return s
}

func TestExplainUserNS(t *testing.T) {
	tests := []struct {
		name string
		err  error
		s    Settings
		want string // a part of the text; "" means no text at all
	}{
		{"sysctl zero", syscall.ENOSPC, settingsOf(SetMaxUserNS, "0"), "user.max_user_namespaces is 0"},
		{"limit or depth", syscall.ENOSPC, settingsOf(SetMaxUserNS, "96364"), "user.max_user_namespaces is 96364"},
		{"AppArmor", syscall.EACCES, settingsOf(SetLSMs, "landlock,apparmor"), `"userns,"`},
		{"SELinux", syscall.EACCES, settingsOf(SetLSMs, "selinux"), "user_namespace create"},
		{"Debian's switch", syscall.EPERM, settingsOf(SetUserNSClone, "0"), "unprivileged_userns_clone is 0"},
		{"a filter", syscall.EPERM, settingsOf(SetSeccompMode, "2"), "probably by the seccomp filter"},
		{"nothing known", syscall.EPERM, nil, ""},
		{"EPERM is not the limit's", syscall.EPERM, settingsOf(SetMaxUserNS, "0"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkText(t, explainUserNS(tt.err, tt.s), tt.want) })
	}
}

func TestExplainInside(t *testing.T) {
	tests := []struct {
		name string
		v    Verdict
		s    Settings
		want string
	}{
		{"Ubuntu", No, settingsOf(SetAppArmorUserNS, "1"), "no capabilities"},
		{"AppArmor of another kind", No, settingsOf(SetLSMs, "apparmor", SetAppArmorLabel, "x (enforce)"), "perhaps by AppArmor (profile x (enforce))"},
		{"a filter", No, settingsOf(SetSeccompMode, "2"), "probably by the seccomp filter"},
		{"nothing known", No, nil, ""},
		{"not even refused", Unknown, settingsOf(SetAppArmorUserNS, "1"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkText(t, explainInside(tt.v, tt.s), tt.want) })
	}
}

func checkText(t *testing.T, got, want string) {
	t.Helper()
	if want == "" && got != "" || !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}

func TestHasLSM(t *testing.T) {
	s := settingsOf(SetLSMs, "lockdown,capability,landlock")
	if !s.HasLSM("landlock") || s.HasLSM("apparmor") || s.HasLSM("lock") || Settings(nil).HasLSM("") {
		t.Error("HasLSM does not look for whole names of a list that is known")
	}
}
