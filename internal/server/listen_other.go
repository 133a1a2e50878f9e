// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package server

import (
	"errors"
	"net"
)

func peerOf(net.Conn) peer { return peer{unix: true, failure: "not on this system"} }

func listen(*Config) (net.Listener, error) {
	return nil, errors.New("cannot serve on this system: only Linux is supported")
}
