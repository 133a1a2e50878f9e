// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// parseUnixTable reads /proc/net/unix by inode. Of a name that holds a line
// feed the rest is a line of its own, which has no inode.
func parseUnixTable(content string) map[uint64]SocketInfo {
	out := map[uint64]SocketInfo{}
	for line := range strings.Lines(content) {
		f := strings.SplitN(strings.Join(strings.Fields(line), " "), " ", 8)
		if len(f) < 7 || !strings.HasSuffix(f[0], ":") {
			continue
		}
		inode, err := strconv.ParseUint(f[6], 10, 64)
		flags, err2 := strconv.ParseUint(f[3], 16, 32)
		if err != nil || err2 != nil {
			continue
		}
		s := SocketInfo{Listening: flags&acceptsConnections != 0}
		if len(f) == 8 {
			s.Local = f[7]
		}
		out[inode] = s
	}
	return out
}

// acceptsConnections is __SO_ACCEPTCON (linux/net.h).
const acceptsConnections = 1 << 16

// listensAt says whether the table has a listener of this name.
func listensAt(table map[uint64]SocketInfo, name string) bool {
	for _, s := range table {
		if s.Listening && s.Local == name {
			return true
		}
	}
	return false
}

// stateListen is TCP_LISTEN (net/tcp_states.h).
const stateListen = "0A"

// parseInetTable reads /proc/net/tcp, udp and their like by inode.
func parseInetTable(content string) map[uint64]SocketInfo {
	out := map[uint64]SocketInfo{}
	for line := range strings.Lines(content) {
		f := strings.Fields(line)
		if len(f) < 10 || !strings.HasSuffix(f[0], ":") {
			continue
		}
		inode, err := strconv.ParseUint(f[9], 10, 64)
		local, _, err2 := parseInetAddress(f[1])
		remote, port, err3 := parseInetAddress(f[2])
		if err != nil || err2 != nil || err3 != nil || inode == 0 {
			continue
		}
		s := SocketInfo{Local: local, Listening: f[3] == stateListen}
		if port != 0 {
			s.Remote = remote
		}
		out[inode] = s
	}
	return out
}

// parseInetAddress reads "0100007F:1F90": words of an address as numbers of
// the machine's own order, and a port. Package net/netip would be a big thing
// to link for this.
func parseInetAddress(s string) (address string, port uint16, err error) {
	words, number, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(words)
	n, err2 := strconv.ParseUint(number, 16, 16)
	if err != nil || err2 != nil || len(b) != 4 && len(b) != 16 {
		return "", 0, fmt.Errorf("cannot read the address %q", text(s))
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	return inetText(b) + ":" + strconv.FormatUint(n, 10), uint16(n), nil
}

// inetText writes an address; one of IPv6 without leaving zeros out, but for
// the addresses that are mostly zeros.
func inetText(b []byte) string {
	const mapped = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"
	if rest, ok := strings.CutPrefix(string(b), mapped); ok {
		b = []byte(rest)
	}
	if len(b) == 4 {
		return fmt.Sprintf("%d.%d.%d.%d", b[0], b[1], b[2], b[3])
	}
	if strings.Trim(string(b[:15]), "\x00") == "" && b[15] < 2 {
		return "[::" + strings.Trim(strconv.Itoa(int(b[15])), "0") + "]"
	}
	groups := make([]string, 8)
	for i := range groups {
		groups[i] = strconv.FormatUint(uint64(binary.BigEndian.Uint16(b[2*i:])), 16)
	}
	return "[" + strings.Join(groups, ":") + "]"
}
