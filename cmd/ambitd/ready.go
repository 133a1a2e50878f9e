// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-sandbox/ambit/internal/server"
)

// askEvery is the time between two questions to a service that is not ready.
const askEvery = 200 * time.Millisecond

// ready asks the running service with this configuration whether it takes
// commands, until it does or the time is over.
func ready(c *server.Config, within time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), max(within, askEvery))
	defer cancel()
	o := configured(c)
	for {
		err := o.ask(ctx, "/readyz")
		if err == nil {
			fmt.Println("ready")
			return 0
		}
		last := err
		select {
		case <-ctx.Done():
			return complain(fmt.Errorf("not ready: %w; GET /health of the service says why, if it answers", last))
		case <-time.After(askEvery):
		}
	}
}
