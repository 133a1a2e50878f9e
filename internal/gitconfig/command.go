// SPDX-License-Identifier: Apache-2.0

package gitconfig

import "strings"

// commands are the variables whose values Git runs, by [Entry.Key]
// (git-config(1), gitattributes(5), git-mergetool(1), git-difftool(1)).
var commands = map[string]bool{
	"core.alternaterefscommand": true, "core.askpass": true, "core.editor": true, "core.fsmonitor": true,
	"core.gitproxy": true, "core.pager": true, "core.sshcommand": true,
	"credential.helper": true, "browser.cmd": true, "browser.path": true,
	"diff.command": true, "diff.external": true, "diff.textconv": true,
	"difftool.cmd": true, "difftool.path": true, "filter.clean": true, "filter.process": true, "filter.smudge": true,
	"gpg.defaultkeycommand": true, "gpg.program": true, "guitool.cmd": true, "hook.command": true,
	"interactive.difffilter": true, "man.cmd": true, "man.path": true, "merge.driver": true,
	"mergetool.cmd": true, "mergetool.path": true,
	"remote.receivepack": true, "remote.uploadpack": true, "sendemail.sendmailcmd": true, "sendemail.smtpserver": true,
	"sendemail.tocmd": true, "sendemail.cccmd": true, "sendemail.headercmd": true,
	"sequence.editor": true, "tar.command": true, "trailer.cmd": true, "trailer.command": true,
	"uploadpack.packobjectshook": true,
}

// runs reports whether Git runs a variable's value.
func runs(key, value string) bool {
	section, _, _ := strings.Cut(key, ".")
	switch {
	case section == "alias", key == "submodule.update":
		return strings.HasPrefix(value, "!")
	case section == "pager":
		return true
	}
	return commands[key]
}

// command adds the words of a command that may be files. What the shell makes
// of the words is not known, so each one counts.
func (b Base) command(names []Name, value string) []Name {
	for i, word := range strings.FieldsFunc(value, separates) {
		kind := Argument
		if strings.Contains(word, "/") && i == 0 {
			kind = Program
		}
		if i > 0 || kind == Program {
			names = b.path(names, kind, b.Top, word)
		}
	}
	return names
}

// separates reports whether a character stands between the words of a shell
// command (sh(1)).
func separates(r rune) bool { return strings.ContainsRune(" \t\n\"'`!;|&()<>{}=$", r) }
