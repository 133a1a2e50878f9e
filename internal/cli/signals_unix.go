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
//
// SIGPIPE is caught so that a reader who has gone is an error of the write, as
// the copying of output expects, and not the end of ambit (os/signal,
// "SIGPIPE"); the command gets its own from its own pipe.
//
// Each signal that is newly caught takes the runtime several switches of
// threads, so it is done beside the planning, not before it.
func (a *App) forwardSignals() (<-chan os.Signal, func()) {
	caught, out, done := make(chan os.Signal, 8), make(chan os.Signal), make(chan struct{})
	go func() {
		catch(caught)
		for {
			var s os.Signal
			select {
			case s = <-caught:
			case <-done:
				return
			}
			if s == syscall.SIGPIPE || (s == syscall.SIGINT || s == syscall.SIGQUIT) && sys.InForeground() {
				continue
			}
			select {
			case out <- s:
			case <-done:
				return
			}
		}
	}()
	return out, func() { close(done) }
}

// catch leaves out what the caller has ignored, as nohup(1) does: the command
// inherits that.
func catch(caught chan<- os.Signal) {
	var wanted []os.Signal
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGPIPE} {
		if !signal.Ignored(s) {
			wanted = append(wanted, s)
		}
	}
	signal.Notify(caught, wanted...)
}
