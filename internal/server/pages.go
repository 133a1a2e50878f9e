// SPDX-License-Identifier: Apache-2.0

package server

import (
	"net/http"
	"regexp"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/ambit-sandbox/ambit/internal/journal"
	"github.com/ambit-sandbox/ambit/internal/statuspage"
)

// Patterns of the pages for browsers.
const (
	statusPattern = "GET /{$}"
	runPattern    = "GET /runs/{id}"
)

// isPage reports whether a request goes to a page, and so can change nothing.
func isPage(r *http.Request) bool { return r.Pattern == statusPattern || r.Pattern == runPattern }

// Bounds of what the status page shows, and of how much of the journal is read
// for it.
const (
	recentRuns  = 50
	recentBytes = 2 << 20
)

// Seconds between two loads of a page that refreshes itself.
const (
	minRefresh = 2
	maxRefresh = 3600
)

var runID = regexp.MustCompile(`^[a-z2-7]{26}$`)

// pages makes them, one at a time: each reads a part of the journal.
type pages struct {
	mu    sync.Mutex
	make  *statuspage.Pages
	began time.Time
}

func newPages() *pages { return &pages{make: statuspage.New(), began: time.Now()} }

// showStatus answers GET /.
func (s *Server) showStatus(w http.ResponseWriter, r *http.Request, _ string) {
	h := s.healthAnswer()
	v := &statuspage.Status{
		Available: h.Sandbox.Available, Backend: h.Sandbox.Backend, Reason: h.Sandbox.Detail, Checked: h.Sandbox.Checked,
		Version: buildVersion(), Started: s.pages.began, Now: time.Now(),
		Running: s.active.list(), Concurrency: s.config.Concurrency, Waiting: int(h.Waiting), Queue: *s.config.Queue,
		Limits: h.Limits, JournalTrouble: h.Journal.Detail, LostLines: h.Journal.LostLines, Refresh: refreshOf(r),
	}
	b, err := s.statusBody(v)
	s.sendPage(w, http.StatusOK, b, err)
}

// statusBody adds what the journal says. Nobody is answered meanwhile, as who
// does not read would hold up everybody else's page.
func (s *Server) statusBody(v *statuspage.Status) ([]byte, error) {
	s.pages.mu.Lock()
	defer s.pages.mu.Unlock()
	runs, err := journal.Recent(s.config.Journal, recentRuns, recentBytes)
	if err != nil {
		v.RecentTrouble = err.Error()
	}
	for _, run := range runs {
		if run.End != nil {
			v.Recent = append(v.Recent, run)
		}
	}
	return s.pages.make.Status(v)
}

// refreshOf is how often the page is to be loaded anew: never, if nobody asks.
func refreshOf(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("refresh"))
	if err != nil || n <= 0 {
		return 0
	}
	return min(max(n, minRefresh), maxRefresh)
}

// showRun answers GET /runs/ID.
func (s *Server) showRun(w http.ResponseWriter, r *http.Request, _ string) {
	status, b, err := s.runBody(r.PathValue("id"))
	s.sendPage(w, status, b, err)
}

func (s *Server) runBody(id string) (status int, b []byte, err error) {
	s.pages.mu.Lock()
	defer s.pages.mu.Unlock()
	run, err := s.findRun(id)
	switch {
	case err != nil:
		return 0, nil, err
	case run == nil:
		b, err = s.pages.make.Missing()
		return http.StatusNotFound, b, err
	}
	b, err = s.pages.make.Run(run, time.Now())
	return http.StatusOK, b, err
}

// findRun looks among the runs under way and in the journal.
func (s *Server) findRun(id string) (*journal.Run, error) {
	if !runID.MatchString(id) {
		return nil, nil
	}
	if start := s.active.get(id); start != nil {
		return &journal.Run{Start: *start}, nil
	}
	return journal.Find(s.config.Journal, id)
}

// sendPage sends a page, which may be shown nowhere but in a window of its
// own, run no script, and load nothing.
func (s *Server) sendPage(w http.ResponseWriter, status int, body []byte, err error) {
	if err != nil {
		s.log.Error("a page can't be made", "error", err.Error())
		newProblem(http.StatusInternalServerError, codeInternal, "the page can't be made; the service's log says why").answer().send(w)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", s.pages.make.ContentSecurityPolicy())
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	(&answer{status: status, mediaType: "text/html; charset=utf-8", body: body}).send(w)
}

// buildVersion is the release, as the build noted it.
func buildVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
