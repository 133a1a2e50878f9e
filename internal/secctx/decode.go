// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// mostJSON bounds a saved context.
const mostJSON = 64 << 20

// Decode reads a context that was saved as JSON. Whoever wrote the file may
// not be trusted, so text that [Escape] would never let through is refused:
// it is shown to people.
func Decode(r io.Reader) (*Context, error) {
	b, err := io.ReadAll(io.LimitReader(r, mostJSON+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the context: %w", err)
	}
	if len(b) > mostJSON {
		return nil, fmt.Errorf("cannot read the context: it is longer than %d bytes", mostJSON)
	}
	if err := printable(b); err != nil {
		return nil, fmt.Errorf("cannot read the context: %w", err)
	}
	c := &Context{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("cannot read the context, it must be what ambit context --json wrote: %w", err)
	}
	if c.Schema != Schema {
		return nil, fmt.Errorf("cannot read the context: its schema is %d and this version knows %d", c.Schema, Schema)
	}
	return c, nil
}

var errRaw = errors.New("it holds text with control characters, which ambit never writes")

// printable looks at every string of a JSON text, keys too.
func printable(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is no JSON: %w", err)
		}
		s, ok := t.(string)
		for _, r := range s {
			if ok && !strconv.IsPrint(r) {
				return errRaw
			}
		}
	}
}
