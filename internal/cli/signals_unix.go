// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// forwardSignals catches what is sent to ambit alone, so that it can be passed
// on to the command. What a terminal sends goes to the whole foreground
// process group, the command included, and must not reach it twice: while
// ambit is in the foreground, Ctrl-C and Ctrl-\ are the terminal's.
func (a *App) forwardSignals() (<-chan os.Signal, func()) {
	caught := make(chan os.Signal, 8)
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2} {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	out, done := make(chan os.Signal), make(chan struct{})
	go func() {
		for {
			var s os.Signal
			select {
			case s = <-caught:
			case <-done:
				return
			}
			if (s == syscall.SIGINT || s == syscall.SIGQUIT) && sys.InForeground() {
				continue
			}
			select {
			case out <- s:
			case <-done:
				return
			}
		}
	}()
	return out, func() { signal.Stop(caught); close(done) }
}
