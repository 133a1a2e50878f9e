// SPDX-License-Identifier: Apache-2.0

package main

import (
	_ "embed" // what is asked of a page
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/inspect.js
var inspect string

// inspected is what testdata/inspect.js finds out about a page.
type inspected struct {
	Title, Lang  string
	Width, Inner int // of the page's content, and of the window
	Headings     []int
	Tables       int
	NoCaption    int
	NoScope      int
	Scripts      int
	Styled       bool
	Texts        int      // that were looked at
	Faint        []string // texts of too little contrast
	Dark         bool
}

// look judges the page that is shown.
func (b *browser) look(name string, width int, dark bool) {
	b.t.Helper()
	var p inspected
	b.evaluate(inspect, &p)
	switch {
	case p.Lang != "en" || !strings.HasPrefix(p.Title, "Ambit"):
		b.t.Errorf("%s: language %q, title %q", name, p.Lang, p.Title)
	case p.Inner != width || p.Width > p.Inner:
		b.t.Errorf("%s: the page is %d wide in a window of %d, not %d", name, p.Width, p.Inner, width)
	case !p.Styled || p.Dark != dark:
		b.t.Errorf("%s: styled %v, dark %v", name, p.Styled, p.Dark)
	case p.Texts < 3 || len(p.Faint) > 0:
		b.t.Errorf("%s: of %d texts some have too little contrast: %v", name, p.Texts, p.Faint)
	case p.Scripts > 0 || p.NoCaption > 0 || p.NoScope > 0:
		b.t.Errorf("%s: %+v", name, p)
	}
	for i, level := range p.Headings {
		if i == 0 && level != 1 || i > 0 && (level == 1 || level > p.Headings[i-1]+1) {
			b.t.Errorf("%s: headings of levels %v", name, p.Headings)
			break
		}
	}
	if c := b.complaints(); len(c) > 0 {
		b.t.Errorf("%s: the browser complains: %s", name, c)
	}
}

// TestStatusPageInBrowser opens the pages in Chromium, with the token as its
// password: nothing is refused by their own policy, nothing overflows a narrow
// window, all can be read in light and dark.
func TestStatusPageInBrowser(t *testing.T) {
	b := newBrowser(t)
	s := prepared(t)
	if err := os.WriteFile(s.dir+"/tokens", []byte("agent:"+goodToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	s.start(map[string]any{"listen": nil, "tcp": address, "token_file": s.dir + "/tokens"})
	token := []string{"Authorization", "Bearer " + goodToken}
	for _, command := range []string{script + "; chmod 600 /etc/passwd; exit 3", "true # " + strings.Repeat("x", 5000), "echo " + strings.Repeat("word ", 500), "kill -9 $$"} {
		if a := s.ask("POST", "/api/execute", body(command, nil), token...); a.status != 200 {
			t.Fatalf("%d %s", a.status, a.raw)
		}
	}
	go func() {
		_, _ = s.try(t.Context(), "POST", "/api/execute", body("touch begun; until [ -e go ]; do sleep 0.02; done # "+script, nil), token...)
	}()
	s.waitFor("begun")
	defer s.allow("go")
	site := "http://browser:" + goodToken + "@" + address
	links := link.FindAllStringSubmatch(string(s.ask("GET", "/", "", token...).raw), -1)
	if len(links) != 5 {
		t.Fatalf("%d links", len(links))
	}
	paths := []string{"/", links[0][1], links[1][1], links[4][1], "/runs/" + strings.Repeat("a", 26)}
	for _, width := range []int{320, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.ask("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
			b.ask("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
			for _, path := range paths {
				b.open(site + path)
				if path == paths[4] { // it is no error of the page that it is answered with 404
					b.forget()
				}
				b.look(fmt.Sprintf("%s, %d, %s", path, width, scheme), width, scheme == "dark")
			}
		}
	}
}

// TestInspect: what is looked for in a page is found where it is.
func TestInspect(t *testing.T) {
	b := newBrowser(t)
	b.ask("Emulation.setDeviceMetricsOverride", map[string]any{"width": 320, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.open("data:text/html,<body style='background:white;color:%23888'><p style='width:900px'>faint<table><th>x</table><script></script>")
	var p inspected
	b.evaluate(inspect, &p)
	if p.Lang != "" || p.Width < 900 || p.NoCaption != 1 || p.NoScope != 1 || p.Scripts != 1 || p.Styled || len(p.Faint) != 2 || p.Dark {
		t.Errorf("%+v", p)
	}
}

// TestStatusPagePolicy: a script that got into a page would not run. This is
// also the control of the test above: the browser does complain.
func TestStatusPagePolicy(t *testing.T) {
	b := newBrowser(t)
	s := prepared(t)
	if err := os.WriteFile(s.dir+"/tokens", []byte("agent:"+goodToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	s.start(map[string]any{"listen": nil, "tcp": address, "token_file": s.dir + "/tokens"})
	b.open("http://browser:" + goodToken + "@" + address + "/")
	for name, inject := range map[string]string{
		"a script":   `{const e = document.createElement("script"); e.textContent = "window.ran = 1"; document.body.append(e)}`,
		"a handler":  `document.body.insertAdjacentHTML("beforeend", "<p onclick='window.ran = 1' id=p>x</p>"); document.getElementById("p").click()`,
		"an image":   `{const e = new Image(); e.onload = () => window.ran = 1; e.src = "data:image/gif;base64,R0lGODlhAQABAAAAACw="; document.body.append(e)}`,
		"a style":    `{const e = document.createElement("style"); e.textContent = "body { display: none }"; document.head.append(e)}`,
		"a document": `{const e = document.createElement("iframe"); e.src = "/"; document.body.append(e)}`,
	} {
		b.forget()
		var ran bool
		b.evaluate(inject+`; !!window.ran || getComputedStyle(document.body).display == "none"`, &ran)
		for end := deadline(); len(b.complaints()) == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		}
		if text := strings.Join(b.complaints(), "\n"); ran || !strings.Contains(text, "Content Security Policy") {
			t.Errorf("%s: ran %v, and the browser says %q", name, ran, text)
		}
	}
	// The page loads itself anew if that was asked for, and the browser sends
	// its password again.
	b.open("http://browser:" + goodToken + "@" + address + "/?refresh=2")
	b.loads(3)
	var title string
	if b.evaluate(`document.title`, &title); title != "Ambit: available" {
		t.Errorf("after a while it is %q", title)
	}
	// Without the token nothing is shown.
	b.ask("Network.clearBrowserCache", nil, nil)
	b.open("http://localhost:" + address[strings.LastIndex(address, ":")+1:] + "/")
	if b.evaluate(`document.body.innerText`, &title); !strings.Contains(title, "UNAUTHORIZED") || strings.Contains(title, "Sandbox") {
		t.Errorf("without the token: %q", title)
	}
}
