// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestMessages: messages as real programs print them.
func TestMessages(t *testing.T) {
	for _, c := range []struct {
		line   string
		name   string // one of the names; "" is no message
		access Access
		call   string
	}{
		{"cat: /home/u/x: Permission denied", "/home/u/x", "", ""},
		{"cat: '/home/u/a b': Permission denied", "/home/u/a b", "", ""},
		{"cat: /home/u/a b: Permission denied", "/home/u/a b", "", ""},
		{"cat: can't open '/home/u/x': Permission denied", "/home/u/x", "", ""}, // BusyBox
		{"cat: x: Permission denied", "x", "", ""},
		{"head: cannot open '/home/u/x' for reading: Permission denied", "/home/u/x", Read, ""},
		{"ls: cannot access '/home/u/x': Permission denied", "/home/u/x", Read, ""},
		{"ls: cannot open directory '/home/u': Permission denied", "/home/u", "", ""},
		{"ls: cannot open directory ‘/home/u’: Permission denied", "/home/u", "", ""},
		{"find: ‘/home/u/.ssh’: Permission denied", "/home/u/.ssh", "", ""},
		{"touch: cannot touch '/home/u/x': Permission denied", "/home/u/x", Write, ""},
		{"touch: /home/u/x: Permission denied", "/home/u/x", Write, ""}, // BusyBox
		{"mkdir: cannot create directory '/home/u/x': Permission denied", "/home/u/x", Write, ""},
		{"rm: cannot remove '/home/u/x': Permission denied", "/home/u/x", Write, "unlink"},
		{"mv: cannot move 'a' to '/home/u/x': Permission denied", "/home/u/x", Write, "unlink"},
		{"cp: cannot create regular file '/home/u/x': Permission denied", "/home/u/x", Write, ""},
		{"tee: /home/u/x: Permission denied", "/home/u/x", Write, ""},
		{"tar: /home/u/x: Cannot open: Permission denied", "/home/u/x", "", ""},
		{"tar: x: Cannot open: Permission denied", "x", "", ""},
		{"sh: 1: cannot create /home/u/x: Permission denied", "/home/u/x", Write, ""},       // dash
		{"sh: 1: cannot open /home/u/x: Permission denied", "/home/u/x", "", ""},            // dash
		{"/bin/sh: 1: cannot create x: Permission denied", "x", Write, ""},                  // dash
		{"bash: line 1: /home/u/x: Permission denied", "/home/u/x", "", ""},                 // bash
		{"/p/run.sh: line 3: /home/u/x: Permission denied", "/home/u/x", "", ""},            // bash
		{"zsh:1: permission denied: /home/u/x", "/home/u/x", "", ""},                        // zsh
		{"/usr/bin/ld: cannot open output file /u/x: Permission denied", "/u/x", Write, ""}, // binutils
		{"cc1: fatal error: /home/u/x.c: Permission denied", "/home/u/x.c", "", ""},
		{"PermissionError: [Errno 13] Permission denied: '/home/u/x'", "/home/u/x", "", ""},
		{`PermissionError: [Errno 13] Permission denied: "/home/u/it's"`, "/home/u/it's", "", ""},
		{"python3: can't open file '/home/u/x.py': [Errno 13] Permission denied", "/home/u/x.py", "", ""},
		{"Error: EACCES: permission denied, open '/home/u/x'", "/home/u/x", "", ""},
		{"Error: EACCES: permission denied, mkdir '/home/u/x'", "/home/u/x", Write, ""},
		{"npm error Error: EACCES: permission denied, scandir '/home/u/x'", "/home/u/x", Read, ""},
		{"open /home/u/x: permission denied", "/home/u/x", "", ""}, // Go
		{"2026/12/07 12:00:00 open /home/u/x: permission denied", "/home/u/x", "", ""},
		{"panic: mkdir /home/u/x: permission denied", "/home/u/x", Write, ""},
		{"fork/exec /home/u/x: permission denied", "/home/u/x", Read, ""},
		{"open x: permission denied", "x", "", ""},
		{"rename /home/u/a /home/u/b: permission denied", "/home/u/a /home/u/b", Write, "unlink"}, // can't be told apart
		{"fatal: could not open '/home/u/x' for reading: Permission denied", "/home/u/x", Read, ""},
		{"error: could not lock config file /home/u/.gitconfig: Permission denied", "/home/u/.gitconfig", Write, ""},
		{"warning: unable to access '/home/u/.gitconfig': Permission denied", "/home/u/.gitconfig", Read, ""},
		{`Load key "/home/u/.ssh/id": Permission denied`, "/home/u/.ssh/id", Read, ""},
		{"java.io.FileNotFoundException: /home/u/x (Permission denied)", "/home/u/x", "", ""},
		{"java.nio.file.AccessDeniedException: /home/u/x", "/home/u/x", "", ""},
		{"x.rb:1:in 'File#initialize': Permission denied @ rb_sysopen - /home/u/x (Errno::EACCES)", "/home/u/x", "", ""},
		{"-e:1:in `read': Permission denied @ rb_sysopen - /home/u/x (Errno::EACCES)", "/home/u/x", Read, ""},
		{"Permission denied @ rb_sysopen - /home/u/x (Errno::EACCES)", "/home/u/x", "", ""},
		{"PHP Warning:  fopen(/home/u/x): Failed to open stream: Permission denied in x.php on line 1", "/home/u/x", "", ""},
		{"hook \"pre-commit\": open /home/u/x: permission denied", "/home/u/x", "", ""},
		{"make: /home/u/x: Permission denied", "/home/u/x", "", ""},
		{"rsync: [sender] send_files failed to open \"/home/u/x\": Permission denied (13)", "/home/u/x", "", ""},
		{"~/x: Permission denied", "~/x", "", ""},
		{"tool: cannot open ~/x: Permission denied", "~/x", "", ""},
		{"cat: /home/u/write/remove: Permission denied", "/home/u/write/remove", "", ""},
		{"cat: /home/u/x: Permission denied\r", "/home/u/x", "", ""},
		{"cat: /home/u/\xff\x1b[31m: Permission denied", "/home/u/\xff\x1b[31m", "", ""},

		{"cat: /home/u/x: No such file or directory", "", "", ""},
		{"mount: /mnt: Operation not permitted", "", "", ""},
		{"touch: cannot touch '/mnt/x': Read-only file system", "", "", ""},
		{"Permission denied", "", "", ""},
		{"git@example.org: Permission denied (publickey).", "git@example.org", "", ""}, // no file has that name
		{"cat: /" + strings.Repeat("x", longestName) + ": Permission denied", "", "", ""},
		{"", "", "", ""},
	} {
		list := Messages("before\n" + c.line + "\nafter\n")
		switch {
		case c.name == "" && len(list) == 0:
		case c.name == "" || len(list) != 1 || !slices.Contains(list[0].Names, c.name):
			t.Errorf("%s\n%q, want %q", c.line, list, c.name)
		case list[0].Access != c.access || list[0].Call != c.call:
			t.Errorf("%s\n%+v, want %q, %q", c.line, list[0], c.access, c.call)
		}
	}
}

// TestMessagesBounded: the last ones count, and there are not many.
func TestMessagesBounded(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "cat: /p/%d: Permission denied\n", i)
	}
	list := Messages(b.String())
	if len(list) != mostMessages || list[0].Names[0] != "/p/999" {
		t.Errorf("%d messages, the first %q", len(list), list[0].Names)
	}
	if list := Messages(strings.Repeat("'/p/x' ", 1000) + "Permission denied"); len(list) != 1 || len(list[0].Names) != mostNames {
		t.Errorf("%+v", list)
	}
}

// FuzzMessages: whatever a program prints makes no more than a few names, each
// of which it printed.
func FuzzMessages(f *testing.F) {
	f.Add("cat: '/p/x': Permission denied\nopen ‘/p/y’: permission denied\n")
	f.Add("\xff'\xe2\x80: EACCES: EACCES (/")
	f.Add(": : Permission denied - \n - ")
	f.Fuzz(func(t *testing.T, text string) {
		list := Messages(text)
		if len(list) > mostMessages {
			t.Fatalf("%d messages", len(list))
		}
		for _, m := range list {
			if len(m.Names) == 0 || len(m.Names) > mostNames {
				t.Fatalf("%+v", m)
			}
			for _, n := range m.Names {
				if n == "" || len(n) > longestName || !strings.Contains(text, n) {
					t.Fatalf("%q", n)
				}
			}
		}
	})
}
