// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

func peerOf(c net.Conn) peer {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return peer{}
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return peer{unix: true, failure: err.Error()}
	}
	uid, err := sys.PeerUID(raw)
	if err != nil {
		return peer{unix: true, failure: err.Error()}
	}
	return peer{uid: uid, unix: true}
}

// listen opens what the configuration names.
func listen(c *Config) (net.Listener, error) {
	if c.Listen != "" {
		return listenUnix(c.Listen)
	}
	l, err := net.Listen("tcp", c.TCP)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	if c.TLS == nil {
		return l, nil
	}
	cert, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key)
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("cannot use tls of %s: %w", c.file, err)
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

// listenUnix makes the socket in a folder that only this user can enter, so
// that nobody connects before the mode is set.
func listenUnix(name string) (net.Listener, error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the socket's folder: %w", err)
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot use the socket's folder: %w", err)
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	if !ok || !st.IsDir() || int(owner.Uid) != os.Getuid() || st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("cannot use the socket's folder %s: it must be this user's, with mode 0700; chmod 700 it, or name a socket in another folder", dir)
	}
	if err := removeStale(name); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", name)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	if err := os.Chmod(name, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	return l, nil
}

// removeStale removes the socket of a service that was killed.
func removeStale(name string) error {
	st, err := os.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot listen: %w", err)
	case st.Mode()&os.ModeSocket == 0:
		return fmt.Errorf("cannot listen on %s: it is there and no socket; name another one", name)
	}
	c, err := net.Dial("unix", name)
	if err == nil {
		_ = c.Close()
		return fmt.Errorf("cannot listen on %s: another service answers there; stop it, or name another socket", name)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("cannot listen on %s: %w", name, err)
	}
	return os.Remove(name)
}
