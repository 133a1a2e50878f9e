// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnfixed(t *testing.T) {
	tests := []struct {
		name string
		f    Facts
		want []int
	}{
		{"no Landlock", Facts{}, nil},
		{"ABI 2 can't be asked", Facts{ABI: 2}, []int{3, 4}},
		{"ABI 6, nothing fixed", Facts{ABI: 6}, []int{1, 2, 3, 4}},
		{"mask 0x7", Facts{ABI: 7, Errata: 0x7}, []int{4}},
		{"mask 0xf", Facts{ABI: 11, Errata: 0xf}, nil},
		{"a fix newer than the table", Facts{ABI: 11, Errata: 0x1f}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			for _, e := range tt.f.Unfixed() {
				got = append(got, e.Number)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestErratumResults(t *testing.T) {
	tests := []struct {
		name string
		f    Facts
		want map[Name]Verdict
	}{
		{"ABI 3 can't be asked", Facts{ABI: 3, Landlock: Result{Verdict: Yes}, errataErr: errors.New("invalid argument")},
			map[Name]Verdict{"landlock.fixed.1": Yes, "landlock.fixed.2": Yes, "landlock.fixed.3": Unknown, "landlock.fixed.4": Unknown}},
		{"ABI 7, mask 0x3", Facts{ABI: 7, Errata: 0x3, Landlock: Result{Verdict: Yes}},
			map[Name]Verdict{"landlock.fixed.1": Yes, "landlock.fixed.2": Yes, "landlock.fixed.3": No, "landlock.fixed.4": No}},
		{"no Landlock", Facts{Landlock: Result{Verdict: No}},
			map[Name]Verdict{"landlock.fixed.1": No, "landlock.fixed.2": No, "landlock.fixed.3": No, "landlock.fixed.4": No}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := map[Name]Verdict{}
			for _, r := range erratumResults(&tt.f) {
				got[r.Name] = r.Verdict
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
