// SPDX-License-Identifier: Apache-2.0

package deploy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPackage: the Debian package has the programs, the unit for users and
// their papers, and nothing that runs when it is installed. Built twice it is
// the same.
func TestPackage(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skipf("no package can be built here: %v", err)
	}
	build := func() string {
		dir := t.TempDir()
		c := exec.CommandContext(t.Context(), "deb/build.sh", "--from", programs, "--version", "1.2.3-1", "--arch", "amd64",
			"--maintainer", "A Packager <packager@localhost.localdomain>", "--out", dir)
		c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000", "DPKG_DEB_COMPRESSOR_TYPE=gzip")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return filepath.Join(dir, "ambit_1.2.3-1_amd64.deb")
	}
	one, two := build(), build()
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(two); err != nil || !bytes.Equal(a, b) {
		t.Errorf("two builds differ: %v", err)
	}
	root := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "-R", one, root).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	entries, err := os.ReadDir(filepath.Join(root, "DEBIAN"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{"control", "md5sums"}, e.Name()) {
			t.Errorf("the package has a maintainer script: %s", e.Name())
		}
	}
	unit, err := os.ReadFile(filepath.Join(root, "usr/lib/systemd/user/ambitd.service"))
	if err != nil || !strings.Contains(string(unit), "\nExecStart=/usr/bin/ambitd serve --config %E/ambit/ambitd.json\n") || strings.Contains(string(unit), "@") {
		t.Errorf("%v %s", err, unit)
	}
	for _, name := range []string{"usr/bin/ambit", "usr/bin/ambitd", "usr/share/doc/ambit/copyright", "usr/share/man/man1/ambit.1.gz", "usr/share/man/man8/ambitd.8.gz"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestNotices: what is linked into the programs is named in the package's
// copyright file.
func TestNotices(t *testing.T) {
	b, err := os.ReadFile("deb/copyright")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "../cmd/ambit", "../cmd/ambitd").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	if len(modules) < 4 {
		t.Fatalf("only %q", modules)
	}
	for _, m := range modules {
		name, _, _ := strings.Cut(m, "/v3")
		if m != "github.com/ambit-sandbox/ambit" && !bytes.Contains(b, []byte(name)) {
			t.Errorf("%s is linked, and its notice is missing", m)
		}
	}
}
