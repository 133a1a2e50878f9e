// SPDX-License-Identifier: Apache-2.0

package landlock

import (
	"fmt"
	"os"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/broker"
	"github.com/ambit-sandbox/ambit/internal/probe"
	"github.com/ambit-sandbox/ambit/internal/sys"
)

// allowStreams lets the command open its standard streams again: a script's
// "echo >/dev/stderr" opens what the link in /proc/self/fd leads to, a
// terminal or a file anywhere, and Landlock looks at that. The rule is on the
// very object, and gives no more than the open descriptor does. Pipes and
// sockets need none.
func (m *mechanisms) allowStreams(ruleset int, streams []*os.File) error {
	for _, f := range streams {
		rights, err := m.streamRights(f)
		if err != nil {
			return err
		}
		if rights == 0 {
			continue
		}
		pinned, err := sys.OpenPath(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
		if err != nil {
			return fmt.Errorf("cannot add a rule for %s: %w", f.Name(), err)
		}
		err = sys.LandlockAllow(ruleset, uint64(rights), pinned)
		_ = syscall.Close(pinned)
		if err != nil {
			return fmt.Errorf("cannot add a rule for %s: %w", f.Name(), err)
		}
	}
	return nil
}

// streamRights is what an open descriptor allows already. A file opened for
// writing outside of a domain can be cut and, as a device, take ioctls.
func (m *mechanisms) streamRights(f *os.File) (probe.FS, error) {
	access, regular, err := sys.OpenMode(int(f.Fd()))
	if err != nil || !regular {
		return 0, err
	}
	var rights probe.FS
	if access != syscall.O_WRONLY {
		rights |= probe.FSReadFile
	}
	if access != syscall.O_RDONLY {
		rights |= probe.FSWriteFile | probe.FSTruncate
	}
	return (rights | probe.FSIoctlDev) & m.rights.FS, nil
}

// identities returns the inodes of the streams: the tree does not grant them by
// their names, and the broker leaves opening them to the kernel all the same.
func identities(streams []*os.File) (map[broker.Inode]bool, error) {
	out := map[broker.Inode]bool{}
	for _, f := range streams {
		var st syscall.Stat_t
		if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
			return nil, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
		}
		out[broker.Inode{Dev: uint64(st.Dev), Ino: st.Ino}] = true
	}
	return out, nil
}
