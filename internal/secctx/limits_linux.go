// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"fmt"
	"strconv"

	"github.com/ambit-sandbox/ambit/internal/child/softlimit"
)

// limits reads the resource limits. Go's runtime has raised one of this
// process's own, and gives it back to what it starts.
func (g *gatherer) limits() {
	content, errno := g.p.read("limits")
	if errno != 0 {
		g.unknown("limits", errno, needsTrace)
		return
	}
	limits, err := parseLimits(content)
	if err != nil {
		g.broken("limits", err)
	}
	g.c.Limits = limits
	if soft, hard, ok := softlimit.Nofile(); g.own() && ok {
		limits["nofile"] = Limit{limitText(soft), limitText(hard)}
	}
}

func limitText(n uint64) string {
	if n == ^uint64(0) { // RLIM64_INFINITY
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

// terminal finds the controlling terminal. The number is encoded as for
// stat(2) of old (new_encode_dev, linux/kdev_t.h).
func (g *gatherer) terminal() {
	content, errno := g.p.read("stat")
	if errno != 0 {
		g.unknown("terminal", errno, needsTrace)
		return
	}
	s, err := parseStat(content)
	if err != nil {
		g.broken("terminal", err)
		return
	}
	t := &Terminal{Present: s.terminal != 0}
	if g.c.Terminal = t; !t.Present {
		return
	}
	major, minor := s.terminal>>8&0xfff, s.terminal&0xff|s.terminal>>12&0xfff00
	front := s.foreground == s.group
	t.Device, t.Foreground = fmt.Sprintf("%d:%d", major, minor), &front
	switch {
	case major >= 136 && major <= 143: // Unix98 terminals, 256 to a major
		t.Name = fmt.Sprintf("/dev/pts/%d", (major-136)<<8|minor)
	case major == 4 && minor < 64:
		t.Name = fmt.Sprintf("/dev/tty%d", minor)
	case major == 4:
		t.Name = fmt.Sprintf("/dev/ttyS%d", minor-64)
	case major == 5 && minor == 1:
		t.Name = "/dev/console"
	}
}
