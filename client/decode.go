// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// text is bytes as the service writes them.
func text(s, encoding string) ([]byte, error) {
	if encoding == "base64" {
		return base64.StdEncoding.DecodeString(s)
	}
	return []byte(s), nil
}

func parseResult(b []byte) (*Result, error) {
	var r struct {
		Result
		Out    string `json:"stdout"`
		Err    string `json:"stderr"`
		OutEnc string `json:"stdout_encoding"`
		ErrEnc string `json:"stderr_encoding"`
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("cannot understand the answer: %w", err)
	}
	var err, err2 error
	r.Stdout, err = text(r.Out, r.OutEnc)
	r.Stderr, err2 = text(r.Err, r.ErrEnc)
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("cannot understand the answer: %w", err)
	}
	r.Raw = bytes.TrimSpace(b)
	return &r.Result, nil
}

// ErrCutOff: the stream ended before the run was over.
var ErrCutOff = errors.New("the answer ended before the run")

// Stream runs a command and writes what it puts out while it does. An error
// of a writer ends the command.
func (c *Client) Stream(ctx context.Context, q *Request, stdout, stderr io.Writer) (*Result, error) {
	r, err := c.send(ctx, q, "text/event-stream")
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Body.Close() }()
	lines := bufio.NewReader(io.LimitReader(r.Body, maxAnswer))
	event := ""
	for {
		l, err := lines.ReadString('\n')
		if err == io.EOF {
			return nil, ErrCutOff
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the answer: %w", err)
		}
		l = strings.TrimSuffix(l, "\n")
		if name, ok := strings.CutPrefix(l, "event: "); ok {
			event = name
		}
		data, ok := strings.CutPrefix(l, "data: ")
		switch {
		case !ok:
			continue
		case event == "done":
			return parseResult([]byte(data))
		case event == "stdout":
			err = pass(data, stdout)
		case event == "stderr":
			err = pass(data, stderr)
		}
		if err != nil {
			return nil, err
		}
	}
}

func pass(data string, to io.Writer) error {
	var c struct{ Data, Encoding string }
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return fmt.Errorf("cannot understand the answer: %w", err)
	}
	b, err := text(c.Data, c.Encoding)
	if err != nil {
		return fmt.Errorf("cannot understand the answer: %w", err)
	}
	if to == nil {
		return nil
	}
	_, err = to.Write(b)
	return err
}
