// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"testing"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/policy"
)

// deviceHost has folders, and devices in /dev.
type deviceHost struct{ world }

func (d deviceHost) Resolve(name string) (plan.Object, error) {
	o := d.object(name)
	o.Device = !o.Dir && len(name) > 5 && name[:5] == "/dev/"
	o.Special = o.Device
	return o, nil
}

// TestReadableDevice: which grants a kernel can't enforce that has no right
// for ioctl on devices.
func TestReadableDevice(t *testing.T) {
	host := deviceHost{world{"/", "/p/", "/dev/", "/dev/dri/", "/dev/urandom", "/dev/null", "/dev/dri/card0", "/developer/"}}
	for _, c := range []struct {
		path string
		kind policy.Kind
		want string
	}{
		{"/dev/urandom", policy.Read, ""},
		{"/dev/null", policy.Read, ""},
		{"/dev/dri/card0", policy.Read, "/dev/dri/card0"},
		{"/dev/dri/card0", policy.Write, ""},
		{"/dev/dri", policy.Read, "/dev/dri"},
		{"/dev", policy.Read, "/dev"},
		{"/dev", policy.Write, ""},
		{"/", policy.Read, "/"},
		{"/developer", policy.Read, ""},
	} {
		rules := []policy.PathRule{{Path: c.path, Kind: c.kind}, {Path: "/p", Kind: policy.Write}}
		p, err := plan.Compile(&policy.Resolved{Rules: rules, WorkDir: "/p"}, "", host)
		if err != nil {
			t.Fatal(err)
		}
		if got := readableDevice(p.Tree); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.path, got, c.want)
		}
	}
}
