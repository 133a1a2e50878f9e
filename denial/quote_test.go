// SPDX-License-Identifier: Apache-2.0

package denial

import (
	"os/exec"
	"strings"
	"testing"
)

// TestQuote asks a shell what it makes of the words.
func TestQuote(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here to ask")
	}
	for _, s := range []string{"/p/x", "", "a b", "it's", `back\slash`, "\x1b[0m\n\t\xff\x80", "é", "$HOME `id` \"x\"", "~root", "*?[a]", "a;b|c&d"} {
		out, err := exec.Command(bash, "-c", "printf %s "+quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q is quoted as %s, which is %q (%v)", s, quote(s), out, err)
		}
		if strings.IndexFunc(quote(s), func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0 {
			t.Errorf("%q is quoted as %q, which a terminal may obey", s, quote(s))
		}
	}
}
