// SPDX-License-Identifier: Apache-2.0

package denial

import "strings"

// quote makes a word of a shell: plain where it can be, and without a byte
// that a terminal could take for a command ("$'...'" as in Bash and POSIX 2024).
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("/._-+=:,@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	odd := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' || c >= 0x7f:
			odd = true
			const hex = "0123456789abcdef"
			b.WriteString(`\x` + string(hex[c>>4]) + string(hex[c&15]))
		case c == '\'' || c == '\\':
			odd = true
			b.WriteString(`\` + string(c))
		default:
			b.WriteByte(c)
		}
	}
	if odd {
		return "$'" + b.String() + "'"
	}
	return "'" + s + "'"
}
