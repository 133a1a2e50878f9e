// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"time"
)

// String gives the form that a policy file uses ("1m30s").
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText makes JSON write a Duration as its string.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// ParseDuration reads "90s", "10m" or "1h30m": units h, m, s, ms, us, ns. The
// errors are of the type [*Error], without a place. It does not judge the
// sign: [Policy.Check] does.
func ParseDuration(s string) (Duration, error) {
	if v, err := time.ParseDuration(s); err == nil {
		return Duration(v), nil
	}
	hint := `write it like "90s", "10m" or "1h30m", at most "2562047h"`
	// The commonest slip is a bare number of seconds.
	if s != "" && strings.Trim(s, "0123456789") == "" {
		hint = `give it a unit: "` + clip(s) + `s" for seconds, "` + clip(s) + `m" for minutes`
		if _, err := time.ParseDuration(s + "s"); err != nil {
			hint = "give a smaller one, with a unit"
		}
	}
	return 0, problem("", quote(s)+" is not a duration", hint)
}

// clip shortens digits that are shown back.
func clip(s string) string {
	if len(s) > 20 {
		return s[:20] + "..."
	}
	return s
}
