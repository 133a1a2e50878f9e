// SPDX-License-Identifier: Apache-2.0

package ambit

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/ambit-sandbox/ambit/internal/plan/hostpath"
	"github.com/ambit-sandbox/ambit/policy"
)

// maxSecret is the longest secret in bytes: a variable's value can't be longer
// than 32 pages (MAX_ARG_STRLEN, execve(2)).
const maxSecret = 128 << 10

// readSecrets gets the values of the policy's secrets from their sources.
// Errors name the variable and the source, never a value.
func (n *names) readSecrets(sources map[string]policy.Secret, environ []string, modes hostpath.Modes) (map[string]string, error) {
	values := make(map[string]string, len(sources))
	for name, s := range sources {
		v, err := n.readSecret(s, environ, modes)
		if err != nil {
			return nil, fmt.Errorf("cannot read the secret %s: %w", name, err)
		}
		if err := checkSecret(name, v); err != nil {
			return nil, err
		}
		values[name] = v
	}
	return values, nil
}

func checkSecret(name, v string) error {
	switch {
	case v == "":
		return fmt.Errorf("cannot use the secret %s: its source is empty", name)
	case strings.ContainsRune(v, 0):
		return fmt.Errorf("cannot use the secret %s: it holds a NUL byte, which no variable can", name)
	case len(v) > maxSecret:
		return fmt.Errorf("cannot use the secret %s: it is longer than %d bytes", name, maxSecret)
	}
	return nil
}

// addSecrets adds the values that the caller gave himself.
func addSecrets(values, given map[string]string) error {
	for name, v := range given {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("cannot use %q as the name of a secret: no variable can have it", name)
		}
		if err := checkSecret(name, v); err != nil {
			return err
		}
		values[name] = v
	}
	return nil
}

func (n *names) readSecret(s policy.Secret, environ []string, modes hostpath.Modes) (string, error) {
	switch {
	case s.File != "":
		f, err := n.host.OpenRead(s.File, 0, modes)
		if err != nil {
			return "", err
		}
		return readValue(f)
	case s.FD != nil:
		return readValue(os.NewFile(uintptr(*s.FD), fmt.Sprintf("descriptor %d", *s.FD)))
	}
	for _, kv := range environ {
		if name, v, _ := strings.Cut(kv, "="); name == s.Env {
			return v, nil
		}
	}
	return "", fmt.Errorf("the variable %s is not set", s.Env)
}

// readValue reads a whole source and cuts one newline off its end.
func readValue(f *os.File) (string, error) {
	if f == nil {
		return "", os.ErrInvalid
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err != nil {
		return "", err
	}
	if len(b) > maxSecret {
		return "", fmt.Errorf("it is longer than %d bytes", maxSecret)
	}
	return strings.TrimSuffix(string(b), "\n"), nil
}

// Redactor replaces the values of secrets in what is about to be shown.
type Redactor struct {
	replacer *strings.Replacer
	values   []string
}

// newRedactor knows each value by its variable's name. Longer values go
// first, so that one that holds another is replaced as a whole.
func newRedactor(values map[string]string) *Redactor {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := values[names[i]], values[names[j]]
		return len(a) > len(b) || len(a) == len(b) && names[i] < names[j]
	})
	r := &Redactor{}
	var pairs []string
	for _, name := range names {
		r.values = append(r.values, values[name])
		pairs = append(pairs, values[name], "[secret "+name+"]")
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// Redact returns s with every secret's value replaced by its name.
func (r *Redactor) Redact(s string) string {
	if r == nil {
		return s
	}
	return r.replacer.Replace(s)
}

// Output returns a command's output as a JSON string can hold it, with every
// secret's value replaced: as it is and "utf-8", or else in base64 and
// "base64". Output that was cut off may end within a value: that beginning of
// one is cut off as well.
func (r *Redactor) Output(b []byte, count *OutputCount) (text, encoding string) {
	s := r.Redact(string(b))
	if r != nil && count != nil && count.Discarded > 0 {
		s = r.cutBeginning(s)
	}
	if utf8.ValidString(s) {
		return s, "utf-8"
	}
	return base64.StdEncoding.EncodeToString([]byte(s)), "base64"
}

// cutBeginning removes from the end of s what could be the beginning of a
// secret.
func (r *Redactor) cutBeginning(s string) string {
	cut := 0
	for _, v := range r.values {
		for n := min(len(v)-1, len(s)); n > cut; n-- {
			if strings.HasSuffix(s, v[:n]) {
				cut = n
			}
		}
	}
	return s[:len(s)-cut]
}
