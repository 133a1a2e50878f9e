// SPDX-License-Identifier: Apache-2.0

package statuspage

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Bounds, in characters, of a text in a table and of one on its own.
const (
	maxLine  = 300
	maxBlock = 8000
)

// line makes a text one line in which all is visible: a command could
// otherwise hide a part of itself, or turn the direction of what follows.
func line(s string) string { return visible(s, maxLine, "") }

// block leaves line breaks and tabs.
func block(s string) string { return visible(s, maxBlock, "\n\t") }

func visible(s string, most int, kept string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > most {
			fmt.Fprintf(&b, "… (%d bytes in all)", len(s))
			break
		}
		if strings.ContainsRune(kept, r) || unicode.IsGraphic(r) && (r == ' ' || !unicode.IsSpace(r)) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

// command is what was asked for: a text for the shell as it was sent, and
// arguments as one would have to type them.
func command(argv []string) string {
	if len(argv) == 3 && argv[0] == "/bin/sh" && argv[1] == "-c" {
		return argv[2]
	}
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+"
	words := make([]string, len(argv))
	for i, a := range argv {
		if words[i] = a; a == "" || strings.Trim(a, plain) != "" {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clock is a time as people read it.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// age is how long ago it was.
func age(now, t time.Time) string { return now.Sub(t).Round(time.Second).String() }

// milliseconds gives a time two or three digits.
func milliseconds(ms float64) string {
	d := time.Duration(ms*1000) * time.Microsecond
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
