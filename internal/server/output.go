// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/base64"
	"sync"
	"unicode/utf8"
)

// output keeps the beginning of a stream, and counts all of it. Writing never
// waits: a client that reads slowly does not slow the command.
type output struct {
	mu    sync.Mutex
	limit int64
	bytes int64
	kept  []byte
	taken int
	bell  func() // something was kept
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	o.bytes += int64(len(b))
	n := min(int64(len(b)), o.limit-int64(len(o.kept)))
	o.kept = append(o.kept, b[:n]...)
	o.mu.Unlock()
	if n > 0 && o.bell != nil {
		o.bell()
	}
	return len(b), nil
}

// take returns what is new since the last call; the beginning of a character
// stays for the next one, unless this is the last.
func (o *output) take(last bool) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.kept[o.taken:]
	if !last {
		b = b[:len(b)-partial(b)]
	}
	o.taken += len(b)
	return b
}

// partial counts the bytes at the end that may be the beginning of a
// character.
func partial(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

func (o *output) count() (bytes int64, truncated bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes, o.bytes > int64(len(o.kept))
}

// encode gives bytes the form that JSON can hold. What was cut off within a
// character loses its beginning.
func encode(b []byte, truncated bool) (text, encoding string) {
	if truncated {
		b = b[:len(b)-partial(b)]
	}
	if utf8.Valid(b) {
		return string(b), "utf-8"
	}
	return base64.StdEncoding.EncodeToString(b), "base64"
}
