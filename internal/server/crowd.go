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
// time.
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
		c.makeRoom()
		c.open[conn] = c.idle.PushBack(conn)
	case http.StateIdle:
		c.open[conn] = c.idle.PushBack(conn)
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

// makeRoom closes the longest idle connections. If each is asked something
// there are more than most for a while: each ends by itself.
func (c *crowd) makeRoom() {
	for len(c.open) >= c.most && c.idle.Len() > 0 {
		conn := c.idle.Remove(c.idle.Front()).(net.Conn)
		delete(c.open, conn)
		if t, ok := conn.(*tls.Conn); ok {
			conn = t.NetConn() // TLS would say farewell first, and wait
		}
		_ = conn.Close()
	}
}
