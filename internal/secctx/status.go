// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"strconv"
	"strings"
)

// statusFile is /proc/PID/status (proc_pid_status(5)) by field. The kernel
// escapes the line feed in the only field that others choose, Name.
type statusFile map[string]string

func parseStatus(content string) statusFile {
	s := statusFile{}
	for line := range strings.Lines(content) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			if _, again := s[name]; !again {
				s[name] = strings.TrimSpace(value)
			}
		}
	}
	return s
}

// mostGroups is NGROUPS_MAX (linux/limits.h).
const mostGroups = 65536

// numbers returns the decimal numbers of a field.
func (s statusFile) numbers(field string) ([]uint32, error) {
	value, ok := s[field]
	if !ok {
		return nil, fmt.Errorf("cannot find %s in the status of the process", field)
	}
	var out []uint32
	for word := range strings.FieldsSeq(value) {
		n, err := strconv.ParseUint(word, 10, 32)
		if err != nil || len(out) >= mostGroups {
			return nil, fmt.Errorf("cannot read %s in the status of the process: %q", field, text(value[:min(len(value), 80)]))
		}
		out = append(out, uint32(n))
	}
	return out, nil
}

// identity returns what makes a process another one for the kernel: it is
// compared before and after.
func (s statusFile) identity() string {
	var b strings.Builder
	for _, f := range [...]string{"Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Umask"} {
		b.WriteString(s[f] + "\n")
	}
	return b.String()
}

// parseStat reads the state, the parent, the group, and the number and foreground
// group of the terminal. The second field is the program's name in brackets
// and may hold anything, so that counting begins behind the last bracket.
func parseStat(content string) (s statFile, err error) {
	i := strings.LastIndexByte(content, ')')
	if i < 0 {
		return s, fmt.Errorf("cannot read the stat of the process: %q", text(content[:min(len(content), 80)]))
	}
	fields := strings.Fields(content[i+1:])
	if len(fields) < 20 {
		return s, fmt.Errorf("cannot read the stat of the process: it has %d fields", len(fields)+2)
	}
	n := make([]int, 6)
	for i := range n[1:] {
		if n[i+1], err = strconv.Atoi(fields[i+1]); err != nil {
			return s, fmt.Errorf("cannot read the stat of the process: %w", err)
		}
	}
	return statFile{state: fields[0], parent: n[1], group: n[2], terminal: n[4], foreground: n[5]}, nil
}

// statFile is what is used of /proc/PID/stat.
type statFile struct {
	state                               string
	parent, group, terminal, foreground int
}
