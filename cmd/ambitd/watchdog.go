// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/ambit-sandbox/ambit/internal/sdnotify"
)

// watchdog tells the service manager how the service is.
type watchdog struct {
	to  *sdnotify.Socket
	own *own
	log *slog.Logger
}

// statusEvery is how often the status is told if the manager waits for no sign
// of life.
const statusEvery = 30 * time.Second

// run says that the service is ready when it answers, and from then on that it
// is alive as long as it answers: a service that still runs, and takes no
// requests any more, is not alive, and the manager starts it anew.
func (w *watchdog) run(ctx context.Context) {
	// Three tries before the manager's patience ends (sd_watchdog_enabled(3)
	// recommends two).
	every := w.to.Watchdog() / 3
	if every == 0 {
		every = statusEvery
	}
	message := sdnotify.Ready
	for {
		wait := every
		switch err := w.alive(ctx, every); {
		case ctx.Err() != nil:
			return
		case err != nil:
			w.log.Error("the service does not answer itself", "error", err)
			wait = min(every, time.Second)
		default:
			w.send(message, sdnotify.Status(w.status(ctx, every)))
			message = sdnotify.Alive
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

func (w *watchdog) alive(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return w.own.ask(ctx, "/livez")
}

func (w *watchdog) status(ctx context.Context, within time.Duration) string {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := w.own.ask(ctx, "/readyz"); err != nil {
		return "listening, but no command can be run here: GET /health says why"
	}
	return "listening, commands can be run"
}

// stopping tells the manager that the end was asked for.
func (w *watchdog) stopping() {
	w.send(sdnotify.Stopping, sdnotify.Status("ending the runs"))
}

// send does not fail: a manager that can't be told ends the service itself.
func (w *watchdog) send(messages ...string) {
	if err := w.to.Send(messages...); err != nil {
		w.log.Error("no message to the service manager", "error", err)
	}
}
