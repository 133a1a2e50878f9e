// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"fmt"
	"strings"

	"github.com/ambit-sandbox/ambit/internal/server"
)

// allowanceText says in words what a run may do, for a model to read before it
// runs a command. Projects come and go, so only the status names them.
func allowanceText(a *server.Allowance) string {
	network := "closed: no command reaches any host, and asking for allow_network is refused"
	if a.Network {
		network = "open; a folder_guard without allow_network closes it for its run"
	}
	return fmt.Sprintf("The network is %s. Writable: %s. Secrets that a request can name: %s.", network, listed(a.Writable), listed(a.Secrets))
}

// projectsText names the projects that there are now.
func projectsText(a *server.Allowance) string {
	text := "projects: " + listed(a.Projects)
	if a.ProjectsLeft > 0 {
		text += fmt.Sprintf(" and %d more", a.ProjectsLeft)
	}
	return text
}

// listed names what is in a list, one line for all of it.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return quoteLine(strings.Join(names, ", "))
}
