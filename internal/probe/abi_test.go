// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRightsOf holds the table against the masks that linux/landlock.h of each
// release ends in.
func TestRightsOf(t *testing.T) {
	tests := []struct {
		abi  int
		want Rights
	}{
		{-1, Rights{}},
		{0, Rights{}},
		{1, Rights{FS: 0x1fff}},
		{2, Rights{FS: 0x3fff}},
		{3, Rights{FS: 0x7fff}},
		{4, Rights{FS: 0x7fff, Net: 0x3}},
		{5, Rights{FS: 0xffff, Net: 0x3}},
		{6, Rights{FS: 0xffff, Net: 0x3, Scope: 0x3}},
		{7, Rights{FS: 0xffff, Net: 0x3, Scope: 0x3, Restrict: 0x7}},
		{8, Rights{FS: 0xffff, Net: 0x3, Scope: 0x3, Restrict: 0xf}},
		{9, Rights{FS: 0x1ffff, Net: 0x3, Scope: 0x3, Restrict: 0xf}},
		{10, Rights{FS: 0x1ffff, Net: 0xf, Scope: 0x3, Restrict: 0xf, AddRule: 1}},
		{11, Rights{FS: 0x1ffff, Net: 0xf, Scope: 0x3, Restrict: 0x1f, AddRule: 1}},
		{1000, Rights{FS: 0x1ffff, Net: 0xf, Scope: 0x3, Restrict: 0x1f, AddRule: 1}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, RightsOf(tt.abi)); diff != "" {
			t.Errorf("RightsOf(%d), -want +got:\n%s", tt.abi, diff)
		}
	}
	if NewestABI() != 11 {
		t.Errorf("NewestABI() = %d: the table above ends with 11", NewestABI())
	}
}

func TestABIOf(t *testing.T) {
	tests := []struct {
		want  Rights
		abi   int
		since string
	}{
		{Rights{}, 1, "5.13"},
		{Rights{FS: FSMakeSym}, 1, "5.13"},
		{Rights{FS: FSRefer}, 2, "5.19"},
		{Rights{FS: FSTruncate, Net: NetBindTCP}, 4, "6.7"},
		{Rights{Scope: ScopeSignal}, 6, "6.12"},
		{Rights{Restrict: RestrictLogNewExecOn}, 7, "6.15"},
		{Rights{FS: FSResolveUnix}, 9, "7.1"},
		{Rights{Restrict: RestrictNoNewPrivs}, 11, "7.3"},
		{Rights{FS: 1 << 40}, 0, ""},
	}
	for _, tt := range tests {
		if abi, since := abiOf(tt.want); abi != tt.abi || since != tt.since {
			t.Errorf("abiOf(%v) = %d, %q, want %d, %q", tt.want, abi, since, tt.abi, tt.since)
		}
	}
}

// TestEveryRightHasAName keeps the name tables as long as the newest masks.
func TestEveryRightHasAName(t *testing.T) {
	all := RightsOf(NewestABI())
	for _, tt := range []struct {
		mask  uint64
		names []string
	}{
		{uint64(all.FS), fsNames},
		{uint64(all.Net), netNames},
		{uint64(all.Scope), scopeNames},
		{uint64(all.Restrict), restrictNames},
		{uint64(all.AddRule), addRuleNames},
	} {
		if full := uint64(1)<<len(tt.names) - 1; tt.mask != full {
			t.Errorf("mask %#x has other bits than the names %v", tt.mask, tt.names)
		}
	}
}

func TestMaskStrings(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{FS(0).String(), "none"},
		{(FSExecute | FSReadDir | FSResolveUnix).String(), "execute,read_dir,resolve_unix"},
		{(FSRefer | 1<<63).String(), "refer,unknown"},
		{NetConnectSendUDP.String(), "connect_send_udp"},
		{(ScopeAbstractUnix | ScopeSignal).String(), "abstract_unix_socket,signal"},
		{RestrictTSync.String(), "tsync"},
		{AddRuleQuiet.String(), "quiet"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}
