// SPDX-License-Identifier: Apache-2.0

package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// RandomName returns 16 hexadecimal digits that nobody can guess. It asks the
// kernel (getrandom(2)): crypto/rand brings the FIPS module along, whose
// initialisation every command would pay for.
func RandomName() (string, error) {
	var b [8]byte
	for n := 0; n < len(b); {
		m, err := unix.Getrandom(b[n:], 0)
		if err != nil && err != unix.EINTR {
			return "", os.NewSyscallError("getrandom", err)
		}
		n += max(m, 0)
	}
	const digits = "0123456789abcdef"
	name := make([]byte, 0, 2*len(b))
	for _, c := range b {
		name = append(name, digits[c>>4], digits[c&15])
	}
	return string(name), nil
}
