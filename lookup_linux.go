// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"path"
	"strings"
	"syscall"
)

// accessX is X_OK of access(2).
const accessX = 1

// lookup lists the files that execve may try for a program's name, in order,
// as execvp(3) does: the entries of the command's own PATH, seen from its
// working directory. Whether the policy lets one be executed, the kernel
// says. found is false if there is no such file at all.
func lookup(name, dir string, environ []string) (files []string, found bool) {
	if strings.Contains(name, "/") {
		return []string{name}, true
	}
	for _, entry := range strings.Split(searchPath(environ), ":") {
		file := path.Join(entry, name)
		if !strings.HasPrefix(entry, "/") {
			// An empty entry is the working directory (execvp(3)).
			file = path.Join(dir, entry, name)
		}
		var st syscall.Stat_t
		if syscall.Stat(file, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
			continue
		}
		found = true
		if syscall.Access(file, accessX) == nil {
			files = append(files, file)
		}
	}
	return files, found
}

// searchPath returns the value of PATH. The default is that of the C library
// (confstr(3), _CS_PATH), without the current directory.
func searchPath(environ []string) string {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			return v
		}
	}
	return "/bin:/usr/bin"
}
