// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ambit-sandbox/ambit/internal/runner"
	"github.com/ambit-sandbox/ambit/policy"
)

// request is the body of POST /api/execute.
type request struct {
	Project        string            `json:"project"`
	Command        *string           `json:"command"`
	Argv           []string          `json:"argv"`
	FolderGuard    *policy.Policy    `json:"folder_guard"`
	Stdin          string            `json:"stdin"`
	StdinEncoding  string            `json:"stdin_encoding"`
	Env            map[string]string `json:"env"`
	Secrets        []string          `json:"secrets"`
	Timeout        *policy.Duration  `json:"timeout"`
	MaxOutputBytes *int64            `json:"max_output_bytes"`
	Serialize      bool              `json:"serialize"`
}

// decodeRequest reads a body; the error is the client's.
func decodeRequest(body []byte) (*request, error) {
	q := &request{}
	if err := decode("request", body, plainJSON, q); err != nil {
		return nil, err
	}
	return q, q.check()
}

func (q *request) check() error {
	switch {
	case q.Project == "":
		return errors.New("project is missing; name the project's folder")
	case (q.Command == nil) == (len(q.Argv) == 0):
		return errors.New("exactly one of command and argv is needed")
	case q.Command != nil && strings.TrimSpace(*q.Command) == "":
		return errors.New("command is empty")
	case q.StdinEncoding != "" && q.StdinEncoding != "utf-8" && q.StdinEncoding != "base64":
		return errors.New(`stdin_encoding must be "utf-8" or "base64"`)
	case q.Timeout != nil && *q.Timeout <= 0:
		return errors.New("timeout must be above 0")
	}
	if q.StdinEncoding == "base64" {
		b, err := base64.StdEncoding.DecodeString(q.Stdin)
		if err != nil {
			return errors.New("stdin is not base64")
		}
		q.Stdin, q.StdinEncoding = string(b), ""
	}
	for _, s := range q.argv() {
		if strings.ContainsRune(s, 0) {
			return errors.New("a command can't hold a NUL character")
		}
	}
	if q.FolderGuard != nil && len(q.FolderGuard.Secrets) > 0 {
		return policyProblem("folder_guard.secrets would read files and descriptors of the server; name the server's secrets in \"secrets\"")
	}
	if q.Env != nil {
		p := policy.Policy{Env: &policy.Env{Set: q.Env}}
		return p.Check("env")
	}
	return nil
}

func policyProblem(msg string) error { return &policy.Error{Name: "request", Msg: msg} }

// argv is the command; text is for the shell.
func (q *request) argv() []string {
	if q.Command != nil {
		return []string{"/bin/sh", "-c", *q.Command}
	}
	return q.Argv
}

var projectName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$`)

var errProject = errors.New("there is no such project")

// projectDir finds a project's folder: one directly below the root, and no
// link, which could lead anywhere.
func projectDir(root, name string) (string, error) {
	if !projectName.MatchString(name) {
		return "", errProject
	}
	dir := filepath.Join(root, name)
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", errProject
	}
	_ = f.Close()
	return dir, nil
}

// job turns a request into what the engine runs.
func (s *Server) job(q *request) (*runner.Request, error) {
	dir, err := projectDir(s.config.Projects, q.Project)
	if err != nil {
		return nil, err
	}
	j := &runner.Request{Argv: q.argv(), Dir: dir, Environ: os.Environ(), Secrets: map[string]string{}}
	if q.Stdin != "" {
		j.Stdin = strings.NewReader(q.Stdin)
	}
	for _, name := range q.Secrets {
		source, ok := s.config.Secrets[name]
		if !ok {
			return nil, fmt.Errorf("there is no secret %s; the server's configuration names them", quote(name))
		}
		if j.Secrets[name], err = readSecret(source.File); err != nil {
			s.log.Error("a secret can't be read", "secret", name, "error", err.Error())
			return nil, fmt.Errorf("the secret %s can't be read on the server", quote(name))
		}
	}
	timeout := s.config.DefaultTimeout
	if q.Timeout != nil {
		timeout = *q.Timeout
	}
	if most := s.mostTime(); timeout > s.config.MaxTimeout || q.Timeout != nil && timeout > most {
		return nil, fmt.Errorf("timeout is longer than the server's %s", time.Duration(most))
	}
	own := policy.Layer{Name: "server", Policy: *s.config.Policy}
	j.Layers, j.Bounds = []policy.Layer{own}, []policy.Layer{own}
	if q.FolderGuard != nil {
		j.Layers = []policy.Layer{{Name: "folder_guard", Policy: *q.FolderGuard}}
		if l := q.FolderGuard.Limits; l != nil && l.Timeout != nil {
			if most := s.mostTime(); *l.Timeout > most {
				return nil, policyProblem("folder_guard.limits.timeout is longer than the server's " + most.String())
			}
			timeout = min(timeout, *l.Timeout)
		}
	}
	if l := s.config.Policy.Limits; l != nil && l.Timeout != nil {
		timeout = min(timeout, *l.Timeout)
	}
	top := policy.Policy{Limits: &policy.Limits{Timeout: &timeout}}
	switch {
	case len(q.Env) > 0:
		top.Env = &policy.Env{Set: q.Env}
	case q.FolderGuard == nil:
		j.Bounds = nil // it asks for just what the bound allows
	}
	j.Layers = append(j.Layers, policy.Layer{Name: "request", Policy: top})
	return j, nil
}

// mostTime is the longest time that a run can have.
func (s *Server) mostTime() policy.Duration {
	if l := s.config.Policy.Limits; l != nil && l.Timeout != nil {
		return min(*l.Timeout, s.config.MaxTimeout)
	}
	return s.config.MaxTimeout
}

// outputLimit is how many bytes of each stream are kept.
func (s *Server) outputLimit(q *request) int64 {
	if q.MaxOutputBytes != nil {
		return min(*q.MaxOutputBytes, s.config.MaxOutputBytes)
	}
	return s.config.MaxOutputBytes
}

// secretNames is for the journal.
func (q *request) secretNames() []string {
	names := slices.Clone(q.Secrets)
	slices.Sort(names)
	return names
}
