// SPDX-License-Identifier: Apache-2.0

package denial

import "time"

// Suspects picks, out of what a failed run was refused, what may have made it
// fail, oldest first. It is empty if that can't be told. lasted is the time
// from the start of the command to its end.
//
// A denial does not say what the caller made of it. These are left out:
//
//   - what programs do without, see optionals;
//   - what was refused long before the end: whoever needs something stops when
//     it is refused;
//   - what a process removes after something else was refused to it: programs
//     clean up before they give up.
//
// Of the rest it is what the process was refused that was refused something
// last: what came before it others went on from.
func Suspects(list []Denial, lasted time.Duration) []Denial {
	last := -1
	for i := range list {
		if needed(&list[i], lasted) && (last < 0 || list[i].At >= list[last].At) {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	if list[last].Process == 0 { // nothing says which others are its own
		return list[last : last+1]
	}
	var its []Denial
	for i := range list {
		if list[i].Process == list[last].Process && needed(&list[i], lasted) {
			its = append(its, list[i])
		}
	}
	return withoutCleanup(its)
}

// needed reports whether a denial may have to do with the end of the run.
func needed(d *Denial, lasted time.Duration) bool {
	at := time.Duration(d.At * float64(time.Millisecond))
	return !isOptional(d) && lasted-at <= max(shortTime, lasted/shortPart)
}

// A program that is refused what it needs takes some time to say so and to end,
// and so do those that wait for it: shortTime is ample for that on a busy
// machine. In a long run others may have work to finish first ("make -j"), a
// shortPart of it.
const (
	shortTime = 5 * time.Second
	shortPart = 10
)

// withoutCleanup leaves out what a process wanted to remove after it was
// refused something else. list is in order of time.
func withoutCleanup(list []Denial) []Denial {
	var kept []Denial
	for _, d := range list {
		if len(kept) > 0 && removal[d.Call] && !removal[kept[0].Call] {
			continue
		}
		kept = append(kept, d)
	}
	return kept
}

// removal are the calls that take a name away and put none in its place.
var removal = map[string]bool{"unlink": true, "unlinkat": true, "rmdir": true}
