// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestNestedProgram: what a command makes beside a blocked place it can
// execute, and what is blocked it can't, by whatever name.
func TestNestedProgram(t *testing.T) {
	for _, flag := range []string{"--block-write", "--block"} {
		t.Run(flag, func(t *testing.T) {
			w := stockWorld(t)
			w.write("work/closed/prog", "#!/bin/sh\necho blocked\n")
			w.must(os.Chmod(w.at("work/closed/prog"), 0o755))
			w.write("work/before", "#!/bin/sh\necho before\n")
			w.must(os.Chmod(w.at("work/before"), 0o755))
			w.must(os.Mkdir(w.at("work/far"), 0o755)) // on the way to an exception
			blocked := map[string]string{"--block": "EACCES", "--block-write": "OK"}[flag]
			me := self(t)
			w.tryAll(w.policyFlags(flag, w.at("work/closed"), flag, w.at("work/far/gone")), []attempt{
				{"run %work/before", "OK", "before\n"},
				{"put script WRONLY|CREAT #!/bin/sh", "OK", ""},
				{"run %work/script", "EACCES", ""}, // not executable yet
				{"fchmodat AT 'script 0755", "OK", ""},
				{"run %work/script", "OK", ""},
				{"run %work/script", "OK", ""},
				{"put script WRONLY|TRUNC #!/bin/sh", "OK", ""},
				{"run %work/script", "OK", ""},
				{"copy " + me + " %work/program", "OK", ""},
				{"run %work/program op args x", "OK", "=OK \"[\\\"x\\\"]\"\n"},
				{"renameat AT 'program AT 'far/moved", "OK", ""},
				{"run %work/far/moved op args x", "OK", "=OK \"[\\\"x\\\"]\"\n"},
				{"copy " + me + " %work/far/fresh", "OK", ""},
				{"run %work/far/fresh op args x", "OK", "=OK \"[\\\"x\\\"]\"\n"},
				{"mkdirat AT 'folder 0755", "OK", ""},
				{"copy " + me + " %work/folder/program", "OK", ""},
				{"run %work/folder/program op args x", "OK", "=OK \"[\\\"x\\\"]\"\n"},
				{"put by WRONLY|CREAT #!" + w.at("work/script"), "OK", ""},
				{"fchmodat AT 'by 0755", "OK", ""},
				{"run %work/by", "OK", ""},
				{"symlinkat 'script AT 'link", "OK", ""},
				{"run %work/link", "OK", ""},
				// What is blocked.
				{"run %work/closed/prog", blocked, ""},
				{"symlinkat 'closed/prog AT 'to-closed", "OK", ""},
				{"run %work/to-closed", blocked, ""},
				{"put through WRONLY|CREAT #!" + w.at("work/closed/prog"), "OK", ""},
				{"fchmodat AT 'through 0755", "OK", ""},
				{"run %work/through", blocked, ""},
				{"renameat AT 'script AT 'far/gone", "EACCES", ""},
				{"renameat AT 'script AT 'closed/prog", "EACCES", ""},
				{"linkat AT 'closed/prog AT 'taken 0", "EACCES", ""},
			})
			if b, err := os.ReadFile(w.at("work/closed/prog")); err != nil || string(b) != "#!/bin/sh\necho blocked\n" {
				t.Errorf("the blocked program: %q, %v", b, err)
			}
			w.left(1)
		})
	}
}

// TestNestedProgramsMany: what is in store comes to an end. What is executed
// after it is refused, and the receipt says why.
func TestNestedProgramsMany(t *testing.T) {
	w := stockWorld(t)
	const many = 60
	script := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do printf '#!/bin/sh\nexit 0\n' >s$i; chmod +x s$i; ./s$i && echo ran; i=$((i+1)); done 2>/dev/null`, many)
	receipt := w.at("outside/receipt")
	r := finish(t, w.sandbox(w.policyFlags("--block", w.at("work/closed"), "--receipt", receipt), "/bin/sh", "-c", script))
	ran := strings.Count(r.stdout, "ran\n")
	if ran < 30 || ran >= many {
		t.Errorf("%d of %d programs ran\n%s", ran, many, clip(r.stderr))
	}
	b, err := os.ReadFile(receipt)
	w.must(err)
	var rec struct {
		Denials []struct{ Call, Object, Errno, Reason string }
	}
	w.must(json.Unmarshal(b, &rec))
	if len(rec.Denials) != many-ran {
		t.Fatalf("%d denials, and %d programs did not run", len(rec.Denials), many-ran)
	}
	for _, d := range rec.Denials {
		if d.Call != "execve" || d.Errno != "EACCES" || !strings.HasPrefix(d.Object, w.at("work/s")) || !strings.Contains(d.Reason, "used up") {
			t.Errorf("%+v", d)
		}
	}
}
