// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"iter"
	"strings"
)

// mountLine is what the probe needs of a line of /proc/self/mountinfo.
type mountLine struct {
	root, point, fstype, super string
}

// mountsOf yields the mounts of a mountinfo file (proc_pid_mountinfo(5)), in
// its order; lines of another form are left out.
func mountsOf(mountinfo string) iter.Seq[mountLine] {
	return func(yield func(mountLine) bool) {
		for line := range strings.Lines(mountinfo) {
			left, right, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
			a, b := strings.Split(left, " "), strings.Split(right, " ")
			if !ok || len(a) < 6 || len(b) < 3 {
				continue
			}
			if !yield(mountLine{root: unescape(a[3]), point: unescape(a[4]), fstype: b[0], super: b[2]}) {
				return
			}
		}
	}
}

// unescape turns the octal escapes of mountinfo back into bytes.
func unescape(s string) string {
	for _, e := range [...][2]string{{`\040`, " "}, {`\011`, "\t"}, {`\012`, "\n"}, {`\134`, `\`}} {
		s = strings.ReplaceAll(s, e[0], e[1])
	}
	return s
}
