// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"testing"

	"github.com/ambit-sandbox/ambit/policy"
)

func TestMayRead(t *testing.T) {
	tr := tree(t,
		policy.PathRule{Path: "/w", Kind: policy.Write},
		policy.PathRule{Path: "/w/ro", Kind: policy.BlockedWrite},
		policy.PathRule{Path: "/w/no", Kind: policy.Blocked},
		policy.PathRule{Path: "/r", Kind: policy.Read},
		policy.PathRule{Path: "/dev/null", Kind: policy.Write, Builtin: true},
	)
	for _, c := range []struct {
		facts facts
		held  bool
		want  bool
		rule  string
	}{
		{facts{name: "/w/f", place: named}, false, true, "/w"},
		{facts{name: "/w/ro/f", place: named}, false, true, "/w/ro"},
		{facts{name: "/w/no", place: named}, false, false, "/w/no"},
		{facts{name: "/w/no/f", place: named}, false, false, "/w/no"},
		{facts{name: "/w/no/f", place: named}, true, true, "/w/no"},
		{facts{name: "/r/f", place: named}, false, true, "/r"},
		{facts{name: "/", place: named}, false, false, ""},
		{facts{name: "/other", place: named}, false, false, ""},
		{facts{name: "/other", place: named}, true, true, ""},
		{facts{name: "/r/f", place: removed}, false, true, "/r"},
		{facts{name: "/w/no/f", place: removed}, false, false, "/w/no"},
		{facts{name: "/other", place: removed}, false, false, ""},
		{facts{name: "/other", place: removed}, true, true, ""},
		{facts{name: "pipe:[1]", place: unnamed}, false, true, ""},
		{facts{name: "anon_inode:[eventfd]", place: nowhere}, false, false, ""},
		{facts{name: "anon_inode:[eventfd]", place: nowhere}, true, false, ""},
		{facts{name: "/w/f"}, false, false, ""},
		{facts{name: "/dev/null", place: named, device: true}, false, true, "/dev/null"},
	} {
		ok, node := mayRead(tr, c.facts, c.held)
		rule := ""
		if node != nil {
			rule = node.Rule.Path
		}
		if ok != c.want || rule != c.rule {
			t.Errorf("%+v, held %v: %v by %q, not %v by %q", c.facts, c.held, ok, rule, c.want, c.rule)
		}
	}
}
