// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package probe

// Dispatch never handles anything: Full fails here, so there are no children.
func Dispatch([]string) (handled bool, exit int) { return false, 0 }
