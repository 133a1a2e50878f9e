// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "errors"

func (b *bench) service() error { return errors.New("the service runs on Linux only") }
