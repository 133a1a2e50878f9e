// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// capNames are the capabilities by number (linux/capability.h).
const capNames = "chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable " +
	"net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace " +
	"sys_pacct sys_admin sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease audit_write audit_control " +
	"setfcap mac_override mac_admin syslog wake_alarm block_suspend audit_read perfmon bpf checkpoint_restore"

// capList names the capabilities of a set; a newer one than the table keeps
// its number.
func capList(set uint64) []string {
	out := []string{}
	names := strings.Fields(capNames)
	for n := range 64 {
		switch {
		case set&(1<<n) == 0:
		case n < len(names):
			out = append(out, "cap_"+names[n])
		default:
			out = append(out, "cap_"+strconv.Itoa(n))
		}
	}
	return out
}

// capSet reads a set as /proc/PID/status shows it.
func (s statusFile) capSet(field string) ([]string, error) {
	n, err := strconv.ParseUint(s[field], 16, 64)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s in the status of the process: %w", field, err)
	}
	return capList(n), nil
}

// securebitNames are the secure bits by number (linux/securebits.h).
var securebitNames = [...]string{
	"noroot", "noroot_locked", "no_setuid_fixup", "no_setuid_fixup_locked",
	"keep_caps", "keep_caps_locked", "no_cap_ambient_raise", "no_cap_ambient_raise_locked",
	"exec_restrict_file", "exec_restrict_file_locked", "exec_deny_interactive", "exec_deny_interactive_locked",
}

func securebitList(bits int) []string {
	out := []string{}
	for n, name := range securebitNames {
		if bits&(1<<n) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Revisions of the attribute security.capability (struct vfs_ns_cap_data,
// linux/capability.h), and its flag.
const (
	fileCapsRevision  = 0xff000000
	fileCapsV2        = 0x02000000
	fileCapsV3        = 0x03000000
	fileCapsEffective = 1
)

// parseFileCaps decodes the attribute security.capability.
func parseFileCaps(b []byte) (*FileCaps, error) {
	if len(b) < 20 {
		return nil, fmt.Errorf("cannot read file capabilities of %d bytes", len(b))
	}
	word := func(i int) uint64 { return uint64(binary.LittleEndian.Uint32(b[4*i:])) }
	f := &FileCaps{
		Permitted: capList(word(1) | word(3)<<32), Inheritable: capList(word(2) | word(4)<<32),
		Effective: word(0)&fileCapsEffective != 0,
	}
	switch word(0) & fileCapsRevision {
	case fileCapsV2:
	case fileCapsV3:
		if len(b) < 24 {
			return nil, fmt.Errorf("cannot read file capabilities of %d bytes", len(b))
		}
		root := uint32(word(5))
		f.RootUID = &root
	default:
		return nil, fmt.Errorf("cannot read file capabilities of revision %#x", word(0)&fileCapsRevision)
	}
	return f, nil
}
