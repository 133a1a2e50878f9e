// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"strconv"
	"strings"
)

// mostDatabase bounds /etc/passwd and /etc/group.
const mostDatabase = 4 << 20

// names are the users and groups of one root. Only the files are read: names
// from elsewhere (LDAP, systemd's dynamic users) need libraries of that root.
type names struct {
	users, groups map[uint32]string
	// uidMap and gidMap are the reader's own: a number that they lack stands
	// for one that has none here.
	uidMap, gidMap []Mapping
}

// parseNames reads the form that passwd(5) and group(5) share: the name first,
// the number third. The first name of a number counts, as for getpwuid(3).
func parseNames(content string) map[uint32]string {
	out := map[uint32]string{}
	for line := range strings.Lines(content) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 4)
		if len(f) < 3 || f[0] == "" || f[0][0] == '#' || f[0][0] == '+' || f[0][0] == '-' {
			continue
		}
		id, err := strconv.ParseUint(f[2], 10, 32)
		if err != nil {
			continue
		}
		if _, again := out[uint32(id)]; !again {
			out[uint32(id)] = text(f[0])
		}
	}
	return out
}

func (n *names) user(id uint32) ID {
	return ID{ID: id, Name: n.users[id], Unmapped: n.uidMap != nil && !mapped(n.uidMap, id)}
}

func (n *names) group(id uint32) ID {
	return ID{ID: id, Name: n.groups[id], Unmapped: n.gidMap != nil && !mapped(n.gidMap, id)}
}

// inACL names whom an entry is about.
func (n *names) inACL(tag string, id uint32) ID {
	if tag == "user" {
		return n.user(id)
	}
	return n.group(id)
}
