// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

// FuzzRequest: what is sent is what arrives, whatever bytes it is made of.
func FuzzRequest(f *testing.F) {
	f.Add("echo", "A=b", "S", "value", "/tmp")
	f.Add("\xff\xfe", "\x80=\x81", "n", "\n\x01\xf0", "/\xc3\x28")
	f.Add("", "", "", "", "")
	f.Fuzz(func(t *testing.T, arg, variable, name, value, dir string) {
		q := &Request{Argv: []string{arg, arg + arg}, Environ: []string{variable}, Secrets: map[string]string{name: value}, Dir: dir,
			Layers: []policy.Layer{{Name: "l", Policy: policy.Policy{Extends: policy.Workspace}}}, Bounds: []policy.Layer{}}
		b, err := q.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeRequest(b)
		if err != nil || !reflect.DeepEqual(got, q) {
			t.Errorf("%+v, %v, sent %+v", got, err, q)
		}
		if got.Bounds == nil {
			t.Error("no bound is another one than an empty list")
		}
	})
}

// FuzzConn: bytes from the other side are a message or an error, and take no
// more memory than a message may.
func FuzzConn(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x11{\"kind\":\"cancel\"}"), uint8(3))
	f.Add([]byte("\xff\xff\xff\xff"), uint8(1))
	f.Add([]byte("\x00\x00\x00\x00"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		rest := bytes.NewReader(b)
		c := &Conn{Receive: func(p []byte) (int, []int, error) {
			n, err := rest.Read(p[:min(len(p), 1+int(step))])
			return n, nil, err
		}}
		for {
			m, _, err := c.Read()
			if err != nil {
				return
			}
			if m == nil || m.Kind.passed() != 0 {
				t.Fatalf("%+v came without its descriptors", m)
			}
		}
	})
}

func TestConnEnds(t *testing.T) {
	for text, want := range map[string]string{
		"": io.EOF.Error(), "\x00\x00": io.ErrUnexpectedEOF.Error(), "\x00\x00\x00\x05{}": io.ErrUnexpectedEOF.Error(),
		"\x01\x00\x00\x00": "too long", "\x00\x00\x00\x02x}": "cannot read a message", "\x00\x00\x00\x0e{\"kind\":\"run\"}": "0 descriptors came instead of 4",
	} {
		rest := strings.NewReader(text)
		c := &Conn{Receive: func(p []byte) (int, []int, error) { n, err := rest.Read(p); return n, nil, err }}
		if _, _, err := c.Read(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
