// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// aliveTime is between two signs of life.
const aliveTime = 15 * time.Second

// stream answers with server-sent events. Its methods are called by one
// goroutine at a time: the follower's, and after it the handler's.
type stream struct {
	w      http.ResponseWriter
	open   bool
	failed bool
}

// event sends one event; the data is JSON in one line.
func (t *stream) event(name string, data []byte) {
	t.send(fmt.Sprintf("event: %s\ndata: %s\n\n", name, trimLine(data)))
}

func trimLine(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return b
}

func (t *stream) send(s string) {
	if t.failed {
		return
	}
	c := http.NewResponseController(t.w)
	if !t.open {
		t.open = true
		t.w.Header().Set("Content-Type", "text/event-stream")
		t.w.WriteHeader(http.StatusOK)
	}
	if _, err := t.w.Write([]byte(s)); err != nil {
		t.failed = true
		return
	}
	t.failed = c.Flush() != nil
}

// chunk is the data of the events stdout and stderr.
type chunk struct {
	Data     string `json:"data"`
	Encoding string `json:"encoding"`
}

func (t *stream) chunk(name string, b []byte) {
	if len(b) == 0 {
		return
	}
	text, encoding := encode(b, false)
	data, _ := json.Marshal(chunk{text, encoding})
	t.event(name, data)
}

// follow sends what a run puts out while it puts it out, and cancels the run
// when nobody takes it. What it returns sends the rest and waits.
func (t *stream) follow(x *execution, cancel func()) (join func()) {
	bell, over := make(chan struct{}, 1), make(chan struct{})
	ring := func() {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
	x.stdout.bell, x.stderr.bell = ring, ring
	var begun sync.Once
	started := make(chan struct{})
	x.job.Started = func() { begun.Do(func() { close(started) }) }
	var wg sync.WaitGroup
	wg.Go(func() {
		alive := time.NewTicker(aliveTime)
		defer alive.Stop()
		begin := started
		for {
			last := false
			select {
			case <-begin:
				begin = nil
				data, _ := json.Marshal(map[string]string{"run_id": x.id})
				t.event("started", data)
			case <-bell:
			case <-over:
				last = true
			case <-alive.C:
				if t.open {
					t.send(": alive\n\n")
				}
			}
			t.chunk("stdout", x.stdout.take(last))
			t.chunk("stderr", x.stderr.take(last))
			if t.failed {
				cancel()
			}
			if last {
				return
			}
		}
	})
	return func() { close(over); wg.Wait() }
}
