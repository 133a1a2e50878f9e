// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
)

// token is a caller's name and the digest of what it must send.
type token struct {
	name string
	sum  [sha256.Size]byte
}

// readPrivate reads a small file that only this user may read.
func readPrivate(name string) (string, error) {
	if name == "" {
		return "", errors.New("no file is named")
	}
	if err := hostpath.Here(os.Getenv).CheckOwn(name); err != nil {
		return "", err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !st.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", name)
	case st.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s has mode %04o: others could read it", name, st.Mode().Perm())
	}
	const most = 128 << 10
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("%s is longer than %d bytes", name, most)
	}
	return string(b), err
}

func readSecret(name string) (string, error) {
	s, err := readPrivate(name)
	s = strings.TrimSuffix(s, "\n")
	switch {
	case err != nil:
		return "", err
	case s == "" || strings.ContainsRune(s, 0):
		return "", fmt.Errorf("%s is empty or holds a NUL byte", name)
	}
	return s, nil
}

func readTokens(name string) ([]token, error) {
	s, err := readPrivate(name)
	if err != nil {
		return nil, err
	}
	var tokens []token
	for i, l := range strings.Split(s, "\n") {
		if l = strings.TrimSpace(l); l == "" {
			continue
		}
		who, value, ok := strings.Cut(l, ":")
		if !ok {
			who, value = "token", l
		}
		if len(value) < 16 {
			return nil, fmt.Errorf("line %d of %s holds no token of 16 characters", i+1, name)
		}
		tokens = append(tokens, token{who, sha256.Sum256([]byte(value))})
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s holds no token", name)
	}
	return tokens, nil
}

// match finds whose token was sent, in a time that tells nothing of any: what
// is compared are digests, and all of them.
func match(tokens []token, sent string) (who string, ok bool) {
	sum := sha256.Sum256([]byte(sent))
	for _, t := range tokens {
		if subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1 {
			who, ok = t.name, true
		}
	}
	return who, ok
}
