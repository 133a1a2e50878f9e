// SPDX-License-Identifier: Apache-2.0

package policy

import "bytes"

// str passes a string, and judges its control characters and escapes: the
// parser would report them with the whole string, which may be a value that
// must not be shown.
func (s *scanner) str() *fault {
	start := s.at
	for i := start + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.at = i + 1
			return nil
		case c == '\n' || c == '\r':
			return &fault{start, "this string is not closed in its line", `add the missing ", or write \n for a line break`}
		case c < ' ':
			return &fault{i, "the string holds a control character", `write it as \u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15])}
		case c == '\\':
			n, f := escape(s.data, i)
			if f != nil {
				return f
			}
			i += n - 1
		}
	}
	return &fault{start, "this string is never closed", `add the missing "`}
}

// escape measures the escape sequence at an offset. Halves of surrogate pairs
// are refused: they have no UTF-8 form, and decoders replace them.
func escape(data []byte, at int) (int, *fault) {
	rest := data[at+1:]
	switch {
	case len(rest) == 0:
		return 1, nil
	case bytes.IndexByte([]byte(`"\/bfnrt`), rest[0]) >= 0:
		return 2, nil
	case rest[0] != 'u':
		return 0, &fault{at, `the string holds an unknown escape sequence`, `write \\ for a backslash`}
	}
	unit, ok := hex4(rest[1:])
	switch {
	case !ok:
		return 0, &fault{at, `\u must be followed by four hexadecimal digits`, `write \\ for a backslash`}
	case unit < 0xd800 || unit > 0xdfff:
		return 6, nil
	}
	if unit < 0xdc00 && bytes.HasPrefix(rest[5:], []byte(`\u`)) {
		if low, ok := hex4(rest[7:]); ok && low >= 0xdc00 && low <= 0xdfff {
			return 12, nil
		}
	}
	return 0, &fault{at, `the string holds half of a surrogate pair`, "write the character itself"}
}

func hex4(b []byte) (value int, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if digit < 0 || c < '0' {
			return 0, false
		}
		value = value<<4 | digit
	}
	return value, true
}
