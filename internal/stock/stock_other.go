// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package stock

// Stock is always empty on this system.
type Stock struct{}

// Close does nothing.
func (*Stock) Close() {}

// Leave does nothing.
func (*Stock) Leave() {}
