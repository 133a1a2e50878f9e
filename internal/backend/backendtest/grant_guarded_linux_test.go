// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
)

// TestGrantsStaySmall: what is said after a failure names the object that was
// wanted, and never a directory that holds the home, the project or what the
// policy closes.
func TestGrantsStaySmall(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	for name, c := range map[string]struct {
		script string
		flag   string // with HOME and TOP for the directories
		keep   string
	}{
		"a new file in the home":           {`echo x > HOME/x; exit 1`, "--write HOME/x", "only that name"},
		"a new directory in the home":      {`mkdir HOME/.tool`, "--write HOME/.tool", "only that name"},
		"through a link":                   {`mkdir TOP/link/.tool`, "--write HOME/.tool", "only that name"},
		"an old file of the home":          {`chmod 600 HOME/old`, "--write HOME/old", ""},
		"removed from the home":            {`rm -f HOME/old`, "", "would open the home"},
		"moved within the home":            {`mv HOME/old HOME/new`, "", "would open the home"},
		"the home":                         {`chmod 700 HOME`, "", "would open the home"},
		"through a link, the home":         {`chmod 700 TOP/link`, "", "would open the home"},
		"what holds the home":              {`chmod 700 TOP`, "", "would open the home"},
		"what holds a block":               {`chmod 700 TOP/outside`, "", "--block closes on purpose"},
		"what holds a pattern":             {`chmod 700 TOP/patterns`, "", "--block closes on purpose"},
		"beside a block":                   {`mkdir TOP/outside/new`, "--write TOP/outside/new", "only that name"},
		"removed beside a block":           {`rm -f TOP/outside/file`, "", "--block closes on purpose"},
		"the control: removed elsewhere":   {`rm -f TOP/read/file`, "--write TOP/read", "opens all of"},
		"the control: an old one, by mode": {`chmod 700 TOP/read`, "--write TOP/read", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, f := range []string{"home/old", "outside/file", "read/file"} {
				w.write(f, "text")
			}
			w.must(os.Mkdir(w.at("patterns"), 0o755))
			w.must(os.Symlink("home", w.at("link")))
			names := strings.NewReplacer("HOME", w.at("home"), "TOP", w.dir)
			receipt := t.TempDir() + "/receipt"
			flags := w.policyFlags("--block", w.at("outside/shut"), "--block", w.at("patterns/*.key"), "--receipt", receipt)
			r := finish(t, w.sandbox(flags, "/bin/sh", "-c", names.Replace(c.script)))
			b, err := os.ReadFile(receipt)
			w.must(err)
			var rec struct{ Denials []denial.Denial }
			w.must(json.Unmarshal(b, &rec))
			if r.code == 0 || len(rec.Denials) == 0 || rec.Denials[0].Grant == nil {
				t.Fatalf("%+v\n%s", r, b)
			}
			flag := names.Replace(c.flag)
			if g := rec.Denials[0].Grant; g.Flag != flag || (g.Policy == nil) != (flag == "") || !strings.Contains(g.Keep, c.keep) || c.keep == "" && g.Keep != "" {
				t.Errorf("%+v", g)
			}
			if flag == "" && strings.Contains(r.stderr, "would lift") {
				t.Error(r.stderr)
			}
		})
	}
}
