// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"flag"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ambit-sandbox/ambit"
)

// remoteFlags are those of a run by a service, which ambitd reads: here they
// are known only so that the command is found behind them.
type remoteFlags struct {
	server string
	used   []string
}

func addRemoteFlags(fs *flag.FlagSet) *remoteFlags {
	r := &remoteFlags{}
	fs.StringVar(&r.server, "server", "", "have the service at `ADDRESS`, a socket or a URL, run it; ambitd run --help lists its flags")
	for _, name := range []string{"project", "token-file"} {
		fs.Func(name, "with --server only", func(string) error { r.used = append(r.used, name); return nil })
	}
	for _, name := range []string{"stdin", "serialize"} {
		fs.BoolFunc(name, "with --server only", func(string) error { r.used = append(r.used, name); return nil })
	}
	return r
}

// alone are flags that mean nothing without a service.
func (r *remoteFlags) alone() bool { return r.server == "" && len(r.used) > 0 }

// remote has a service run the command. What speaks HTTP is ambitd: linking
// that would slow down every start of this program.
func (a *App) remote(args []string) int {
	exe, err := os.Executable()
	if err == nil {
		exe = filepath.Join(filepath.Dir(exe), "ambitd")
		err = syscall.Exec(exe, append([]string{"ambitd", "run"}, args...), a.Environ)
	}
	return a.misuse(ambit.ExitUnavailable, "cannot execute "+exe+": "+err.Error(), "--server needs the ambitd of the same release beside ambit")
}
