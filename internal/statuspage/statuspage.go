// SPDX-License-Identifier: Apache-2.0

// Package statuspage makes the pages that the service shows in a browser. They
// have no script, and load nothing: one text each, with its style in it.
// Whatever comes from a command is escaped by html/template, made visible
// where it would not be, and cut where it is long.
package statuspage

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the style and the templates
	"encoding/base64"
	"html/template"
	"time"

	"github.com/ambit-sandbox/ambit/internal/journal"
)

//go:embed style.css
var style string

//go:embed pages.html
var source string

// Status is what the first page shows.
type Status struct {
	Available      bool
	Backend        string
	Reason         string // why not, or what is to be known of it
	Checked        time.Time
	Version        string
	Started, Now   time.Time
	Running        []*journal.Start // newest first
	Concurrency    int
	Waiting, Queue int
	Limits         string // by what memory and processes are bounded
	JournalTrouble string // empty if lines can be written
	LostLines      int64
	Recent         []*journal.Run // that have ended, newest first
	RecentTrouble  string         // why they can't be shown
	Refresh        int            // seconds; 0 is never
}

// Pages makes pages.
type Pages struct {
	templates *template.Template
	policy    string
}

// New reads the templates, which are a part of the program.
func New() *Pages {
	t := template.New("pages").Funcs(template.FuncMap{
		"line": line, "text": block, "command": command, "time": stamp, "clock": clock, "age": age, "ms": milliseconds,
		"rule": rule, "grant": grant, "style": func() template.CSS { return template.CSS(style) },
	})
	sum := sha256.Sum256([]byte(style))
	return &Pages{
		templates: template.Must(t.Parse(source)),
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
	}
}

// ContentSecurityPolicy allows a page its style and nothing else.
func (p *Pages) ContentSecurityPolicy() string { return p.policy }

// Status makes the first page.
func (p *Pages) Status(s *Status) ([]byte, error) { return p.make("status", s) }

// Missing makes the page of a run that is not known.
func (p *Pages) Missing() ([]byte, error) { return p.make("missing", nil) }

func (p *Pages) make(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := p.templates.ExecuteTemplate(&b, name, data)
	return b.Bytes(), err
}
