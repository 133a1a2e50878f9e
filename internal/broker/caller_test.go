// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"strings"
	"testing"
)

func TestGitSubcommand(t *testing.T) {
	for line, want := range map[string]string{
		"git worktree add ../wt b":             "worktree",
		"git -C /p -c a.b=c --no-pager status": "status",
		"git --git-dir /p/.git --bare commit":  "commit",
		"git":                                  "",
		"git -c":                               "",
		"git --version":                        "",
		"git submodule--helper clone":          "submodule--helper",
		"git /p/secret":                        "",
		"git tOken123":                         "",
		"git averylongwordthatcouldbeasecret":  "",
		"":                                     "",
	} {
		cmdline := ""
		if line != "" {
			cmdline = strings.ReplaceAll(line, " ", "\x00") + "\x00"
		}
		if got := gitSubcommand(cmdline); got != want {
			t.Errorf("%q: %q", line, got)
		}
	}
	// The first 4 KiB of a longer one may end in the middle of a word.
	if got := gitSubcommand("git\x00work"); got != "work" {
		t.Errorf("%q", got)
	}
}
