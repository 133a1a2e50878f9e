// SPDX-License-Identifier: Apache-2.0

package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"syscall"
)

// crowd bounds how many connections there are, so that clients that keep many
// take no descriptors from runs, and nobody else's chance to connect: where one
// too many comes, the one is closed on which nothing was asked for the longest
// time, or if there is none, the new one.
type crowd struct {
	most int

	mu   sync.Mutex
	open map[net.Conn]*list.Element // nil while it is asked something
	idle list.List                  // of connections, the longest idle first
}

func newCrowd(most int) *crowd { return &crowd{most: most, open: map[net.Conn]*list.Element{}} }

// defaultConnections leaves a quarter of the descriptors for the rest.
func defaultConnections() int {
	const few = 256
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return few
	}
	return int(min(limit.Cur-limit.Cur/4, 1<<20))
}

// note follows a connection's states ([http.Server.ConnState]).
func (c *crowd) note(conn net.Conn, s http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, known := c.open[conn]
	if !known && s != http.StateNew {
		return // it was closed here
	}
	if at != nil {
		c.idle.Remove(at)
		c.open[conn] = nil
	}
	switch s {
	case http.StateNew:
		if !c.makeRoom() {
			hangUp(conn)
			return
		}
		c.open[conn] = c.idle.PushBack(conn)
	case http.StateIdle:
		c.open[conn] = c.idle.PushBack(conn)
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

// makeRoom closes the longest idle connections. Where each is asked something
// there is none to be had.
func (c *crowd) makeRoom() bool {
	for len(c.open) >= c.most && c.idle.Len() > 0 {
		conn := c.idle.Remove(c.idle.Front()).(net.Conn)
		delete(c.open, conn)
		hangUp(conn)
	}
	return len(c.open) < c.most
}

// hangUp closes a connection at once: TLS would say farewell first, and wait.
func hangUp(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close()
}
