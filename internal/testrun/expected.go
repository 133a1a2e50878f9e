// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

const module = "github.com/ambit-sandbox/ambit"

// parseExpected reads lines of a package's directory below the module, a test
// with its subtests, and why it may be skipped. What follows "#" is a comment.
func parseExpected(text string) (map[place]string, error) {
	expected := map[place]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) < 3 {
			return nil, fmt.Errorf("cannot read the expected skip %q: it has no reason", strings.TrimSpace(line))
		}
		at := place{words[0], words[1]}
		if _, twice := expected[at]; twice {
			return nil, fmt.Errorf("cannot expect %s twice", at)
		}
		expected[at] = strings.Join(words[2:], " ")
	}
	return expected, nil
}
