// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"strconv"
	"strings"
)

// parseMountinfo reads a mountinfo file (proc_pid_mountinfo(5)), in its order.
// Names stay as they are, not escaped. A line of another form is an error, and
// what could be read is returned with it.
func parseMountinfo(content string) (mounts []Mount, err error) {
	for line := range strings.Lines(content) {
		m, ok := parseMount(strings.TrimSuffix(line, "\n"))
		if !ok {
			err = fmt.Errorf("cannot read a line of mountinfo: %q", text(line))
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts, err
}

func parseMount(line string) (m Mount, ok bool) {
	left, right, ok := strings.Cut(line, " - ")
	a, b := strings.Split(left, " "), strings.Split(right, " ")
	if !ok || len(a) < 6 || len(b) < 3 {
		return m, false
	}
	id, err1 := strconv.Atoi(a[0])
	parent, err2 := strconv.Atoi(a[1])
	if err1 != nil || err2 != nil {
		return m, false
	}
	return Mount{
		ID: id, Parent: parent, Device: a[2], Root: fromOctal(a[3]), Point: fromOctal(a[4]),
		Options: strings.Split(a[5], ","), Propagation: a[6:len(a):len(a)],
		Type: b[0], Source: fromOctal(b[1]), Super: strings.Split(fromOctal(strings.Join(b[2:], " ")), ","),
	}, true
}

// fromOctal turns the escapes \NNN of mountinfo back into bytes.
func fromOctal(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// shown makes a mount safe to print. Some file systems take passwords in the
// address of their source.
func (m Mount) shown() Mount {
	m.Device, m.Root, m.Point, m.Type = text(m.Device), text(m.Root), text(m.Point), text(m.Type)
	m.Source = text(hideURL(m.Source))
	m.Options, m.Super, m.Propagation = texts(m.Options), texts(hideSecrets(m.Super)), texts(m.Propagation)
	return m
}
