// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheckBlock: only a block may be a pattern, and what a pattern can't say
// is an error.
func TestCheckBlock(t *testing.T) {
	for path, want := range map[string]string{
		"/a/*": "", "/a/?.pem": "", "${WORK_DIR}/**/.env": "", "~/**/x*y?": "", "/**/.env": "", "/a/**/b/**/c": "", "/a/**/*": "", "/*": "",
		"/a/$*": "", "/a/$*b*": "", "/a/../b/*": "", "/a/****$*": `holds ** as a part of a name; write * there; ** stands for whole folders: a/**/b`,
		"**/.env":                `is a relative path; write ${WORK_DIR}/**/.env instead`,
		"*.pem":                  `is a relative path; write ${WORK_DIR}/*.pem instead`,
		"/a/b**c":                `holds ** as a part of a name; write * there; ** stands for whole folders: a/**/b`,
		"/a/***/c":               `holds ** as a part of a name; write * there; ** stands for whole folders: a/**/b`,
		"/a/**":                  `ends in **; leave that out: a block holds for everything below what it names; write **/* for all that is in a folder, and not the folder itself`,
		"/a/*/**/":               `ends in **; leave that out: a block holds for everything below what it names; write **/* for all that is in a folder, and not the folder itself`,
		"/a/*/../b":              `holds ".." behind a wildcard; write the pattern without it`,
		"/a*\x00":                `holds a NUL byte; no path can hold one`,
		"${WORK*}/a":             "holds the unknown variable ${WORK*}; the variables are ${HOME}, ${WORK_DIR} and ${TMPDIR}",
		"/*${HOME}":              `holds a variable after its start; a path may only start with one; write $${ for a name that holds ${`,
		strings.Repeat("/*", 61): `too many`,
	} {
		err := Policy{BlockedPaths: []string{path}}.Check("f")
		got := ""
		if err != nil {
			got = err.Error()
		}
		if want == "" && err != nil || want != "too many" && !strings.HasSuffix(got, want) || want == "too many" && !strings.Contains(got, "too many components") {
			t.Errorf("%q: %q, not %q", path, got, want)
		}
		if err == nil && (Policy{BlockedWritePaths: []string{path}}.Check("f") != nil || hasWildcard(path) && Policy{ReadPaths: []string{path}}.Check("f") == nil ||
			hasWildcard(path) && Policy{WorkDir: path}.Check("f") == nil) {
			t.Errorf("%q: the fields differ", path)
		}
	}
}

func TestParsePattern(t *testing.T) {
	text := func(s string) Piece { return Piece{Text: s} }
	star, one, deep := Piece{Kind: Many}, Piece{Kind: One}, Part{{Kind: Deep}}
	for path, want := range map[string]Pattern{
		"/a/b/*.pem":      {"/a/b", "*.pem", []Part{{star, text(".pem")}}},
		"/**/**/.env":     {"/", "**/**/.env", []Part{deep, {text(".env")}}},
		"/a$*/x?$?$*y*/b": {"/a*", "x?$?$*y*/b", []Part{{text("x"), one, text("?*y"), star}, {text("b")}}},
		"/$${x}/$${?":     {"/${x}", "$${?", []Part{{text("${"), one}}},
		"/a/**/b/**/?":    {"/a", "**/b/**/?", []Part{deep, {text("b")}, deep, {one}}},
		"/a/b":            {Base: "/a/b"},
	} {
		if d := cmp.Diff(want, ParsePattern(path)); d != "" {
			t.Errorf("%s (-want +got):\n%s", path, d)
		}
	}
}

// TestResolvePattern: the variables' values have no wildcards, escapes stay,
// and the digest knows a pattern from a name and one run's folder from none.
func TestResolvePattern(t *testing.T) {
	v := vars
	v.WorkDir = "/w*k"
	resolve := func(v Vars, p Policy) *Resolved {
		t.Helper()
		r, err := Resolve([]Layer{bare, layer("f", p)}, v)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := resolve(v, Policy{BlockedPaths: []string{"${WORK_DIR}/**//x$*y?/", "${WORK_DIR}/$*"}})
	want := []PathRule{{"/w$*k/**/x$*y?", Blocked, "f", false, true}, {"/w*k/*", Blocked, "f", false, false}}
	if d := cmp.Diff(want, r.Rules); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	literal := resolve(v, Policy{BlockedPaths: []string{"/$*"}})
	pattern := resolve(v, Policy{BlockedPaths: []string{"/*"}})
	if literal.Rules[0].Path != pattern.Rules[0].Path || Digest(literal) == Digest(pattern) {
		t.Error("a pattern and a name have one digest")
	}
	tmp := func(dir string) string {
		v := vars
		v.TmpDir = dir
		yes := true
		return Digest(resolve(v, Policy{PrivateTmp: &yes, BlockedPaths: []string{"${TMPDIR}/*"}}))
	}
	if tmp("/t/a*1") != tmp("/t/b") {
		t.Error("the digest depends on the place of the temporary folder")
	}
}
