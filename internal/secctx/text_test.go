// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain äé世": "plain äé世", `a\b`: `a\\b`, "a\nb": `a\x0ab`, "\x1b[31m": `\x1b[31m`, "\xff": `\xff`,
		"\u009b2J": `\xc2\x9b2J`, "a\u202eb": `a\xe2\x80\xaeb`, "": "", "a b": "a b",
	} {
		if got := Escape(in); got != want || Unescape(got) != in {
			t.Errorf("%q: got %q, and back %q", in, got, Unescape(got))
		}
	}
	for _, odd := range []string{`\`, `\x`, `\xz`, `\xzz`, `a\q`} {
		if got := Unescape(odd); got != odd {
			t.Errorf("%q became %q", odd, got)
		}
	}
}

// TestSecretArguments: what looks like a secret does not get into a context,
// and what does not is kept.
func TestSecretArguments(t *testing.T) {
	got := argumentsOf(strings.Join([]string{
		"curl", "-H", "Authorization: Bearer s3cr3t", "--token", "s3cr3t", "--password=s3cr3t", "API_KEY=s3cr3t", "https://me:s3cr3t@host/x?y",
		"ftp://u:p@ss:s3cr3t@host", "https://host/a:b@c", "--verbose", "PATH=/bin", "--tokenizer=x", "make", "",
	}, "\x00") + "\x00")
	if b, _ := json.Marshal(got); strings.Contains(string(b), "s3cr3t") {
		t.Errorf("a secret is in %s", b)
	}
	for _, kept := range []string{"curl", "https://host/a:b@c", "--verbose", "PATH=/bin", "make", "https://me:[hidden]@host/x?y", "--password=[hidden]"} {
		if !slices.Contains(got.Items, kept) {
			t.Errorf("%q is not in %q", kept, got.Items)
		}
	}
	if got.Total != 15 || got.Items[14] != "" {
		t.Errorf("the empty argument is lost: %d, %q", got.Total, got.Items)
	}
	if got := argumentsOf(""); got.Total != 0 || got.Items == nil {
		t.Errorf("no arguments: %+v", got)
	}
	if got := argumentsOf(strings.Repeat("x\x00", 5000)); got.Total != 5000 || len(got.Items) != mostArguments {
		t.Errorf("kept %d of %d", len(got.Items), got.Total)
	}
	if got := argumentsOf(strings.Repeat("x", 1<<20) + "\x00"); len(got.Items[0]) > mostText+10 {
		t.Errorf("an argument of %d bytes is kept", len(got.Items[0]))
	}
}

// TestEnvironmentHasNoValues: no value is kept, and no digest but of the
// variables that the documentation lists.
func TestEnvironmentHasNoValues(t *testing.T) {
	env := []string{"TOKEN=hunter2", "PATH=/very/special/bin", "PATH=/second", "A=1", "odd", "=x", "B\x1b=2"}
	e := environmentOf(env, "salt")
	if want := []string{"A", `B\x1b`, "PATH", "TOKEN"}; !cmp.Equal(e.Names.Items, want) {
		t.Error(cmp.Diff(want, e.Names.Items))
	}
	b, err := json.Marshal(e)
	if err != nil || strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "special") || strings.Contains(string(b), "salt\"}") {
		t.Errorf("values are in %s: %v", b, err)
	}
	if len(e.Compared) != 1 || len(e.Compared["PATH"]) != 16 {
		t.Errorf("compared: %v", e.Compared)
	}
	same, other, salted := environmentOf(env, "salt"), environmentOf([]string{"PATH=/second"}, "salt"), environmentOf(env, "pepper")
	switch {
	case same.Compared["PATH"] != e.Compared["PATH"]:
		t.Error("equal values have different digests")
	case other.Compared["PATH"] == e.Compared["PATH"]:
		t.Error("different values have equal digests")
	case salted.Compared["PATH"] == e.Compared["PATH"] || salted.Salt == e.Salt:
		t.Error("the salt makes no difference")
	}
	if e := environmentOf(env, ""); e.Compared != nil || e.Salt != "" {
		t.Errorf("without a salt there are digests: %+v", e)
	}
}

func TestWellKnownPaths(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"XDG_RUNTIME_DIR": "/run/user/1", "HOME": "/home/me"}[name]
	}
	none := func(string) string { return "" }
	for _, c := range []struct {
		path  func(string, func(string) string) (string, bool)
		value string
		env   func(string) string
		want  string
	}{
		{x11Path, ":0", none, "/tmp/.X11-unix/X0"}, {x11Path, "unix:12.1", none, "/tmp/.X11-unix/X12"},
		{x11Path, "host:0", none, ""}, {x11Path, "", none, ""}, {x11Path, ":../../x", none, ""},
		{waylandPath, "wayland-0", env, "/run/user/1/wayland-0"}, {waylandPath, "/x", none, "/x"}, {waylandPath, "wayland-0", none, ""}, {waylandPath, "", env, ""},
		{sessionBusPath, "unix:abstract=/a;unix:guid=1,path=/b", none, "/b"}, {sessionBusPath, "", env, "/run/user/1/bus"}, {sessionBusPath, "tcp:path=/b", none, ""}, {sessionBusPath, "", none, ""},
		{systemBusPath, "", none, "/run/dbus/system_bus_socket"}, {systemBusPath, "unix:path=/s", none, "/s"},
		{dockerPath, "", none, "/var/run/docker.sock"}, {dockerPath, "unix:///d.sock", none, "/d.sock"}, {dockerPath, "tcp://h:1", none, ""},
		{gpgPath, "/g", env, "/g/S.gpg-agent"}, {gpgPath, "", env, "/run/user/1/gnupg/S.gpg-agent"}, {gpgPath, "", none, ""},
	} {
		got, ok := c.path(c.value, c.env)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.value, got, ok, c.want)
		}
	}
}
