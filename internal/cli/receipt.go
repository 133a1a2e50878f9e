// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
)

// openReceipt opens the receipt's file before the command runs: the name may
// lie where the command can write, and what it puts there must not lead the
// unrestricted supervisor elsewhere. Nor must what a command of an earlier run
// has put there.
func (a *App) openReceipt(name string) (*os.File, error) {
	if name == "" {
		return nil, nil
	}
	f, err := hostpath.Here(a.getenv).Create(name, 0o644, hostpath.Nothing)
	if err != nil {
		return nil, fmt.Errorf("cannot write the receipt, so nothing was run: %w", err)
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("cannot write the receipt, so nothing was run: %w", err)
	}
	return f, nil
}

func writeReceipt(f *os.File, res *ambit.Result) error {
	if f == nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	b, err := json.MarshalIndent(res.Receipt, "", "  ")
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(b, '\n'), 0)
	}
	if err != nil {
		return fmt.Errorf("cannot write the receipt: %w", err)
	}
	return stillThere(f)
}

// stillThere makes sure that who reads the receipt by its name reads ours: a
// command that may write there can put another file in its place.
func stillThere(f *os.File) error {
	ours, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(f.Name())
	if err != nil || !os.SameFile(ours, named) {
		return fmt.Errorf("the command replaced the receipt %s: what stands there is not ambit's; keep it outside of what the command can write", f.Name())
	}
	return nil
}
