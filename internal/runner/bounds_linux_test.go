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
	other, link := t.TempDir(), t.TempDir()+"/link"
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path func(dir string) string
		says string
	}{
		"another folder":     {func(string) string { return other }, "more than is allowed here"},
		"a missing one":      {func(string) string { return other + "/missing" }, "more than is allowed here"},
		"by ..":              {func(dir string) string { return dir + "/../" + filepath.Base(other) }, "more than is allowed here"},
		"by a link":          {func(string) string { return link }, "more than is allowed here"},
		"by a link inside":   {func(dir string) string { _ = os.Symlink(other, dir+"/link"); return dir + "/link" }, "a sandboxed command could have made"},
		"a part of it, more": {func(string) string { return "/etc" }, "more than is allowed here"},
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
				// Inside, a command could lead it elsewhere before the next run.
				if ran := err == nil && out == "ran\n"; ran != (name != "by a link inside") {
					t.Errorf("%s, no bound: %q %v", name, out, err)
				}
				continue
			}
			if !errors.Is(err, ambit.ErrPolicy) || res.Code != ambit.CodePolicy || out != "" || !strings.Contains(res.Error, c.says) {
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

// TestBoundsRefuseMore: the network, and a limit above the bound's, stop the
// run if they are asked for. Beside each stands the same without the bound.
func TestBoundsRefuseMore(t *testing.T) {
	r := newRunner(t, nil)
	yes, large, small := true, int64(64), int64(32)
	for name, c := range map[string]struct {
		asked, bound       func(*policy.Policy)
		script, free, says string
	}{
		"a limit": {
			func(p *policy.Policy) { p.Limits = &policy.Limits{OpenFiles: &large} }, func(p *policy.Policy) { p.Limits = &policy.Limits{OpenFiles: &small} },
			`ulimit -n`, "64\n", "limits.open_files above 32",
		},
		"the network": {
			func(p *policy.Policy) { p.AllowNetwork = &yes }, func(*policy.Policy) {},
			`python3 -c 'import socket; socket.socket()' && echo socket`, "socket\n", "the network",
		},
	} {
		q := shell(t, c.script)
		q.Layers = layer(c.asked)
		if _, out, errs, err := output(t, r, q); err != nil || out != c.free {
			t.Errorf("%s, no bound: %q, %v %s", name, out, err, errs)
		}
		q.Bounds = layer(c.bound)
		res, out, _, err := output(t, r, q)
		if !errors.Is(err, ambit.ErrPolicy) || res.Code != ambit.CodePolicy || out != "" || !strings.Contains(res.Error, "more than is allowed here: "+c.says) {
			t.Errorf("%s: %q %+v %v", name, out, res, err)
		}
		// What is not asked for is the bound's.
		q.Layers = layer(func(*policy.Policy) {})
		q.Argv = []string{"/bin/sh", "-c", "ulimit -n; python3 -c 'import socket; socket.socket()' 2>/dev/null || echo closed"}
		if _, out, errs, err := output(t, r, q); err != nil || !strings.HasSuffix(out, "closed\n") || (name == "a limit") != strings.HasPrefix(out, "32\n") {
			t.Errorf("%s, not asked for: %q, %v %s", name, out, err, errs)
		}
	}
}
