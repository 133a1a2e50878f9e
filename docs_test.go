// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages returns the text of every page of the documentation by its path.
func pages(t *testing.T) map[string]string {
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found[name] = string(b)
		}
	}
	if len(found) < 8 {
		t.Fatalf("only %d pages were found", len(found))
	}
	return found
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	// test is a test's name as pages write it, with or without a case of it.
	test    = regexp.MustCompile("`(Test[A-Z0-9]\\w*)[/`]")
	defined = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks follows the links between the pages, down to the heading.
func TestLinks(t *testing.T) {
	all := pages(t)
	for page, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			} else if anchor != "" && !hasAnchor(all[target], anchor) {
				t.Errorf("%s links to %s, which has no such heading", page, m[1])
			}
		}
	}
}

// hasAnchor reports whether a heading of the text has an anchor, made as
// GitHub makes it: lower case, no punctuation, blanks to hyphens.
func hasAnchor(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		plain := dropped.ReplaceAllString(strings.ToLower(m[1]), "")
		if strings.ReplaceAll(plain, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestClaimsHaveTests: the tests that the pages name as their evidence exist.
func TestClaimsHaveTests(t *testing.T) {
	exists := map[string]bool{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		b, err := os.ReadFile(name)
		for _, m := range defined.FindAllStringSubmatch(string(b), -1) {
			exists[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for page, text := range pages(t) {
		for _, m := range test.FindAllStringSubmatch(text, -1) {
			if named++; !exists[m[1]] {
				t.Errorf("%s names %s, which does not exist", page, m[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d tests are named", named)
	}
}
