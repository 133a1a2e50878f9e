// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// How asking the provider ends: each ending has its exit code, so that none is
// taken for another.
const (
	accepted  = 0
	noAnswer  = 1
	badKey    = 3
	noNetwork = 4
)

// ask authenticates with the provider that left its address in DIR, by the key
// in the variable API_KEY.
func ask(dir string) int {
	address, err := os.ReadFile(filepath.Join(dir, "address"))
	if err != nil {
		return say(noAnswer, err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		return say(noAnswer, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	client := &http.Client{Timeout: 5 * time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	q, err := http.NewRequest(http.MethodGet, "https://"+strings.TrimSpace(string(address))+"/", nil)
	if err != nil {
		return say(noAnswer, err)
	}
	q.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	r, err := client.Do(q)
	switch {
	case errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM):
		return say(noNetwork, fmt.Errorf("the network is closed: %w", err))
	case err != nil:
		return say(noAnswer, err)
	}
	defer func() { _ = r.Body.Close() }()
	switch r.StatusCode {
	case http.StatusOK:
		return say(accepted, "the provider accepts the key")
	case http.StatusUnauthorized:
		return say(badKey, "the provider rejects the key")
	}
	return say(noAnswer, r.Status)
}

func say(code int, what any) int {
	fmt.Println(what)
	return code
}
