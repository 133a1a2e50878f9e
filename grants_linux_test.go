// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
)

// TestGrantHoldsNoSecret: a name that is shown without its secret part is
// another one, so there is no grant for it.
func TestGrantHoldsNoSecret(t *testing.T) {
	r := &Receipt{Denials: []denial.Denial{
		{Object: "/p/s3cret-value/x", Grant: &denial.Grant{Flag: "--write /p/s3cret-value/x"}},
		{Object: "/p/x", Grant: &denial.Grant{Flag: "--write /p/x"}},
	}}
	r.redact(newRedactor(map[string]string{"TOKEN": "s3cret-value"}))
	if g := r.Denials[0].Grant; g != nil {
		t.Errorf("%+v", g)
	}
	if g := r.Denials[1].Grant; g == nil || g.Flag != "--write /p/x" {
		t.Errorf("the control: %+v", g)
	}
}
