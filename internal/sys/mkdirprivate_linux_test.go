// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
)

// TestMkdirPrivate makes folders from many threads under umasks that give too
// much and too little; each comes out as the owner's alone, and the umask,
// which is the whole process's, is what it was.
func TestMkdirPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	for _, mask := range []int{0, 0o022, 0o777} {
		dir := t.TempDir()
		syscall.Umask(mask)
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				for j := range 50 {
					name := dir + "/" + strconv.Itoa(i) + "-" + strconv.Itoa(j)
					if err := MkdirPrivate(name); err != nil {
						t.Error(err)
						return
					}
					if st, err := os.Stat(name); err != nil || st.Mode() != os.ModeDir|0o700 {
						t.Errorf("umask %o: %v, %v", mask, st, err)
					}
				}
			})
		}
		all.Wait()
		if now := syscall.Umask(0o022); now != mask {
			t.Errorf("the umask was %o and is %o", mask, now)
		}
		if err := MkdirPrivate(dir + "/0-0"); !errors.Is(err, syscall.EEXIST) {
			t.Errorf("a folder that is there: %v", err)
		}
	}
}
