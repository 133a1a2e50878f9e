// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/policy"
)

// layer is a policy that adds to the workspace's.
func layer(change func(*policy.Policy)) []policy.Layer {
	p := policy.Policy{Extends: policy.Workspace}
	change(&p)
	return []policy.Layer{{Name: "t", Policy: p}}
}

// TestBounds: what is asked for is had as far as it is allowed. Beside each
// refusal stands the same without a bound, which is not refused.
func TestBounds(t *testing.T) {
	r := newRunner(t, nil)
	yes, large, small := true, int64(64), int64(32)
	for name, c := range map[string]struct {
		asked, bound  func(*policy.Policy)
		script        string
		free, bounded string // what it prints
	}{
		"a block of the bound": {
			func(*policy.Policy) {}, func(p *policy.Policy) { p.BlockedPaths = []string{"${WORK_DIR}/shut"} },
			`cat shut 2>/dev/null && echo read`, "text\nread\n", "",
		},
		"a block of the request": {
			func(p *policy.Policy) { p.BlockedWritePaths = []string{"${WORK_DIR}/shut"} }, func(*policy.Policy) {},
			`(echo x >> shut) 2>/dev/null || echo refused; cat shut`, "refused\ntext\n", "refused\ntext\n",
		},
		"a pattern of the bound": {
			func(*policy.Policy) {}, func(p *policy.Policy) { p.BlockedPaths = []string{"${WORK_DIR}/**/.env"} },
			`mkdir -p a; (echo x > a/.env) 2>/dev/null && echo made`, "made\n", "",
		},
		"a variable": {
			func(p *policy.Policy) { p.Env = &policy.Env{Pass: []string{"ODD"}} }, func(*policy.Policy) {},
			`echo $ODD`, "passed\n", "\n",
		},
		"a limit": {
			func(p *policy.Policy) { p.Limits = &policy.Limits{OpenFiles: &large} }, func(p *policy.Policy) { p.Limits = &policy.Limits{OpenFiles: &small} },
			`ulimit -n`, "64\n", "32\n",
		},
		"the network": {
			func(p *policy.Policy) { p.AllowNetwork = &yes }, func(*policy.Policy) {},
			`python3 -c 'import socket; socket.socket()' 2>/dev/null && echo socket`, "socket\n", "",
		},
	} {
		for _, bounded := range []string{"", "bounded"} {
			q := shell(t, c.script)
			q.Environ = append(q.Environ, "ODD=passed")
			if err := os.WriteFile(q.Dir+"/shut", []byte("text\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			want := c.free
			if q.Layers = layer(c.asked); bounded != "" {
				q.Bounds, want = layer(c.bound), c.bounded
			}
			res, out, errs, err := output(t, r, q)
			if err != nil || out != want || (res.Receipt.BoundDigest != "") != (bounded != "") {
				t.Errorf("%s %s: %q, want %q; %+v %v %s", name, bounded, out, want, res, err, errs)
			}
		}
	}
}

// TestBoundsRefuse: a path that is listed and can't be had stops the run, and
// the error tells nothing of what is there.
func TestBoundsRefuse(t *testing.T) {
	r := newRunner(t, nil)
	other := t.TempDir()
	for name, c := range map[string]struct {
		path func(dir string) string
		free error // what comes without a bound
	}{
		"another folder":     {func(string) string { return other }, nil},
		"a missing one":      {func(string) string { return other + "/missing" }, nil},
		"by ..":              {func(dir string) string { return dir + "/../" + filepath.Base(other) }, nil},
		"by a link":          {func(dir string) string { _ = os.Symlink(other, dir+"/link"); return dir + "/link" }, nil},
		"a part of it, more": {func(string) string { return "/etc" }, nil},
	} {
		for _, bounded := range []string{"", "bounded"} {
			q := shell(t, `echo ran`)
			path := c.path(q.Dir)
			q.Layers = layer(func(p *policy.Policy) { p.WritePaths = []string{path} })
			if bounded != "" {
				q.Bounds = layer(func(*policy.Policy) {})
			}
			res, out, _, err := output(t, r, q)
			if bounded == "" {
				if !errors.Is(err, c.free) || out != "ran\n" {
					t.Errorf("%s, no bound: %q %v", name, out, err)
				}
				continue
			}
			if !errors.Is(err, ambit.ErrPolicy) || res.Code != ambit.CodePolicy || out != "" || !strings.Contains(res.Error, "more than is allowed here") {
				t.Errorf("%s: %q %+v %v", name, out, res, err)
			}
		}
	}
	// What the bound has can be asked for.
	q := shell(t, `echo ran`)
	q.Layers = layer(func(p *policy.Policy) { p.WritePaths, p.ReadPaths = []string{q.Dir}, []string{"/usr"} })
	q.Bounds = layer(func(*policy.Policy) {})
	if _, out, _, err := output(t, r, q); err != nil || out != "ran\n" {
		t.Errorf("within the bound: %q %v", out, err)
	}
}
