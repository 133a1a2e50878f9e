// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "errors"

func gather() (Facts, error) {
	return Facts{}, errors.New("cannot ask this system: the lab runs Linux kernels")
}
