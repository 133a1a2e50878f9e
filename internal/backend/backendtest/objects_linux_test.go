// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
)

// keptAttribute is an extended attribute that the prepared files have, where
// their file system takes any (tmpfs does from Linux 6.6 on).
const keptAttribute = "user.kept"

// makeObjects fills a new folder with what the operations of a case act on:
// f a file, x a script, d a folder with a file in it, e an empty folder, l a
// symbolic link to f, p a FIFO.
func makeObjects(t testing.TB, dir string) {
	t.Helper()
	for _, err := range []error{
		os.Mkdir(dir, 0o755),
		os.Mkdir(dir+"/d", 0o755),
		os.Mkdir(dir+"/e", 0o755),
		os.WriteFile(dir+"/f", []byte("content"), 0o644),
		os.WriteFile(dir+"/d/in", []byte("inner"), 0o644),
		os.WriteFile(dir+"/x", []byte("#!/bin/sh\necho ran\n"), 0o755),
		os.Symlink("f", dir+"/l"),
		syscall.Mkfifo(dir+"/p", 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Setxattr(dir+"/f", keptAttribute, []byte("kept"), 0); err != nil && err != syscall.EOPNOTSUPP {
		t.Fatal(err)
	}
}

// exact describes every object below dir so that any change shows: content,
// mode, owner, links, attributes, identity and times of change.
func exact(t testing.TB, dir string) string { return describe(t, dir, identity) }

// effects describes them so that two folders compare in which the same things
// were done. Times tell only if they were set to long ago.
func effects(t testing.TB, dir string) string { return describe(t, dir, longAgo) }

func identity(st *syscall.Stat_t) string {
	return fmt.Sprintf("dev %d ino %d mtime %v ctime %v", st.Dev, st.Ino, st.Mtim, st.Ctim)
}

// year2020 is far before every object of a test was made.
const year2020 = 1577836800

func longAgo(st *syscall.Stat_t) string {
	if st.Mtim.Sec < year2020 {
		return fmt.Sprintf("mtime %v", st.Mtim)
	}
	return ""
}

func describe(t testing.TB, dir string, times func(*syscall.Stat_t) string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(name, &st); err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		size := st.Size
		if d.IsDir() {
			size = 0 // file systems count a folder's size in their own ways
		}
		lines = append(lines, fmt.Sprintf("%q mode %o owner %d:%d links %d size %d %s %s", rel,
			st.Mode, st.Uid, st.Gid, st.Nlink, size, content(name, &st), times(&st)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// content describes what is in an object and its extended attributes.
func content(name string, st *syscall.Stat_t) string {
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		to, _ := os.Readlink(name)
		return "-> " + to
	case syscall.S_IFREG:
		b, err := os.ReadFile(name)
		if err != nil {
			return outcome(err)
		}
		return fmt.Sprintf("sha256 %x %s", sha256.Sum256(b), attributes(name))
	}
	return attributes(name)
}

func attributes(name string) string {
	buf := make([]byte, 4096)
	n, err := syscall.Listxattr(name, buf)
	if err != nil {
		return outcome(err)
	}
	var out []string
	for _, attr := range strings.Split(strings.TrimRight(string(buf[:n]), "\x00"), "\x00") {
		value := make([]byte, 4096)
		if n, err := syscall.Getxattr(name, attr, value); err == nil {
			out = append(out, fmt.Sprintf("%s=%x", attr, value[:n]))
		}
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}
