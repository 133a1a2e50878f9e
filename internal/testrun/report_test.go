// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// printed is what `go test -json` prints for a package with a test of each
// kind, and for one that doesn't build.
const printed = `
{"Action":"start","Package":"github.com/ambit-sandbox/ambit/p"}
{"Action":"run","Package":"github.com/ambit-sandbox/ambit/p","Test":"TestGood"}
{"Action":"output","Package":"github.com/ambit-sandbox/ambit/p","Test":"TestGood","Output":"not shown\n"}
{"Action":"pass","Package":"github.com/ambit-sandbox/ambit/p","Test":"TestGood"}
{"Action":"output","Package":"github.com/ambit-sandbox/ambit/p","Test":"TestGone/sub","Output":"=== RUN   TestGone/sub\n"}
{"Action":"output","Package":"github.com/ambit-sandbox/ambit/p","Test":"TestGone/sub","Output":"    p_test.go:7: no root\n"}
{"Action":"output","Package":"github.com/ambit-sandbox/ambit/p","Test":"TestGone/sub","Output":"    --- SKIP: TestGone/sub (0.00s)\n"}
{"Action":"skip","Package":"github.com/ambit-sandbox/ambit/p","Test":"TestGone/sub"}
{"Action":"output","Package":"github.com/ambit-sandbox/ambit/p","Output":"ok  \tgithub.com/ambit-sandbox/ambit/p\t0.1s\n"}
{"Action":"pass","Package":"github.com/ambit-sandbox/ambit/p"}
`

const failing = `
{"Action":"output","Package":"q","Test":"TestBad","Output":"    q_test.go:7: wrong\n"}
{"Action":"fail","Package":"q","Test":"TestBad"}
{"Action":"output","Package":"q","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"q","Output":"FAIL\tq\t0.1s\n"}
{"Action":"fail","Package":"q"}
{"ImportPath":"r","Action":"build-output","Output":"r.go:1: no\n"}
`

// judge reports on what go test printed.
func judge(t *testing.T, printed, expected string) (string, error) {
	t.Helper()
	known, err := parseExpected(expected)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r := newReport(&out)
	if err := read(strings.NewReader(printed), r); err != nil {
		t.Fatal(err)
	}
	err = r.close(known)
	return out.String(), err
}

func TestExpectedSkip(t *testing.T) {
	out, err := judge(t, printed, "p TestGone for lack of root # as here\n")
	want := "ok  \tgithub.com/ambit-sandbox/ambit/p\t0.1s\n" +
		"skipped (for lack of root): p TestGone/sub: p_test.go:7: no root\n1 passed, 0 failed, 1 skipped\n"
	if err != nil || out != want {
		t.Errorf("%v, printed:\n%s", err, out)
	}
}

func TestUnexpectedSkip(t *testing.T) {
	out, err := judge(t, printed, "other TestGone for lack of root\np TestOther for lack of root")
	if err == nil || !strings.Contains(err.Error(), "1 skips are not in") || !strings.Contains(out, "skipped (NOT EXPECTED): p TestGone/sub: p_test.go:7: no root\n") {
		t.Errorf("%v, printed:\n%s", err, out)
	}
}

// TestFailures: what failed, what did not come to an end, and what did not
// build is shown. That it failed is go test's own exit status.
func TestFailures(t *testing.T) {
	out, err := judge(t, failing, "")
	want := "    q_test.go:7: wrong\npanic: test timed out\nFAIL\tq\t0.1s\nr.go:1: no\n0 passed, 1 failed, 0 skipped\n"
	if err == nil || out != want {
		t.Errorf("%v, printed:\n%s", err, out)
	}
}

func TestNotJSON(t *testing.T) {
	if err := read(strings.NewReader("{} no"), newReport(&strings.Builder{})); err == nil {
		t.Error("no error")
	}
	if _, err := parseExpected("p TestGone"); err == nil {
		t.Error("a skip without a reason is expected")
	}
}

// TestExpectedTests: each test that may be skipped is there.
func TestExpectedTests(t *testing.T) {
	expected, err := parseExpected(expectedSkips)
	if err != nil || len(expected) == 0 {
		t.Fatalf("%d, %v", len(expected), err)
	}
	for at := range expected {
		if !declared(t, filepath.Join("../..", at.pkg), at.test) {
			t.Errorf("there is no %s", at)
		}
	}
}

func declared(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(dir + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+test+"(t *testing.T) {\n") {
			return true
		}
	}
	return false
}
