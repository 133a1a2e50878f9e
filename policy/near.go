// SPDX-License-Identifier: Apache-2.0

package policy

import "strings"

// closest gives the candidate that the writer of got most likely meant, or ""
// if none is near. "readPaths", "read-paths" and "READ_PATHS" are all near to
// "read_paths", as are a word with a letter wrong in every four,
// and its first half.
func closest(got string, candidates []string) string {
	// A name that long is none of ours, and the distance costs its length
	// times a candidate's.
	if len(got) > 40 {
		return ""
	}
	got = plain(got)
	best, least := "", len(got)/4+2
	for _, c := range candidates {
		d := distance(got, plain(c))
		// The start of a name is near to it, however much is missing.
		if len(got) > 2 && strings.HasPrefix(plain(c), got) {
			d = 1
		}
		switch {
		case d < least:
			best, least = c, d
		case d == least:
			best = "" // two are as near: neither is a good guess
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
