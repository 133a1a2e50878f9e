// SPDX-License-Identifier: Apache-2.0

// Package lab_test holds the tables of the kernel lab against each other. It
// boots nothing: that is `lab/lab suite`.
package lab_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rows reads one of the lab's tables as its scripts do: columns separated by
// blanks, comments from "#".
func rows(t *testing.T, name string, columns int) [][]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var found [][]string
	seen := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		row := strings.Fields(line)
		if len(row) == 0 {
			continue
		}
		if len(row) != columns {
			t.Errorf("%s: %q has %d columns, want %d", name, row, len(row), columns)
			continue
		}
		if seen[row[0]] {
			t.Errorf("%s: %q is there twice", name, row[0])
		}
		seen[row[0]] = true
		found = append(found, row)
	}
	if len(found) == 0 {
		t.Fatalf("%s: no rows", name)
	}
	return found
}

func TestJobs(t *testing.T) {
	kernels := make(map[string]bool)
	for _, row := range rows(t, "kernels", 3) {
		kernels[row[0]] = true
	}
	for _, row := range rows(t, "jobs", 8) {
		name, kernel, profile, userns, suites := row[0], row[1], row[3], row[6], row[7]
		if !kernels[kernel] {
			t.Errorf("%s: the kernel %q is not in the table", name, kernel)
		}
		if !slices.Contains([]string{"full", "helper", "powerless", "refused"}, userns) {
			t.Errorf("%s: user namespaces can't be %q", name, userns)
		}
		checkProfile(t, name, profile)
		for suite := range strings.SplitSeq(suites, ",") {
			checkSuite(t, name, suite)
		}
	}
}

// checkProfile: the file is there and holds the profile that the job's label
// is compared with.
func checkProfile(t *testing.T, job, column string) {
	t.Helper()
	if column == "-" {
		return
	}
	how, profile, _ := strings.Cut(column, ":")
	if how != "run" && how != "load" {
		t.Errorf("%s: apparmor is %q, want run:NAME or load:NAME", job, column)
	}
	text, err := os.ReadFile(filepath.Join("apparmor", profile+".profile"))
	if err != nil {
		t.Errorf("%s: %v", job, err)
	}
	if !strings.Contains(string(text), fmt.Sprintf("\nprofile ambit_lab_%s ", profile)) {
		t.Errorf("%s: apparmor/%s.profile lacks the profile ambit_lab_%s", job, profile, profile)
	}
}

func checkSuite(t *testing.T, job, suite string) {
	t.Helper()
	for _, part := range []string{"build", "run"} {
		info, err := os.Stat(filepath.Join("suites", suite, part))
		if err != nil {
			t.Errorf("%s: %v", job, err)
		} else if info.Mode()&0o111 == 0 {
			t.Errorf("%s: suites/%s/%s is not executable", job, suite, part)
		}
	}
	for _, layer := range layers(t, suite) {
		if _, err := os.Stat(filepath.Join("steps", layer)); err != nil {
			t.Errorf("%s: suites/%s asks for a layer that nothing builds: %v", job, suite, err)
		}
	}
}

// layers reads what a suite needs on top of the base image; without the file
// it is nothing.
func layers(t *testing.T, suite string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("suites", suite, "layers"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	return strings.Fields(string(text))
}

// TestUsernsTests: each test that conformance-userns names is in the
// conformance suite. The suite's build demands the same, and its run demands
// that each has run.
func TestUsernsTests(t *testing.T) {
	files, err := filepath.Glob("../internal/backend/backendtest/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, row := range rows(t, "suites/conformance-userns/tests", 1) {
		if !strings.Contains(all.String(), "\nfunc "+row[0]+"(t *testing.T) {\n") {
			t.Errorf("conformance-userns names %s, which the conformance suite lacks", row[0])
		}
	}
}

// TestMatrix keeps the matrix from shrinking: every kind of machine that the
// product makes a promise about has a job. The whole conformance suite runs for
// each answer about Landlock's ABI; where only user namespaces differ from such
// a machine, conformance-userns does.
func TestMatrix(t *testing.T) {
	missing := map[string]bool{
		"6.12. abi 6 refused":             true, // AppArmor rejects user namespaces
		"6.12. abi 6 powerless":           true, // they can be made, and are useless
		"6.12. abi 6 helper":              true, // only the usual helper is crippled
		"6.1. abi 2 full":                 true, // Landlock without truncation
		"5.10. abi ENOSYS full":           true, // a kernel older than Landlock
		"6.12. abi EOPNOTSUPP full":       true, // Landlock left out at boot
		"7. abi 10+ full":                 true, // the newest
		"all of it on ABI 6":              true,
		"all of it on ABI 2":              true,
		"all of it on ABI 10+":            true,
		"all of it on ABI ENOSYS":         true,
		"all of it on ABI EOPNOTSUPP":     true,
		"real job where userns refused":   true,
		"deployment where userns refused": true,
		"real servers, abi 6":             true, // the broker's
		"real servers, abi 10+":           true, // Landlock's
	}
	for _, row := range rows(t, "jobs", 8) {
		release, abi, userns, suites := row[4], row[5], row[6], strings.Split(row[7], ",")
		if slices.Contains(suites, "servers") {
			delete(missing, "real servers, abi "+abi)
		}
		if strings.HasPrefix(row[0], "long-") {
			continue
		}
		if slices.Contains(suites, "deploy") { // a machine of its own, with a service manager
			delete(missing, "deployment where userns "+userns)
			continue
		}
		switch {
		case slices.Contains(suites, "conformance"):
			delete(missing, "all of it on ABI "+abi)
		case !slices.Contains(suites, "conformance-userns"):
			t.Errorf("%s: runs nothing of the conformance suite", row[0])
		}
		delete(missing, fmt.Sprintf("%s abi %s %s", release, abi, userns))
		if userns == "refused" && slices.Contains(suites, "realjob") {
			delete(missing, "real job where userns refused")
		}
	}
	for machine := range missing {
		t.Errorf("no job for: %s", machine)
	}
}
