// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
)

// TestStalledWriters: who does not send the body that it has announced is left
// after a while, whatever it asks for, and whether it may or not.
func TestStalledWriters(t *testing.T) {
	s := prepared(t)
	if err := os.WriteFile(s.dir+"/tokens", []byte("agent:"+goodToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	s.start(map[string]any{"listen": nil, "tcp": address, "token_file": s.dir + "/tokens", "stall_timeout": "500ms"})
	token := "Authorization: Bearer " + goodToken + "\r\n"
	var wg sync.WaitGroup
	for _, head := range []string{
		"POST /api/execute HTTP/1.1\r\n" + token, "POST /api/execute HTTP/1.1\r\n",
		"GET /health HTTP/1.1\r\n" + token, "GET /livez HTTP/1.1\r\n", "POST / HTTP/1.1\r\n",
	} {
		for _, length := range []string{"Content-Length: 100", "Content-Length: 100000000", "Transfer-Encoding: chunked"} {
			for _, kind := range []string{"application/json", "text/plain"} {
				wg.Go(func() {
					if err := announce(address, fmt.Sprintf("%sHost: %s\r\nContent-Type: %s\r\n%s\r\n\r\n", head, address, kind, length)); err != nil {
						t.Errorf("%q, %s, %s: %v", head, kind, length, err)
					}
				})
			}
		}
	}
	wg.Wait()
	// A body that comes is no bound on what follows it.
	if a := s.ask("POST", "/api/execute", body("sleep 1.5; echo done", nil), "Authorization", "Bearer "+goodToken); a.str("stdout") != "done\n" {
		t.Errorf("%d %s", a.status, a.raw)
	}
}

// announce sends the beginning of a request and waits until the connection is
// closed.
func announce(address, head string) error {
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte(head)); err != nil {
		return err
	}
	if err := conn.SetReadDeadline(deadline()); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, conn); !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	return nil
}
