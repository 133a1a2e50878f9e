// SPDX-License-Identifier: Apache-2.0

// Command testrun runs `go test -json` and judges it. It prints what `go test`
// prints, then how many tests passed, failed and were skipped, and why each
// skip was. A skip that the file expected_skips doesn't name is a failure: a
// test that silently stops running proves nothing any more.
//
// Its arguments are those of `go test`. The exit status is 0 only if tests ran,
// all of them passed or were expected to be skipped, and `go test` says so too.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

//go:embed expected_skips
var expectedSkips string

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	expected, err := parseExpected(expectedSkips)
	if err != nil {
		return err
	}
	test := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	test.Stderr = os.Stderr
	events, err := test.StdoutPipe()
	if err != nil {
		return err
	}
	if err := test.Start(); err != nil {
		return err
	}
	r := newReport(out)
	failed := errors.Join(read(events, r), test.Wait())
	return errors.Join(r.close(expected), failed)
}

// read takes every event. After one that can't be read it only empties the
// pipe, so that `go test` can end.
func read(events io.Reader, r *report) error {
	d := json.NewDecoder(events)
	for {
		var e event
		switch err := d.Decode(&e); {
		case err == io.EOF:
			return nil
		case err != nil:
			_, _ = io.Copy(io.Discard, events)
			return fmt.Errorf("cannot read what go test prints: %w", err)
		}
		r.add(e)
	}
}
