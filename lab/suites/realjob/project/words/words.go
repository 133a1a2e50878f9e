// SPDX-License-Identifier: Apache-2.0

// Package words is what the real job of the lab builds and tests.
package words

import "strings"

// Count tells how often each word is in a text.
func Count(text string) map[string]int {
	counts := make(map[string]int)
	for word := range strings.FieldsSeq(text) {
		counts[word]++
	}
	return counts
}
