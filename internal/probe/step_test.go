// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// told returns the steps that were written.
func told(t *testing.T, b *bytes.Buffer) []step {
	t.Helper()
	var steps []step
	for line := range strings.Lines(b.String()) {
		var s step
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatalf("cannot decode %q: %v", line, err)
		}
		steps = append(steps, s)
	}
	return steps
}

func TestStepsCarryErrnos(t *testing.T) {
	var b bytes.Buffer
	tell := newTeller(&b)
	_ = tell.try("fine", func() error { return nil })
	_ = tell.try("call", func() error { return os.NewSyscallError("openat2", syscall.EPERM) })
	_ = tell.try("path", func() error { return &os.PathError{Op: "open", Path: "/x", Err: syscall.EACCES} })
	_ = tell.try("text", func() error { return errUnheard })
	_ = tell.count("count", func() (int, error) { return 16, nil })
	o := outcome{steps: told(t, &b)}

	for _, tt := range []struct {
		step string
		want error
	}{{"fine", nil}, {"call", syscall.EPERM}, {"path", syscall.EACCES}, {"count", nil}} {
		answer, heard := o.answer(tt.step)
		if !heard || !errors.Is(answer, tt.want) {
			t.Errorf("step %s: got %v (heard %v), want %v", tt.step, answer, heard, tt.want)
		}
	}
	if answer, heard := o.answer("text"); !heard || answer == nil || answer.Error() != errUnheard.Error() {
		t.Errorf("step text: got %v (heard %v)", answer, heard)
	}
	if s, ok := o.find("count"); !ok || s.Value != 16 {
		t.Errorf("step count: got %+v", s)
	}
}

func TestUnfinishedSteps(t *testing.T) {
	begun := []step{{Name: "a"}, {Name: "a", Done: true}, {Name: "b"}}
	broken := errors.New("ran out of time")
	tests := []struct {
		name  string
		o     outcome
		step  string
		want  error
		heard bool
	}{
		{"killed for the call", outcome{steps: begun, badCall: true}, "b", errKilled, true},
		{"an earlier step stays", outcome{steps: begun, badCall: true}, "a", nil, true},
		{"a later step", outcome{steps: begun, badCall: true}, "c", errUnheard, false},
		{"ended for another reason", outcome{steps: begun, err: broken}, "b", broken, false},
		{"never started", outcome{err: broken}, "a", broken, false},
		{"silent", outcome{}, "a", errUnheard, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer, heard := tt.o.answer(tt.step)
			if answer != tt.want || heard != tt.heard {
				t.Errorf("got %v, %v, want %v, %v", answer, heard, tt.want, tt.heard)
			}
		})
	}
}

func TestLayersOf(t *testing.T) {
	stack := func(n int) step { return step{Name: "stack", Done: true, Value: n} }
	restricted := step{Name: "restrict", Done: true}
	full := step{Name: "restrict", Done: true, Errno: int(syscall.E2BIG), Text: "landlock_restrict_self"}
	tests := []struct {
		name  string
		steps []step
		want  Layers
	}{
		{"none yet", []step{restricted, stack(15)}, Layers{0, 16}},
		{"three", []step{restricted, stack(12)}, Layers{3, 13}},
		{"full", []step{full, stack(0)}, Layers{16, 0}},
		{"before the limit was lowered", []step{restricted, stack(63)}, Layers{0, 64}},
		{"not counted", []step{restricted}, Layers{-1, -1}},
		{"counting failed", []step{restricted, {Name: "stack", Done: true, Errno: 1, Text: "x"}}, Layers{-1, -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := layersOf(outcome{steps: tt.steps}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
