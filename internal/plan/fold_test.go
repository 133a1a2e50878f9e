// SPDX-License-Identifier: Apache-2.0

package plan

import "testing"

// TestFold: what some file system takes for the same name is folded alike, and
// nothing else.
func TestFold(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{".env", ".env"}, {".ENV", ".env"}, {".env.", ".env"}, {".env . ", ".env"}, {".e\u200cnv", ".env"}, {"\ufeff.env\u00ad", ".env"},
		{"\u017fecret", "secret"}, {"\u212aey", "key"}, {"pro\ufb01le", "profile"}, {"MASSE", "masse"}, {"maße", "masse"}, {"ΣΑΣ", "σας"},
		{".env.local", ".env.local"}, {"a b", "a b"}, {"...", "..."}, {"", ""}, {" .env", " .env"}, {"env", "env"},
	} {
		if got, want := Fold(c.name), Fold(c.want); got != want {
			t.Errorf("%q: %q, not %q", c.name, got, want)
		}
		if p := "/a/" + c.name + "/b"; FoldPath(p) != "/a/"+Fold(c.want)+"/b" {
			t.Errorf("%q: %q", p, FoldPath(p))
		}
	}
	for _, c := range [][2]string{{".env", "env"}, {".env", ".env.x"}, {".env", " .env"}, {"a", "b"}, {"ä", "a"}} {
		if Fold(c[0]) == Fold(c[1]) {
			t.Errorf("%q and %q are folded alike", c[0], c[1])
		}
	}
}
