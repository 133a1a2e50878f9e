// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// browserNames are the programs that are looked for.
var browserNames = []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// browser is a headless Chromium with one page. It is spoken to over two pipes,
// one JSON text with a NUL behind it at a time (--remote-debugging-pipe), so no
// other user of the machine can.
type browser struct {
	t       *testing.T
	to      *os.File
	session string
	last    int

	mu      sync.Mutex
	answers map[int]chan message
	events  []message
	ended   error
	stderr  logged
}

// message is what comes from the browser.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// newBrowser starts one, or skips the test where there is none.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	var program string
	for _, name := range browserNames {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skipf("none of %s is in PATH", strings.Join(browserNames, ", "))
	}
	b := &browser{t: t, answers: map[int]chan message{}}
	b.start(program)
	var made struct {
		TargetID string `json:"targetId"`
	}
	b.ask("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.ask("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.ask(domain+".enable", nil, nil)
	}
	return b
}

func (b *browser) start(program string) {
	b.t.Helper()
	theirs, to, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	from, theirsToo, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	b.to = to
	profile := b.t.TempDir()
	// Chromium's own sandbox does without root's privileges only.
	c := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--user-data-dir="+profile, "--remote-debugging-pipe")
	c.Env = append(os.Environ(), "HOME="+profile)
	c.Stderr = &b.stderr
	c.ExtraFiles = []*os.File{theirs, theirsToo}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = 5 * time.Second
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	_, _ = theirs.Close(), theirsToo.Close()
	b.t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // the group is its own
		_ = c.Wait()
		_, _ = to.Close(), from.Close()
	})
	go b.listen(from)
}

// listen sorts what comes into answers and events.
func (b *browser) listen(from *os.File) {
	r := bufio.NewReader(from)
	for {
		text, err := r.ReadBytes(0)
		m := message{}
		if err == nil {
			err = json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m)
		}
		b.mu.Lock()
		switch {
		case err != nil:
			b.ended = err
			for _, c := range b.answers {
				close(c)
			}
			b.answers = nil
			b.mu.Unlock()
			return
		case m.ID != 0:
			b.answers[m.ID] <- m
			delete(b.answers, m.ID)
		default:
			b.events = append(b.events, m)
		}
		b.mu.Unlock()
	}
}

// ask calls a method of the browser, or of the page when there is one.
func (b *browser) ask(method string, params map[string]any, result any) {
	b.t.Helper()
	b.last++
	q := map[string]any{"id": b.last, "method": method, "params": params}
	if params == nil {
		delete(q, "params")
	}
	if b.session != "" {
		q["sessionId"] = b.session
	}
	text, err := json.Marshal(q)
	if err != nil {
		b.t.Fatal(err)
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	if b.answers == nil {
		b.t.Fatalf("the browser has ended: %v\n%s", b.ended, &b.stderr)
	}
	b.answers[b.last] = answer
	b.mu.Unlock()
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatalf("%s: %v\n%s", method, err, &b.stderr)
	}
	select {
	case m, ok := <-answer:
		if !ok || m.Error != nil {
			b.t.Fatalf("%s: %+v\n%s", method, m.Error, &b.stderr)
		}
		if result != nil {
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v in %s", method, err, m.Result)
			}
		}
	case <-time.After(patience):
		b.t.Fatalf("%s: no answer\n%s", method, &b.stderr)
	}
}

// seen returns the events of some names since the last call of forget.
func (b *browser) seen(names ...string) (found []message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		for _, name := range names {
			if e.Method == name {
				found = append(found, e)
			}
		}
	}
	return found
}

func (b *browser) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = nil
}

// loads waits until pages were loaded so many times.
func (b *browser) loads(n int) {
	b.t.Helper()
	for end := deadline(); len(b.seen("Page.loadEventFired")) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("no page was loaded %d times\n%s", n, &b.stderr)
		}
	}
}

// open shows a page.
func (b *browser) open(url string) {
	b.t.Helper()
	b.forget()
	var r struct {
		ErrorText string `json:"errorText"`
	}
	b.ask("Page.navigate", map[string]any{"url": url}, &r)
	if r.ErrorText != "" {
		b.t.Fatalf("%s: %s", url, r.ErrorText)
	}
	b.loads(1)
}

// evaluate returns the value of an expression in the page.
func (b *browser) evaluate(expression string, into any) {
	b.t.Helper()
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	b.ask("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if err := json.Unmarshal(r.Result.Value, into); err != nil {
		b.t.Fatalf("%s: %v in %s", expression, err, r.Result.Value)
	}
}

// complaints are what the page's console would show: errors, exceptions,
// violations of the content security policy.
func (b *browser) complaints() []string {
	var all []string
	for _, e := range b.seen("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled") {
		all = append(all, fmt.Sprintf("%s %s", e.Method, e.Params))
	}
	return all
}
