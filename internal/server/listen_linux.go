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
		return listenUnix(c.Listen, modesFor(c))
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

// modes are those of the socket and of its folder.
type modes struct {
	folder, socket os.FileMode
	forbidden      os.FileMode // bits that the folder must not have
	needed         os.FileMode // bits of which the folder must have one
}

// modesFor closes the folder to everybody else, so that nobody connects before
// the socket's mode is set. Where other users may connect, they must get
// through; who they are the kernel says at each connection.
func modesFor(c *Config) modes {
	if len(c.AllowUIDs) == 0 {
		return modes{folder: 0o700, socket: 0o600, forbidden: 0o077}
	}
	return modes{folder: 0o711, socket: 0o666, forbidden: 0o022, needed: 0o011}
}

func listenUnix(name string, m modes) (net.Listener, error) {
	if err := socketFolder(filepath.Dir(name), m); err != nil {
		return nil, err
	}
	if err := removeStale(name); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", name)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	if err := os.Chmod(name, m.socket); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	return l, nil
}

// socketFolder makes the folder, or looks whether it can be used.
func socketFolder(dir string, m modes) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("cannot make the socket's folder: %w", err)
	}
	switch err := os.Mkdir(dir, 0o700); {
	case err == nil:
		if err := os.Chmod(dir, m.folder); err != nil { // whatever the umask is
			return fmt.Errorf("cannot make the socket's folder: %w", err)
		}
	case !errors.Is(err, os.ErrExist):
		return fmt.Errorf("cannot make the socket's folder: %w", err)
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("cannot use the socket's folder: %w", err)
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	mode := st.Mode().Perm()
	switch {
	case !ok || !st.IsDir() || int(owner.Uid) != os.Getuid() || mode&m.forbidden != 0:
		return fmt.Errorf("cannot use the socket's folder %s: it must be this user's, with mode %04o; chmod it, or name a socket in another folder", dir, m.folder)
	case m.needed != 0 && mode&m.needed == 0:
		return fmt.Errorf("cannot use the socket's folder %s: with mode %04o the users of allow_uids can't reach the socket; chmod %o it, or name a socket in another folder", dir, mode, m.folder)
	}
	return nil
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
