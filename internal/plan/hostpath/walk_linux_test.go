// SPDX-License-Identifier: Apache-2.0

package hostpath

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-sandbox/ambit/internal/plan"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// TestWalkAsTheKernel: a walk leads to the object that the kernel's own lookup
// leads to, or to the same error, for names through links of all kinds.
func TestWalkAsTheKernel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	parts := []string{"a", "b", "c", "l1", "l2", "l3", "f", "..", ".", "gone"}
	name := func() string {
		var out []string
		for range 1 + rng.IntN(5) {
			out = append(out, parts[rng.IntN(len(parts))])
		}
		return strings.Join(out, "/")
	}
	for range 60 {
		dir := t.TempDir()
		for _, d := range []string{"a/b/c", "b/c", "c"} {
			if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for range 12 {
			target := name()
			if rng.IntN(3) == 0 {
				target = dir + "/" + target
			}
			at := filepath.Join(dir, []string{"", "a", "a/b", "b", "c"}[rng.IntN(5)], parts[3+rng.IntN(4)])
			_ = os.Symlink(target, at) // some names are taken
		}
		r := New()
		for range 60 {
			compareWithKernel(t, r, dir+"/"+name())
		}
		r.Close()
	}
}

func compareWithKernel(t *testing.T, r *Resolver, name string) {
	t.Helper()
	got, err := r.walk(name)
	fd, kernelErr := sys.OpenPath(name)
	if kernelErr == nil {
		defer func() { _ = syscall.Close(fd) }()
		want, describeErr := Describe(fd)
		if describeErr != nil {
			t.Fatal(describeErr)
		}
		got.Links = nil
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v, %v; the kernel finds %+v", name, got, err, want)
		}
		return
	}
	if missing := errors.Is(kernelErr, syscall.ENOENT); missing && (err == nil && !got.Exists || errors.Is(err, syscall.ENOENT)) {
		return
	}
	if errnoIn(err) != errnoIn(kernelErr) {
		t.Errorf("%s: %+v, %v; the kernel says %v", name, got, err, kernelErr)
	}
}

// doubtAll doubts every link below a directory.
type doubtAll string

func (d doubtAll) Doubts(link string, _ uint32) bool { return strings.HasPrefix(link, string(d)+"/") }

func (d doubtAll) Covers(name string) (string, bool) { return string(d), d.Doubts(name, 0) }

// TestLinks: the links on the way are named canonically, in their order, those
// of missing names too, and the doubtful ones are marked.
func TestLinks(t *testing.T) {
	dir := host(t)
	if err := os.Symlink("../link", dir+"/real/up"); err != nil {
		t.Fatal(err)
	}
	r := After(doubtAll(dir + "/real"))
	defer r.Close()
	for name, want := range map[string][]plan.Link{
		"real/sub": nil, "link": {{Path: dir + "/link"}}, "link/sub/new/deep": {{Path: dir + "/link"}},
		"real/up/sub":  {{Path: dir + "/real/up", Doubtful: true}, {Path: dir + "/link"}},
		"real/up/gone": {{Path: dir + "/real/up", Doubtful: true}, {Path: dir + "/link"}},
		"link/up":      {{Path: dir + "/link"}, {Path: dir + "/real/up", Doubtful: true}, {Path: dir + "/link"}},
	} {
		for range 2 { // the second time with what the first has learnt
			obj, err := r.Resolve(dir + "/" + name)
			if err != nil || !slices.Equal(obj.Links, want) {
				t.Errorf("%s: links %v, %v; want %v", name, obj.Links, err, want)
			}
		}
	}
}

// TestLinksRace: whatever a name is exchanged for while it is resolved, the
// links that are reported are those which led to the object.
func TestLinksRace(t *testing.T) {
	dir := host(t)
	flip, stop := dir+"/flip", make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Mkdir(flip, 0o755)
			_ = os.Remove(flip)
			_ = os.Symlink("real", flip)
			_ = os.Remove(flip)
		}
	})
	seen := map[string]int{}
	began := time.Now()
	// A busy machine may take longer to show the name both ways.
	for both := false; time.Since(began) < time.Second || !both && time.Since(began) < 30*time.Second; both = seen["real"] > 0 && seen["flip"] > 0 {
		r := New()
		obj, err := r.Resolve(flip)
		r.Close()
		switch {
		case err != nil: // nothing stood there, or a link was removed in between
			seen["error"]++
		case obj.Path == dir+"/real" && len(obj.Links) != 1:
			t.Fatalf("the link's target without the link: %+v", obj)
		case obj.Exists:
			seen[filepath.Base(obj.Path)]++
		}
	}
	close(stop)
	done.Wait()
	if seen["real"] == 0 || seen["flip"] == 0 {
		t.Errorf("control: the name was not seen both ways: %v", seen)
	}
}

// TestOpenRead: a file is opened by a doubtful name only where the policy
// grants what the name leads to.
func TestOpenRead(t *testing.T) {
	dir := host(t)
	r := After(doubtAll(dir))
	defer r.Close()
	granted := func(string) plan.Mode { return plan.Write }
	for _, c := range []struct {
		name  string
		modes Modes
		ok    bool
	}{
		{"real/file", Nothing, true}, {"link/file", Nothing, false}, {"link/file", granted, true}, {"real/../link/file", Nothing, false},
	} {
		f, err := r.OpenRead(dir+"/"+c.name, 0, c.modes)
		var led *LinkError
		if (err == nil) != c.ok || !c.ok && (!errors.As(err, &led) || led.Link != dir+"/link") {
			t.Errorf("%s: %v, want %v", c.name, err, c.ok)
		}
		if err == nil {
			_ = f.Close()
		}
		made, err := r.Create(dir+"/"+filepath.Dir(c.name)+"/new", 0o600, c.modes)
		if (err == nil) != c.ok {
			t.Errorf("%s: made %v, want %v", c.name, err, c.ok)
		}
		if err == nil {
			_ = errors.Join(made.Close(), os.Remove(dir+"/real/new"))
		}
	}
	if _, err := r.Create(dir+"/loop", 0o600, granted); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link as the file itself: %v", err)
	}
}

// TestCheckOwn: a file of Ambit's own lies where no command could write, and no
// link that one could have made leads to it.
func TestCheckOwn(t *testing.T) {
	dir := host(t)
	r := After(doubtAll(dir + "/real"))
	defer r.Close()
	if err := os.Symlink("../out", dir+"/real/out"); err != nil {
		t.Fatal(err)
	}
	var (
		led *LinkError
		in  *PlaceError
	)
	for name, want := range map[string]any{"file": nil, "missing/new": nil, "loop/x": nil, "link/file": &in, "real/new": &in, "real/file": &in, "real/out/x": &led} {
		switch err := r.CheckOwn(dir + "/" + name); {
		case want == nil && err != nil, want != nil && (err == nil || !errors.As(err, want)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
