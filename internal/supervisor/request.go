// SPDX-License-Identifier: Apache-2.0

package supervisor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ambit-sandbox/ambit"
	"github.com/ambit-sandbox/ambit/policy"
)

// Request is what a supervisor is to run.
type Request struct {
	Argv    []string
	Layers  []policy.Layer
	Bounds  []policy.Layer // nil: no bound
	Dir     string
	Environ []string
	Secrets map[string]string
	// Cgroup is the folder of the command's control group; empty is none.
	Cgroup string
}

// wire is a request's form. Arguments and variables may hold any byte but NUL,
// which JSON's strings can't.
type wire struct {
	Argv    [][]byte `json:"argv"`
	Layers  []layer  `json:"layers"`
	Bounds  []layer  `json:"bounds"` // null and empty differ
	Dir     []byte   `json:"dir"`
	Environ [][]byte `json:"environ"`
	// Secrets are names and values by turns.
	Secrets [][]byte `json:"secrets"`
	Cgroup  []byte   `json:"cgroup"`
}

type layer struct {
	Name   string          `json:"name"`
	Policy json.RawMessage `json:"policy"`
	File   []byte          `json:"file"`
}

// maxRequest bounds a request, as maxFrame a message.
const maxRequest = 64 << 20

// Encode writes a request. A policy that JSON can't hold is an error, since
// what would arrive was another one.
func (q *Request) Encode() ([]byte, error) {
	w := wire{Argv: toBytes(q.Argv), Dir: []byte(q.Dir), Environ: toBytes(q.Environ), Cgroup: []byte(q.Cgroup)}
	for _, name := range slices.Sorted(maps.Keys(q.Secrets)) {
		w.Secrets = append(w.Secrets, []byte(name), []byte(q.Secrets[name]))
	}
	var err error
	if w.Layers, err = encodeLayers(q.Layers); err != nil {
		return nil, err
	}
	if w.Bounds, err = encodeLayers(q.Bounds); err != nil {
		return nil, err
	}
	b, err := json.Marshal(w)
	if err == nil && len(b) > maxRequest {
		err = fmt.Errorf("cannot run a request of %d bytes: the most is %d", len(b), maxRequest)
	}
	return b, err
}

func encodeLayers(layers []policy.Layer) ([]layer, error) {
	if layers == nil {
		return nil, nil
	}
	out := make([]layer, 0, len(layers))
	for _, l := range layers {
		text, err := policy.Encode(l.Policy)
		if err != nil {
			return nil, ambit.PolicyError(err)
		}
		out = append(out, layer{l.Name, text, []byte(l.File)})
	}
	return out, nil
}

// DecodeRequest reads what Encode wrote.
func DecodeRequest(b []byte) (*Request, error) {
	var w wire
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return nil, fmt.Errorf("cannot read the request: %w", err)
	}
	if len(w.Secrets)%2 != 0 {
		return nil, errors.New("cannot read the request: a secret has no value")
	}
	q := &Request{Argv: toStrings(w.Argv), Dir: string(w.Dir), Environ: toStrings(w.Environ), Secrets: map[string]string{}, Cgroup: string(w.Cgroup)}
	for i := 0; i < len(w.Secrets); i += 2 {
		q.Secrets[string(w.Secrets[i])] = string(w.Secrets[i+1])
	}
	var err error
	if q.Layers, err = decodeLayers(w.Layers); err == nil {
		q.Bounds, err = decodeLayers(w.Bounds)
	}
	return q, err
}

func decodeLayers(in []layer) ([]policy.Layer, error) {
	if in == nil {
		return nil, nil
	}
	out := make([]policy.Layer, 0, len(in))
	for _, l := range in {
		p := policy.Layer{Name: l.Name, File: string(l.File)}
		d := json.NewDecoder(bytes.NewReader(l.Policy))
		d.DisallowUnknownFields()
		if err := d.Decode(&p.Policy); err != nil {
			return nil, fmt.Errorf("cannot read the policy %q of the request: %w", l.Name, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func toBytes(in []string) [][]byte {
	out := make([][]byte, len(in))
	for i, s := range in {
		out[i] = []byte(s)
	}
	return out
}

func toStrings(in [][]byte) []string {
	out := make([]string, len(in))
	for i, b := range in {
		out[i] = string(b)
	}
	return out
}
