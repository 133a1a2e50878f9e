// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"encoding/json"

	"github.com/ambit-sandbox/ambit/internal/sys"
)

// Result is the answer to one question about the host.
type Result struct {
	Feature
	Verdict Verdict `json:"verdict"`
	// Detail says what was seen, in one sentence without a full stop. It is
	// for people; programs read Name, Verdict and the errno.
	Detail string `json:"detail,omitempty"`
	// Err is what the kernel answered when the verdict is not Yes. It wraps
	// a syscall.Errno where there was one.
	Err error `json:"-"`
}

// MarshalJSON adds the error as text and as the name of its errno.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result // without this method
	out := struct {
		plain
		Error string `json:"error,omitempty"`
		Errno string `json:"errno,omitempty"`
	}{plain: plain(r)}
	if r.Err != nil {
		out.Error = r.Err.Error()
		out.Errno = sys.ErrnoName(r.Err)
	}
	return json.Marshal(out)
}
