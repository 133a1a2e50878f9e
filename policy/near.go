// SPDX-License-Identifier: Apache-2.0

package policy

import "strings"

// closest gives the candidate that the writer of got most likely meant, or ""
// if none is near. "readPaths", "read-paths" and "READ_PATHS" are all near to
// "read_paths", as is a word with a letter wrong in every four.
func closest(got string, candidates []string) string {
	// A name that long is none of ours, and the distance costs its length
	// times a candidate's.
	if len(got) > 40 {
		return ""
	}
	best, least := "", len(got)/4+2
	for _, c := range candidates {
		if d := distance(plain(got), plain(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// plain drops what people vary in names.
func plain(s string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(s))
}

// distance counts the bytes to insert, remove or replace to turn a into b
// (Levenshtein's measure), one row of the table at a time.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
