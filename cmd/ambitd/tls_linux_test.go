// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// certificate makes one for this host, and writes it and its key into files.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"/cert.pem": {Type: "CERTIFICATE", Bytes: der}, "/key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(dir+name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

const goodToken = "0123456789abcdef0123"

// tlsSettings are those of a service at a TCP address with a certificate.
func tlsSettings(t *testing.T, s *service, address string) map[string]any {
	t.Helper()
	if err := os.WriteFile(s.dir+"/tokens", []byte("agent:"+goodToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"listen": nil, "tcp": address, "token_file": s.dir + "/tokens",
		"tls": map[string]any{"cert": s.dir + "/cert.pem", "key": s.dir + "/key.pem"},
	}
}

// TestTLS: who trusts the certificate and has the token is served; everybody
// else is not, over an old version of the protocol, or none, neither.
func TestTLS(t *testing.T) {
	s := prepared(t)
	address := freeAddress(t)
	pool := certificate(t, s.dir)
	s.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	s.start(tlsSettings(t, s, address))
	q := body("echo hi", nil)
	if a := s.ask("POST", "/api/execute", q, "Authorization", "Bearer "+goodToken); a.status != 200 || a.str("stdout") != "hi\n" {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := s.ask("POST", "/api/execute", q); a.status != 401 || a.str("code") != "UNAUTHORIZED" {
		t.Errorf("without a token: %d %s", a.status, a.raw)
	}
	for name, c := range map[string]struct {
		config *tls.Config
		want   string
	}{
		"no trust":    {&tls.Config{}, "unknown authority"},
		"other name":  {&tls.Config{RootCAs: pool, ServerName: "other.example"}, "not valid for any names"},
		"old version": {&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}, "protocol version"},
		"control":     {&tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS12}, ""},
	} {
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", address, c.config)
		if err == nil {
			_ = conn.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a := plainHTTP(t, address); a.StatusCode != 400 {
		t.Errorf("plain HTTP: %s", a.Status)
	}
}

// plainHTTP sends a good request without TLS.
func plainHTTP(t *testing.T, address string) *http.Response {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(deadline()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + goodToken + "\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	a, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = a.Body.Close()
	return a
}

// TestTLSNeeded: beyond loopback there is no service without TLS, and none
// whose certificate can't be used.
func TestTLSNeeded(t *testing.T) {
	s := prepared(t)
	certificate(t, s.dir)
	// An address of no host (RFC 5737), so that nothing could be listened to.
	settings := tlsSettings(t, s, "192.0.2.1:8740")
	config := s.config(settings)
	if out, code := ambitdRun(t, "check", "--config", config); code != 0 || !strings.Contains(out, "ok: ") {
		t.Errorf("with TLS: %d %s", code, out)
	}
	delete(settings, "tls")
	fails(t, s.config(settings), "tcp", "not loopback", "set tls as well")
	settings = tlsSettings(t, s, "127.0.0.1:8740")
	if err := os.WriteFile(s.dir+"/key.pem", []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, s.config(settings), "tls", "in PEM")
}
