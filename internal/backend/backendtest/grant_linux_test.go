// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
)

// TestGrantsLift: what a failed run says would let the refused call through
// does, as a flag and as a policy, and nothing less than that was needed. Where
// a block stands there is nothing to add.
func TestGrantsLift(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	for name, c := range map[string]struct {
		script string
		flag   string // with WORK and READ for the folders
	}{
		"a hook":              {`echo x > .git/hooks/pre-commit`, "--unprotect git-hooks"},
		"a mode":              {`chmod 0700 READ/file`, "--write READ/file"},
		"a mode, odd name":    {`chmod 0700 "READ/it's an odd \$name"`, `--write $'READ/it\'s an odd $name'`},
		"times":               {`touch -c READ/file`, "--write READ/file"},
		"a removed file":      {`rm -f READ/sub/file`, "--write READ/sub"},
		"a renamed file":      {`mv READ/sub/file READ/sub/other`, "--write READ/sub"},
		"a removed directory": {`rmdir READ/sub/empty`, "--write READ/sub"},
		"a link":              {`ln READ/file linked`, "--write READ/file"},
		"a new file":          {`echo x > READ/new`, "--write READ/new"},
		"a new directory":     {`mkdir READ/new && echo x > READ/new/f`, "--write READ/new"},
		"a new name":          {`touch plain && mv plain READ/new && mv READ/new plain`, "--write READ/new"},
		"a block":             {`echo x > shut`, ""},
		"a block for writing": {`echo x > half`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.must(os.MkdirAll(w.at("work/.git/hooks"), 0o755))
			w.must(os.MkdirAll(w.at("read/sub/empty"), 0o755))
			for _, f := range []string{"read/file", "read/sub/file", "read/it's an odd $name", "work/half"} {
				w.write(f, "text")
			}
			names := strings.NewReplacer("WORK", w.at("work"), "READ", w.at("read"))
			script, flag := names.Replace(c.script), names.Replace(c.flag)
			flags := w.policyFlags("--block", w.at("work/shut"), "--block-write", w.at("work/half"))
			receipt := w.at("outside/receipt")
			r := finish(t, w.sandbox(append(flags[:len(flags):len(flags)], "--receipt", receipt), "/bin/sh", "-c", script))
			if r.code == 0 || !strings.Contains(r.stderr, "ambit: the sandbox refused ") || strings.Count(r.stderr, "ambit: ") != 1 {
				t.Fatalf("%+v", r)
			}
			b, err := os.ReadFile(receipt)
			w.must(err)
			var rec struct{ Denials []denial.Denial }
			w.must(json.Unmarshal(b, &rec))
			if len(rec.Denials) == 0 || rec.Denials[len(rec.Denials)-1].Grant == nil {
				t.Fatalf("%s", b)
			}
			g := rec.Denials[len(rec.Denials)-1].Grant
			if flag == "" {
				if g.Flag != "" || g.Policy != nil || !strings.Contains(r.stderr, "closed on purpose, by --block") {
					t.Errorf("%+v, %s", g, r.stderr)
				}
				return
			}
			if g.Flag != flag || !strings.Contains(r.stderr, flag+" would lift that") {
				t.Fatalf("%q, %s", g.Flag, r.stderr)
			}
			// As a user takes it: copied into a shell, and into a file.
			line := exec.Command("bash", "-c", `exec "$0" run "${@:2}" `+flag+` -- /bin/sh -c "$1"`, os.Getenv("AMBIT_BIN"), script)
			line.Args, line.Dir, line.Env = append(line.Args, flags...), w.at("work"), w.environ()
			succeed(t, line)
			w.must(errors.Join(os.RemoveAll(w.at("read/sub")), os.RemoveAll(w.at("read/new"))))
			w.must(os.RemoveAll(w.at("work/linked")))
			w.must(os.MkdirAll(w.at("read/sub/empty"), 0o755))
			w.write("read/sub/file", "text")
			g.Policy.Extends = "workspace"
			text, err := json.Marshal(g.Policy)
			w.must(err)
			succeed(t, w.sandbox(append(flags[:len(flags):len(flags)], "--policy", w.write("outside/policy", string(text))), "/bin/sh", "-c", script))
		})
	}
}
