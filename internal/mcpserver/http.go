// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ambit-sandbox/ambit/internal/server"
)

// Path is where clients find the tools over HTTP.
const Path = "/mcp"

// Bounds of sessions, which cost a little memory each. A client that comes back
// later than that begins a new one.
const (
	sessionTime  = 24 * time.Hour
	sessionCount = 1000
)

// sessionless is the first revision of the protocol without sessions: a request
// stands alone there, and its end is the call's.
const sessionless = "2026-07-28"

// Mount serves the tools over HTTP at [Path] of the service, behind the
// service's own checks.
func Mount(s *server.Server, version string) {
	m := newServer(s, version, "")
	h := &overHTTP{mcp: m.mcp, running: &running{ends: map[string]map[*end]bool{}}}
	find := func(*http.Request) *mcp.Server { return m.mcp }
	// Who asks, from where, and how much has been checked by the service.
	o := mcp.StreamableHTTPOptions{DisableLocalhostProtection: true, MaxRequestBodyBytes: s.MaxRequestBytes()}
	o.SessionTimeout = sessionTime
	h.sessions = h.identified(mcp.NewStreamableHTTPHandler(find, &o))
	o.Stateless, o.PropagateRequestCancellation = true, true
	h.single = h.identified(mcp.NewStreamableHTTPHandler(find, &o))
	s.Mount(Path, h.answer)
}

type overHTTP struct {
	mcp              *mcp.Server
	sessions, single http.Handler
	running          *running
}

func (h *overHTTP) answer(w http.ResponseWriter, r *http.Request, who string) {
	session := r.Header.Get("Mcp-Session-Id")
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, &caller{who: who, request: r.Context(), running: h.running}))
	switch {
	case r.Header.Get("Mcp-Protocol-Version") >= sessionless:
		h.single.ServeHTTP(w, r)
		return
	case r.Method == http.MethodDelete:
		// The SDK would wait for the session's calls.
		h.running.endAll(who, session)
	case r.Method == http.MethodPost && session == "" && h.full():
		w.Header().Set("Retry-After", "60")
		http.Error(w, "BUSY: there are too many sessions; end some", http.StatusTooManyRequests)
		return
	}
	h.sessions.ServeHTTP(w, r)
}

func (h *overHTTP) full() bool {
	n := 0
	for range h.mcp.Sessions() {
		n++
	}
	return n >= sessionCount
}

// caller is who sent an HTTP request.
type caller struct {
	who     string
	request context.Context
	running *running
}

type callerKey struct{}

// identified hands the caller to the SDK in the one way that it has for it, as
// the owner of a token. It then refuses a session to everybody but the caller
// that began it, and gives each call the caller of its own request. The true
// token stays out of it.
func (h *overHTTP) identified(next http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		c, ok := ctx.Value(callerKey{}).(*caller)
		if !ok || c.who == "" {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: c.who, Extra: map[string]any{callerExtra: c}}, nil
	}
	h2 := auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer checked")
		h2.ServeHTTP(w, r)
	})
}

const callerExtra = "caller"

func callerOf(req *mcp.CallToolRequest) (*caller, bool) {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return nil, false
	}
	c, ok := req.Extra.TokenInfo.Extra[callerExtra].(*caller)
	return c, ok
}

// running are the calls of each session.
type running struct {
	mu   sync.Mutex
	ends map[string]map[*end]bool
}

type end struct{ cancel func() }

func sessionKey(who, session string) string { return who + "\x00" + session }

func (r *running) add(who, session string, cancel func()) (forget func()) {
	key, e := sessionKey(who, session), &end{cancel}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends[key] == nil {
		r.ends[key] = map[*end]bool{}
	}
	r.ends[key][e] = true
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if delete(r.ends[key], e); len(r.ends[key]) == 0 {
			delete(r.ends, key)
		}
	}
}

// endAll ends the calls of a session. Another caller's are not among them,
// whatever session is named.
func (r *running) endAll(who, session string) {
	if session == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := range r.ends[sessionKey(who, session)] {
		e.cancel()
	}
}
