// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"
	"strings"
)

// State tells whether a setting could be read.
type State string

const (
	StateSet        State = "set"        // it has a value
	StateAbsent     State = "absent"     // this system does not have it
	StateUnreadable State = "unreadable" // it may or may not be there
)

// Setting is one value of the host or of this process: evidence for people.
// No verdict rests on a setting alone.
type Setting struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Value string `json:"value,omitempty"`
	Err   error  `json:"-"` // why it is unreadable
}

// MarshalJSON adds the error as text.
func (s Setting) MarshalJSON() ([]byte, error) {
	type plain Setting // without this method
	out := struct {
		plain
		Error string `json:"error,omitempty"`
	}{plain: plain(s)}
	if s.Err != nil {
		out.Error = s.Err.Error()
	}
	return json.Marshal(out)
}

// Settings are the settings that were looked at, in a fixed order.
type Settings []Setting

// Names of settings that explanations refer to.
const (
	SetLSMs           = "lsm"
	SetAppArmorLabel  = "apparmor.label"
	SetSELinuxLabel   = "security.label"
	SetAppArmorUserNS = "kernel.apparmor_restrict_unprivileged_userns"
	SetUserNSClone    = "kernel.unprivileged_userns_clone"
	SetMaxUserNS      = "user.max_user_namespaces"
	SetSeccompMode    = "process.seccomp"
	SetSeccompFilters = "process.seccomp_filters"
	SetContainer      = "container"
)

// Get returns the value of a setting, and whether it has one.
func (s Settings) Get(name string) (value string, set bool) {
	for _, x := range s {
		if x.Name == name {
			return x.Value, x.State == StateSet
		}
	}
	return "", false
}

// HasLSM tells whether a security module is known to be active.
func (s Settings) HasLSM(name string) bool {
	list, known := s.Get(SetLSMs)
	if !known {
		return false
	}
	for active := range strings.SplitSeq(list, ",") {
		if active == name {
			return true
		}
	}
	return false
}

// filtered tells whether a seccomp filter is known to be on this process.
func (s Settings) filtered() bool {
	mode, _ := s.Get(SetSeccompMode)
	return mode == "2"
}
