// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/secctx"
)

// mostAnswer bounds what is read of a launcher's output.
const mostAnswer = 64 << 20

// through runs a launcher, on the user's word and as env(1) would, with this
// program as its last argument, and reads what that one wrote.
func (a *App) through(launcher, paths []string) (*secctx.Context, error) {
	file, err := executable(launcher[0], a.getenv("PATH"))
	if err != nil {
		return nil, err
	}
	self, err := a.ownName()
	if err != nil {
		return nil, err
	}
	argv := append(append([]string{}, launcher...), self, "context", "--json")
	for _, p := range paths {
		argv = append(argv, "--path", p)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot make a pipe: %w", err)
	}
	defer func() { _ = r.Close() }()
	p, err := os.StartProcess(file, argv, &os.ProcAttr{Env: a.Environ, Files: []*os.File{a.Stdin, w, a.Stderr}})
	_ = w.Close()
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", secctx.Escape(launcher[0]), err)
	}
	answer, err := io.ReadAll(io.LimitReader(r, mostAnswer))
	if err != nil {
		_ = p.Kill()
	}
	state, err2 := p.Wait()
	if err == nil {
		err = err2
	}
	if err != nil {
		return nil, fmt.Errorf("cannot hear what ran through %s: %w", secctx.Escape(launcher[0]), err)
	}
	c, err := secctx.Decode(bytes.NewReader(answer))
	if err != nil {
		return nil, fmt.Errorf("cannot look through %s (%s), which must run what is behind its arguments and print nothing itself: %w", secctx.Escape(launcher[0]), state, err)
	}
	c.Taken.Notes = append(c.Taken.Notes, "the launcher was run outside of any sandbox: "+secctx.Escape(strings.Join(launcher, " ")))
	return c, nil
}

// ownName is the name under which this program was called, if that leads to
// it; otherwise its file.
func (a *App) ownName() (string, error) {
	file, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find the program ambit itself: %w", err)
	}
	if called, err := executable(os.Args[0], a.getenv("PATH")); err == nil && sameFile(called, file) {
		return called, nil
	}
	return file, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// executable looks a program up in the absolute entries of PATH.
func executable(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for dir := range strings.SplitSeq(path, ":") {
		st, err := os.Stat(dir + "/" + name)
		if strings.HasPrefix(dir, "/") && err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return dir + "/" + name, nil
		}
	}
	return "", fmt.Errorf("cannot find the program %q in PATH: %w", name, os.ErrNotExist)
}
