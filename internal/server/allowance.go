// SPDX-License-Identifier: Apache-2.0

package server

import (
	"maps"
	"os"
	"slices"

	"github.com/ambit-sandbox/ambit/policy"
)

// Allowance is what a run may have at most, for a client to know beforehand.
// It holds names, and no secret's value.
type Allowance struct {
	// Network says whether the server's policy opens the network.
	Network bool `json:"network"`
	// Writable are the paths that can be written, in the words of the policy:
	// ${WORK_DIR} is the project's directory.
	Writable []string `json:"writable"`
	// Secrets are the names that a request can ask for.
	Secrets []string `json:"secrets"`
	// Projects are the names that a request can name, the first ones only.
	Projects []string `json:"projects"`
	// ProjectsLeft is how many more there are.
	ProjectsLeft int `json:"projects_left,omitempty"`
}

// mostProjects bounds the names in an Allowance.
const mostProjects = 100

// Allowance says what the configuration allows, and which projects there are now.
func (s *Server) Allowance() *Allowance {
	p := s.config.Policy
	a := &Allowance{
		Network: p.AllowNetwork != nil && *p.AllowNetwork, Writable: []string{},
		Secrets: append([]string{}, slices.Sorted(maps.Keys(s.config.Secrets))...), Projects: []string{},
	}
	if p.Extends == policy.Workspace {
		a.Writable = append(a.Writable, "${WORK_DIR}")
	}
	a.Writable = append(a.Writable, p.WritePaths...)
	entries, err := os.ReadDir(s.config.Projects)
	if err != nil {
		return a // a request for a project fails alike
	}
	for _, e := range entries {
		switch {
		case !e.IsDir() || !projectName.MatchString(e.Name()):
		case len(a.Projects) < mostProjects:
			a.Projects = append(a.Projects, e.Name())
		default:
			a.ProjectsLeft++
		}
	}
	return a
}
