// SPDX-License-Identifier: Apache-2.0

// Package redact replaces the values of secrets in text and in streams.
package redact

import (
	"bytes"
	"io"
	"sort"
)

// secretText is a secret's value and what is shown in its place.
type secretText struct{ value, shown []byte }

// Redactor replaces the values of secrets.
type Redactor struct {
	secrets []secretText // longest first: one may hold another
	first   [256]bool
}

// New knows values by the names that are shown in their places.
func New(values map[string]string) *Redactor {
	r := &Redactor{}
	for name, v := range values {
		if v != "" {
			r.secrets = append(r.secrets, secretText{[]byte(v), []byte("[secret " + name + "]")})
			r.first[v[0]] = true
		}
	}
	sort.Slice(r.secrets, func(i, j int) bool {
		a, b := r.secrets[i], r.secrets[j]
		if len(a.value) != len(b.value) {
			return len(a.value) > len(b.value)
		}
		return bytes.Compare(a.shown, b.shown) < 0
	})
	return r
}

// Text replaces the values in a whole text.
func (r *Redactor) Text(s string) string {
	var b bytes.Buffer
	w := r.Writer(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

// Writer replaces the values in a stream, across the borders of
// what is written: what may be a value's beginning waits for what follows.
type Writer struct {
	by      *Redactor
	to      io.Writer
	pending []byte
}

// Writer returns a writer that passes on to another one. It must be closed in
// the end, which does not close the other one.
func (r *Redactor) Writer(to io.Writer) *Writer { return &Writer{by: r, to: to} }

// Write implements [io.Writer].
func (w *Writer) Write(b []byte) (int, error) {
	if len(w.by.secrets) == 0 {
		return w.to.Write(b)
	}
	return len(b), w.pass(append(w.pending, b...))
}

func (w *Writer) pass(buf []byte) error {
	var out []byte
	i := 0
scan:
	for i < len(buf) {
		if w.by.first[buf[i]] {
			rest := buf[i:]
			for _, s := range w.by.secrets {
				if bytes.HasPrefix(rest, s.value) {
					out = append(out, s.shown...)
					i += len(s.value)
					continue scan
				}
				if len(rest) < len(s.value) && bytes.HasPrefix(s.value, rest) {
					break scan
				}
			}
		}
		out = append(out, buf[i])
		i++
	}
	w.pending = bytes.Clone(buf[i:])
	_, err := w.to.Write(out)
	return err
}

// Close passes on what waits. A value that is still incomplete may have begun
// within it, and shorter ones may be complete.
func (w *Writer) Close() error {
	for len(w.pending) > 0 {
		rest := w.pending
		w.pending = nil
		shown, n := rest[:1], 1
		for _, s := range w.by.secrets {
			if bytes.HasPrefix(rest, s.value) {
				shown, n = s.shown, len(s.value)
				break
			}
		}
		if _, err := w.to.Write(shown); err != nil {
			return err
		}
		if err := w.pass(rest[n:]); err != nil {
			return err
		}
	}
	return nil
}
