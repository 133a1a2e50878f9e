// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

type whoKey struct{}

// peer is who is at the other end of a connection.
type peer struct {
	uid     uint32
	unix    bool
	failure string
}

func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, whoKey{}, peerOf(c))
}

// identify says who asks, or why the answer is no.
func (s *Server) identify(r *http.Request) (who string, p *problem) {
	if why := s.crossSite(r); why != "" {
		return "", newProblem(http.StatusForbidden, codeForbidden, why)
	}
	c, _ := r.Context().Value(whoKey{}).(peer)
	if c.unix {
		switch {
		case c.failure != "":
			return "", newProblem(http.StatusForbidden, codeForbidden, "the system does not say who connected: "+c.failure)
		case c.uid != uint32(os.Getuid()) && c.uid != 0 && !slices.Contains(s.config.AllowUIDs, c.uid):
			return "", newProblem(http.StatusForbidden, codeForbidden, "this user may not use the service; allow_uids of its configuration lists who may")
		}
		return "uid:" + strconv.FormatUint(uint64(c.uid), 10), nil
	}
	if name, ok := match(s.config.tokens, sentToken(r)); ok {
		return "token:" + name, nil
	}
	return "", newProblem(http.StatusUnauthorized, codeUnauthorized, "a bearer token of the service's token file is needed")
}

// crossSite refuses what a foreign page makes a browser send: under a name that
// it lets point here (DNS rebinding), or from its own origin.
func (s *Server) crossSite(r *http.Request) string {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(strings.ToLower(host), "[]")
	if host != "localhost" && host != "127.0.0.1" && host != "::1" && !slices.Contains(s.config.Hosts, host) {
		return "the Host header names another host; hosts of the configuration lists the names of this one"
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return "the request comes from a page of another site"
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return "the request comes from a page of another site"
	}
	return ""
}

// sentToken is the token of a request. A browser can send none by itself, but
// asks for a password: for the pages, which only show, that may be the token.
// Nothing else takes it so, since a browser adds it to whatever it sends.
func sentToken(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok && isPage(r) {
		return password
	}
	scheme, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return value
}

// challenge says how to send a token.
func challenge(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="ambit"`)
	if isPage(r) {
		w.Header().Add("WWW-Authenticate", `Basic realm="ambit", charset="UTF-8"`)
	}
}
