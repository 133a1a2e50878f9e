// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"
)

// abiSince lists which release brought which Landlock ABI, oldest first.
// Sources: landlock(7), section VERSIONS, up to ABI 6; the kernel's
// Documentation/userspace-api/landlock.rst ("Previous limitations") and our
// own boots of these releases after it.
var abiSince = []struct {
	release [2]int // major, minor
	abi     int
}{
	{[2]int{5, 13}, 1},
	{[2]int{5, 19}, 2},
	{[2]int{6, 2}, 3},
	{[2]int{6, 7}, 4},
	{[2]int{6, 10}, 5},
	{[2]int{6, 12}, 6},
	{[2]int{6, 15}, 7},
	{[2]int{7, 0}, 8},
	{[2]int{7, 1}, 9},
	{[2]int{7, 2}, 10},
	{[2]int{7, 3}, 11},
}

// abiOf gives the ABI of a release such as "6.12.118+deb13-cloud-amd64"; 0 if
// it is older than Landlock. exact is false for a release younger than the
// table: abi is then the least that it must have, since no ABI was ever taken
// back.
func abiOf(release string) (abi int, exact bool, err error) {
	series, err := seriesOf(release)
	if err != nil {
		return 0, false, err
	}
	for _, row := range abiSince {
		if !before(series, row.release) {
			abi = row.abi
		}
	}
	newest := abiSince[len(abiSince)-1].release
	return abi, !before(newest, series), nil
}

func seriesOf(release string) (series [2]int, err error) {
	fields := strings.SplitN(release, ".", 3)
	if len(fields) < 2 {
		return series, fmt.Errorf("cannot read the kernel release %q: no minor number", release)
	}
	for i := range series {
		if series[i], err = strconv.Atoi(fields[i]); err != nil {
			return series, fmt.Errorf("cannot read the kernel release %q: %w", release, err)
		}
	}
	return series, nil
}

func before(a, b [2]int) bool {
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}
