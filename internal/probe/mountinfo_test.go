// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mountinfo = `21 26 0:20 / /proc rw,relatime shared:5 - proc proc rw,hidepid=invisible,subset=pid
22 26 0:21 / /with\040space\134 rw - tmpfs none rw,size=4k
no mount line
23 26 0:22 /a rw
40 30 0:37 /user.slice /sys/fs/cgroup rw,nosuid shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate
`

func TestMountsOf(t *testing.T) {
	want := []mountLine{
		{"/", "/proc", "proc", "rw,hidepid=invisible,subset=pid"},
		{"/", `/with space\`, "tmpfs", "rw,size=4k"},
		{"/user.slice", "/sys/fs/cgroup", "cgroup2", "rw,nsdelegate"},
	}
	got := slices.Collect(mountsOf(mountinfo))
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(mountLine{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for m := range mountsOf(mountinfo) { // a reader may stop early
		if m.point != "/proc" {
			t.Errorf("first mount: %+v", m)
		}
		break
	}
}
