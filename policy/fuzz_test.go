// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzDecode: no text makes Decode panic; an error is an *Error that points
// into the text; a policy comes back from its own encoding as it was, and
// resolves with the same outcome.
func FuzzDecode(f *testing.F) {
	f.Add(everything)
	f.Add(`{"env":{"set":{"A":"\ud83d\ude00"}},"secrets":{"B":{"fd":3}}} // x`)
	f.Add(`{"read_paths":["~/a","${TMPDIR}","/$${"],"limits":{"timeout":"1.5µs","processes":1}}`)
	f.Add("{/**/\"strict\":tru")
	f.Add(`{"blocked_paths":["~/**/.env","/a/$*?","${WORK_DIR}/*"],"blocked_write_paths":["/**/x"]}`)
	f.Add(`{"a":[[[{"b":"\u00`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Decode("p.json", []byte(text))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, ErrInvalid) || e.Msg == "" {
				t.Fatalf("got %#v", err)
			}
			if e.Line < 1 || e.Column < 1 || e.Column > len(text)+1 {
				t.Fatalf("%v is not in the text", e)
			}
			return
		}
		encoded, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode("p.json", encoded)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, back); diff != "" {
			t.Fatalf("-first +second:\n%s\n%s", diff, encoded)
		}
		sameOutcome(t, p, back)
	})
}

// sameOutcome resolves two equal policies.
func sameOutcome(t *testing.T, a, b Policy) {
	ra, errA := Resolve([]Layer{layer("p", a)}, vars)
	rb, errB := Resolve([]Layer{layer("p", b)}, vars)
	if (errA == nil) != (errB == nil) || errA != nil && errA.Error() != errB.Error() {
		t.Fatalf("%v, %v", errA, errB)
	}
	if errA == nil && Digest(ra) != Digest(rb) {
		t.Fatal("the digests differ")
	}
}

// FuzzPath: a path that passes resolves to one that is absolute, clean and,
// written literally, resolves to itself.
func FuzzPath(f *testing.F) {
	for _, path := range []string{"/", "~", "~/x", "${HOME}", "${WORK_DIR}/..//.", "/a\xff\n", "/$${", "//", "/./.", "$${HOME}"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		once := func(path string) string {
			r, err := Resolve([]Layer{bare, layer("f", Policy{ReadPaths: []string{path}})}, vars)
			if err != nil {
				return ""
			}
			return r.Rules[0].Path
		}
		got := once(path)
		if got == "" {
			return
		}
		if got[0] != '/' || !isClean(got) {
			t.Fatalf("%q resolves to %q", path, got)
		}
		if again := once(Literal(got)); again != got {
			t.Fatalf("%q resolves to %q and then to %q", path, got, again)
		}
	})
}

// FuzzPattern: a block entry that passes resolves to a clean absolute text that
// resolves to itself, and comes apart into its base and at least one part.
func FuzzPattern(f *testing.F) {
	for _, path := range []string{"/*", "~/**/.env", "${WORK_DIR}/$*?//.", "/a/../**/b", "/$${*/$$*", "/x/**/**/?"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		once := func(path string) *PathRule {
			r, err := Resolve([]Layer{bare, layer("f", Policy{BlockedPaths: []string{path}})}, vars)
			if err != nil {
				return nil
			}
			return &r.Rules[0]
		}
		got := once(path)
		if got == nil || !got.Pattern {
			return
		}
		if !isClean(got.Path) {
			t.Fatalf("%q resolves to %q", path, got.Path)
		}
		if again := once(got.Path); again == nil || *again != *got {
			t.Fatalf("%q resolves to %v and then to %v", path, got, again)
		}
		p := ParsePattern(got.Path)
		if len(p.Parts) == 0 || p.Parts[len(p.Parts)-1].Deep() || !isClean(p.Base) {
			t.Fatalf("%q comes apart as %v", got.Path, p)
		}
	})
}
