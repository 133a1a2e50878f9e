// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape makes text of other processes safe to print, without loss: what is
// printable stays, a backslash is doubled, and every byte of anything else
// (control characters, marks that turn the direction of text, bytes that are
// no UTF-8) becomes \xNN.
func Escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == utf8.RuneError && n == 1, !strconv.IsPrint(r):
			for _, c := range []byte(s[i : i+n]) {
				b.WriteString(`\x`)
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

const hexDigits = "0123456789abcdef"

// Unescape undoes [Escape]. What Escape can't have made stays as it is.
func Unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if s[i+1] == '\\' {
			b.WriteByte('\\')
			i++
			continue
		}
		if s[i+1] == 'x' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte('\\')
	}
	return b.String()
}

// mostText bounds one text: longer ones are cut, and end in an ellipsis.
const mostText = 4096

// text escapes and bounds.
func text(s string) string {
	if len(s) > mostText {
		return Escape(s[:mostText]) + "…"
	}
	return Escape(s)
}

// texts escapes each of a list.
func texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}
