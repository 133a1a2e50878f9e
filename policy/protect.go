// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strings"
)

// Protection is a part of a project that the built-in policy "workspace" keeps
// a command from writing, because the user's own programs later run what
// stands there, without asking, outside the sandbox. [Policy.Unprotect] lifts
// it.
type Protection struct {
	// Name is what [Policy.Unprotect] lists.
	Name string
	// Doc says, in one sentence, what a command could do without it.
	Doc string
	// Paths are the places, as path fields.
	Paths []string
}

// Protections are the known ones, sorted by name. What a user sees before it
// runs (build files, sources, scripts) is not among them: changing that is a
// command's work.
var Protections = []Protection{
	{"agent", "Coding agents take settings, commands and servers to start from these.", inWorkDir(
		".aider.conf.yml", ".amazonq", ".amp", ".claude", ".codex", ".continue", ".crush.json", ".cursor", ".factory",
		".gemini", ".junie", ".kiro", ".mcp.json", ".opencode", ".qwen", ".roo", ".trae", ".windsurf",
		"crush.json", "opencode.json", "opencode.jsonc",
	)},
	{AmbitProtection, "Ambit takes policies from these, which say what the next command may do.", inWorkDir(
		".ambit", ".ambit.json", "ambit.json",
	)},
	{"editor", "Editors run tasks and tools that these name as soon as the folder is opened.", inWorkDir(
		".devcontainer", ".devcontainer.json", ".fleet", ".helix", ".idea", ".vscode", ".zed",
	)},
	// commondir makes Git read the configuration and the hooks of another
	// folder, branches and remotes name repositories to push to, whose hooks
	// run (gitrepository-layout(5)). With HEAD the project could become a bare
	// repository, which counts where .git is made none, by taking its HEAD away
	// (setup_git_directory_gently_1 in Git's setup.c).
	{GitProtection, "Git runs programs that its configuration names, even for `git status`.", inWorkDir(
		"HEAD", ".git/branches", ".git/commondir", ".git/config", ".git/config.worktree", ".git/remotes",
		".git/modules/**/commondir", ".git/modules/**/config", ".git/modules/**/config.worktree",
	)},
	{HooksProtection, "Git runs them when the user commits, merges, checks out or pushes.", inWorkDir(
		".git/hooks", ".git/modules/**/hooks",
	)},
	// Without its commondir the folder of a worktree is a whole repository.
	{"git-worktrees", "Git takes its configuration and hooks from where these say, in the worktrees beside the project.", inWorkDir(
		".git/worktrees/*/commondir", ".git/worktrees/*/config", ".git/worktrees/*/config.worktree", ".git/worktrees/*/hooks",
	)},
}

// Protections that more than their own places belong to.
const (
	// AmbitProtection is that of the names under which a project keeps its own
	// policy.
	AmbitProtection = "ambit"
	// GitProtection and HooksProtection also close what Git's configuration
	// names: other configuration and programs, and the directory of hooks.
	GitProtection   = "git-config"
	HooksProtection = "git-hooks"
)

// ProtectionOrigin is the origin of a protection's rules.
func ProtectionOrigin(name string) string { return "built-in " + Workspace + ", " + name }

// Protecting reports which protections are in force in some of the policies.
func Protecting(by ...*Resolved) map[string]bool {
	inForce := map[string]bool{}
	for _, r := range by {
		if r == nil {
			continue
		}
		for _, rule := range r.Rules {
			inForce[ProtectionOf(rule)] = true
		}
	}
	return inForce
}

// ProtectionOf names the protection that a rule belongs to, or is empty.
func ProtectionOf(r PathRule) string {
	if !r.Builtin || r.Kind != BlockedWrite {
		return ""
	}
	_, name, _ := strings.Cut(r.Origin, ", ")
	return name
}

func inWorkDir(names ...string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = "${" + varWorkDir + "}/" + name
	}
	return paths
}

// everyProtection lifts all of them.
const everyProtection = "all"

// protected lists the places of all protections.
func protected() []string {
	var paths []string
	for _, p := range Protections {
		paths = append(paths, p.Paths...)
	}
	return paths
}

// protectionOf names the protection that a built-in path belongs to.
func protectionOf(path string) string {
	for _, p := range Protections {
		if slices.Contains(p.Paths, path) {
			return p.Name
		}
	}
	return ""
}

func protectionNames() []string {
	names := []string{everyProtection}
	for _, p := range Protections {
		names = append(names, p.Name)
	}
	return names
}

// lifted reports whether a built-in rule belongs to a protection that some
// layer lifts.
func (m *merged) lifted(r rule) bool {
	if r.builtin != fromBuiltin || r.kind != BlockedWrite {
		return false
	}
	return slices.Contains(m.unprotect, everyProtection) || slices.Contains(m.unprotect, protectionOf(r.path))
}

// origin names where a rule comes from, as reports show it: of a protection by
// its name too, so that the reader knows what to lift.
func (r rule) origin() string {
	if r.builtin == fromBuiltin && r.kind == BlockedWrite {
		return r.layer + ", " + protectionOf(r.path)
	}
	return r.layer
}
