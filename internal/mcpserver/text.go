// SPDX-License-Identifier: Apache-2.0

package mcpserver

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/ambit-sandbox/ambit"
)

// Encodings of a stream in an answer.
const (
	utf8Encoding   = "utf-8"
	base64Encoding = "base64"
)

// mostDenials is how many denials are told in words.
const mostDenials = 20

// texts is the result for a model to read: how the command ended, and each
// stream in a part of its own, so that no output can pass for anything else.
func (o *outcome) texts() []string {
	return []string{
		strings.Join(o.summary(), "\n"),
		streamText("stdout", o.Stdout, o.StdoutEncoding, o.StdoutTruncated, o.StdoutBytes),
		streamText("stderr", o.Stderr, o.StderrEncoding, o.StderrTruncated, o.StderrBytes),
	}
}

func (o *outcome) summary() []string {
	if o.Code != "" && !o.Cancelled {
		return o.refusal()
	}
	lines := []string{"exit code " + strconv.Itoa(o.ExitCode)}
	switch {
	case o.Cancelled:
		lines = []string{o.Code + ": " + o.Error, "The command was ended before it was done."}
	case o.TimedOut:
		lines[0] += ": the time was up, and the command was ended"
	case o.Signal != 0:
		lines[0] += ": ended by signal " + strconv.Itoa(o.Signal)
	}
	if o.Error != "" && !o.Cancelled {
		lines = append(lines, "note: "+quoteLine(o.Error))
	}
	if o.NetworkDenied != "" {
		lines = append(lines, "NETWORK DENIED: "+quoteLine(o.NetworkDenied)+
			". What the command says of hosts, names, keys or accounts is a consequence of that. Only a policy with allow_network opens it.")
	}
	lines = append(lines, o.denials()...)
	for i := range o.Inferred {
		lines = append(lines, "not recorded, inferred from stderr: "+quoteLine(o.Inferred[i].String()))
	}
	return lines
}

// refusal leaves no doubt that nothing was run, and why.
func (o *outcome) refusal() []string {
	switch o.Code {
	case string(ambit.CodeUnavailable):
		backend := o.Backend
		if backend == "" {
			backend = "none"
		}
		return []string{
			o.coded(), "backend: " + backend,
			"The command was not run: this host can't make the sandbox. The cause is neither the command, nor the network, nor a key or an account.",
		}
	case string(ambit.CodePolicy):
		return []string{o.coded(), "The command was not run: the policy can't be used. folder_guard can only narrow what the server allows."}
	}
	return []string{o.coded(), "The command was not run."}
}

// coded is the error with its code in front, which errors of the engine have
// already.
func (o *outcome) coded() string {
	return o.Code + ": " + quoteLine(strings.TrimPrefix(o.Error, o.Code+": "))
}

func (o *outcome) denials() []string {
	var lines []string
	for _, d := range o.Denials[:min(len(o.Denials), mostDenials)] {
		object := ""
		if d.Object != "" && d.Object != d.Named {
			object = " (" + quoteLine(d.Object) + ")"
		}
		times := ""
		if d.Calls() > 1 {
			times = fmt.Sprintf(", %d times", d.Calls())
		}
		lines = append(lines, fmt.Sprintf("refused by the sandbox: %s of %s%s: %s%s", d.Call, quoteLine(d.Named), object, d.Errno, times))
	}
	if more := len(o.Denials) - len(lines) + o.DenialsDropped; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more refusals", more))
	}
	return lines
}

// quoteLine quotes what would be more than one plain line.
func quoteLine(s string) string {
	if q := strconv.Quote(s); strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return q
	}
	return s
}

func streamText(name, text, encoding string, truncated bool, bytes int64) string {
	var notes []string
	if encoding == base64Encoding {
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return name + " (base64):\n" + text
		}
		text = strings.ToValidUTF8(string(b), "\uFFFD")
		notes = append(notes, "not all UTF-8: other bytes stand as \uFFFD here, and the structured result has all of it in base64")
	}
	if truncated {
		notes = append(notes, fmt.Sprintf("cut off: the command wrote %d bytes", bytes))
	}
	if text == "" {
		notes = append(notes, "empty")
	}
	head := name
	if len(notes) > 0 {
		head += " (" + strings.Join(notes, "; ") + ")"
	}
	if text == "" {
		return head
	}
	return head + ":\n" + text
}
