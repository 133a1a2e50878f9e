// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// hasRoom reports whether the caller can take one more descriptor: 0, or
// EMFILE. It is asked before an open that can't be undone. Making the file,
// handing it over, and removing it again where that fails, would show it to
// others, and could remove what somebody else has put under the name since; a
// placeholder in the caller's table could not be taken out again. So the
// answer is not certain where another thread of the caller takes the last
// number at this very moment: then the file is made, and the answer EMFILE.
//
// A table that is smaller than the limit grows (expand_files in fs/file.c), so
// most callers cost no look at their descriptors.
func (t *task) hasRoom() syscall.Errno {
	limit, errno := sys.DescriptorLimit(t.tid)
	if errno != 0 {
		return closed(errno)
	}
	if t.status == "" {
		if t.status, errno = t.readStatus(); errno != 0 {
			return errno
		}
	}
	if size, ok := tableSize(t.status); ok && size < limit {
		return 0
	}
	taken, errno := sys.CountDescriptors(t.b.proc, t.proc("fd"), limit)
	switch {
	case errno != 0:
		return closed(errno)
	case taken >= limit:
		return syscall.EMFILE
	}
	return 0
}

// tableSize reads how many descriptors fit into a process's table as it is
// (proc_pid_status(5), FDSize).
func tableSize(status string) (uint64, bool) {
	_, after, _ := strings.Cut(status, "\nFDSize:\t")
	line, _, _ := strings.Cut(after, "\n")
	n, err := strconv.ParseUint(line, 10, 64)
	return n, err == nil
}
