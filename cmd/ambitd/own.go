// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/ambit-sandbox/ambit/internal/server"
)

// own is a service's listener, asked from this host as its clients ask it.
type own struct {
	client *http.Client
	base   string
}

// ownListener is the listener at the address, which is one of this host.
func ownListener(c *server.Config, network, address string) *own {
	dialer := &net.Dialer{}
	t := &http.Transport{
		// Each question is a connection of its own: that the service still
		// takes new ones is what is asked for.
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, reachable(address))
		},
	}
	o := &own{base: "http://localhost", client: &http.Client{Transport: t}}
	if c.TLS != nil {
		// The certificate is for names that others use. What is asked carries
		// no token, and the answer is one word.
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
		o.base = "https://localhost"
	}
	return o
}

// configured is the listener that the configuration names.
func configured(c *server.Config) *own {
	if c.Listen != "" {
		return ownListener(c, "unix", c.Listen)
	}
	return ownListener(c, "tcp", c.TCP)
}

// reachable replaces "every address" by loopback.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		if ip != nil && ip.To4() == nil {
			return net.JoinHostPort("::1", port)
		}
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// errRefused is an answer that is not yes.
var errRefused = errors.New("the service says no")

// ask is nil if the service answers yes, matches errRefused if it answers
// anything else, and is another error if it does not answer.
func (o *own) ask(ctx context.Context, path string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base+path, nil)
	if err != nil {
		return err
	}
	r, err := o.client.Do(q)
	if err != nil {
		return fmt.Errorf("cannot ask the service: %w", err)
	}
	defer func() { _ = r.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, 1<<10)); err != nil {
		return fmt.Errorf("cannot read the service's answer: %w", err)
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s: %s", errRefused, path, r.Status)
	}
	return nil
}
