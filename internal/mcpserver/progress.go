// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-sandbox/ambit/internal/server"
)

const progressEvery = time.Second

// report tells a client that asked for it how a call goes on: the time, and how
// many bytes were put out. What they are stays for the result.
func (c *call) report(req *mcp.CallToolRequest, p *server.Progress) (stop func()) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		began, tick := time.Now(), time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-c.ctx.Done():
				return
			case <-tick.C:
			}
			took := time.Since(began)
			// A client that is gone ends the call; there is nobody to tell.
			_ = req.Session.NotifyProgress(c.ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: took.Seconds(), Message: progressText(took, p),
			})
		}
	})
	return func() { close(over); wg.Wait() }
}

func progressText(took time.Duration, p *server.Progress) string {
	bytes, begun := p.Output()
	if !begun {
		return fmt.Sprintf("waiting for a place for %s", took.Round(time.Second))
	}
	return fmt.Sprintf("running for %s, %d bytes of output", took.Round(time.Second), bytes)
}
