// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if handled, exit := Dispatch(os.Args[1:]); handled {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}
