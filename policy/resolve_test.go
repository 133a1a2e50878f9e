// SPDX-License-Identifier: Apache-2.0

package policy

import "testing"

func TestSmoke(t *testing.T) {
	r, err := Resolve([]Layer{{"default", Policy{Extends: "workspace"}}, {"f", Policy{BlockedPaths: []string{"${WORK_DIR}/.env"}}}}, Vars{"/home/u", "/srv/p", "/tmp/x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d %+v", len(r.Rules), r.Rules[len(r.Rules)-3:])
	t.Log(r.Env.Set)
}
