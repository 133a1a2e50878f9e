// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"os"
	"testing"
)

// TestNestedCrowd: beside a blocked place everything works as ever in a folder
// with more files than get rules of their own.
func TestNestedCrowd(t *testing.T) {
	if landlockABI() < abiRefer {
		t.Skip("a kernel without LANDLOCK_ACCESS_FS_REFER has no broker here (Linux 5.19)")
	}
	for _, kind := range []string{"--block", "--block-write"} {
		t.Run(kind[2:], func(t *testing.T) {
			w := newWorld(t)
			for i := range 1500 {
				w.write(fmt.Sprintf("work/f%d", i), "#!/bin/sh\necho ran\n")
			}
			w.write("work/.env", "secret")
			w.must(os.Chmod(w.at("work/f700"), 0o755))
			const script = `for i in $(seq 0 1499); do read -r l <f$i || exit 1; done
				./f700 && chmod +x f1499 f3 && ./f1499 && ./f3 && echo >>f1498 && echo new >f1499 && rm f1 && mv f2 g2 && cat g2 >/dev/null && ls | wc -l
				cat .env; echo x >>.env`
			r := finish(t, w.sandbox(w.policyFlags(kind, w.at("work/.env")), "/bin/sh", "-c", script))
			want := map[string]string{"--block": "ran\nran\nran\n1499\n", "--block-write": "ran\nran\nran\n1499\nsecret"}[kind]
			if r.stdout != want || r.code == 0 {
				t.Errorf("%d %q, want %q\n%s", r.code, r.stdout, want, clip(r.stderr))
			}
			if b, err := os.ReadFile(w.at("work/.env")); err != nil || string(b) != "secret" {
				t.Errorf("the blocked file: %q, %v", b, err)
			}
		})
	}
}
