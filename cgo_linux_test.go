// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestWithC: a program that links the C library can run commands in each of
// the ways, and can give up its own rights as one that does not.
func TestWithC(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no C compiler here: ", err)
	}
	exe := filepath.Join(t.TempDir(), "cgo")
	build := exec.Command("go", "build", "-o", exe, "./testdata/cgo")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, how := range []string{"plain", "dedicated", "prepared"} {
		for range 5 { // threads come when they are needed
			c := exec.Command(exe, how)
			c.Dir = t.TempDir()
			if out, err := c.CombinedOutput(); err != nil || string(out) != how+"\n" {
				t.Fatalf("%s: %v\n%.2000s", how, err, out)
			}
		}
	}
}
