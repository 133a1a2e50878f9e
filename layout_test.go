// SPDX-License-Identifier: Apache-2.0

package ambit_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ambit-sandbox/ambit"

// layers orders the packages: each may import only from lines below its own,
// or what stands in its own line below the same folder. A package that is in
// no line fails the test, so a new one is placed on purpose.
var layers = [][]string{
	{"cmd", "bench", "lab", "internal/testrun"},
	{"internal/mcpserver"},
	{"internal/cli", "internal/server"},
	{"client", "internal/statuspage"},
	{"internal/runner"},
	{"internal/supervisor"},
	{""}, // package ambit
	{"internal/backend/all"},
	{"internal/backend/landlock", "internal/backend/backendtest"},
	{"internal/backend", "internal/launch", "internal/secctx"},
	{"internal/broker"},
	{"internal/cgroup", "internal/child", "internal/seccomp", "internal/stock"},
	{"internal/plan/hostpath"},
	{"internal/written"},
	{"internal/plan"},
	{"internal/probe"},
	{"denial", "internal/journal", "internal/redact", "internal/sdnotify"},
	{"policy"},
	{"internal/gitconfig", "internal/sha256", "internal/sys"},
}

// TestImportsPointDownwards keeps the direction of imports, and x/sys/unix in
// internal/sys. Test files count too, but for what only tests may import.
func TestImportsPointDownwards(t *testing.T) {
	each(t, func(file string, b []byte) {
		f, err := parser.ParseFile(token.NewFileSet(), file, b, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		from := filepath.ToSlash(filepath.Dir(file))
		if from == "." {
			from = ""
		}
		for _, imp := range f.Imports {
			path, _ := strconv.Unquote(imp.Path.Value)
			if path == "golang.org/x/sys/unix" && from != "internal/sys" {
				t.Errorf("%s imports %s: only internal/sys may", file, path)
			}
			to, ours := strings.CutPrefix(path, module)
			if to = strings.TrimPrefix(to, "/"); !ours || to == from || strings.HasSuffix(file, "_test.go") {
				continue
			}
			if a, b := layerOf(t, from), layerOf(t, to); a > b || a == b && !strings.HasPrefix(to, from+"/") {
				t.Errorf("%s imports %s, which is not below it", file, path)
			}
		}
	})
}

func layerOf(t *testing.T, dir string) int {
	for i, line := range layers {
		for _, l := range line {
			if dir == l || l != "" && strings.HasPrefix(dir, l+"/") {
				return i
			}
		}
	}
	t.Fatalf("package %q is in no layer", dir)
	return -1
}

// TestFilesAreShort keeps one idea a file.
func TestFilesAreShort(t *testing.T) {
	each(t, func(file string, b []byte) {
		if n := bytes.Count(b, []byte("\n")); n > 450 && !strings.Contains(file, "generated") {
			t.Errorf("%s has %d lines: is it one idea?", file, n)
		}
		if !bytes.Contains(b[:min(len(b), 200)], []byte("SPDX-License-Identifier: Apache-2.0")) {
			t.Errorf("%s does not name its licence", file)
		}
	})
}

// each calls do for every Go file of the module.
func each(t *testing.T, do func(file string, b []byte)) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return orSkip(err)
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		b, err := os.ReadFile(file)
		if err == nil {
			n++
			do(file, b)
		}
		return err
	})
	if err != nil || n < 50 {
		t.Fatalf("saw %d files: %v", n, err)
	}
}

func orSkip(err error) error {
	if err != nil {
		return err
	}
	return filepath.SkipDir
}

// TestCommandStaysSmall keeps out of the binary what every command would pay
// for at its start: packages that are big, or whose initialisation is long.
func TestCommandStaysSmall(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/ambit")
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 50 {
		t.Fatalf("only %d dependencies: %s", len(deps), out)
	}
	for _, dep := range deps {
		switch {
		case dep == "net", strings.HasPrefix(dep, "net/"), dep == "os/user", dep == "text/template", dep == "html/template",
			dep == "log", dep == "log/slog", dep == "crypto/tls", dep == "regexp", dep == "plugin", dep == "testing", dep == "runtime/cgo":
			t.Errorf("the command links %s", dep)
		}
	}
}
