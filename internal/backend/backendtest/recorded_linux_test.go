// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/ambit-sandbox/ambit/denial"
)

// refusedCalls are what the filter refuses and the broker records, what the
// record says, and the same call with an argument that is allowed.
var refusedCalls = []struct {
	op, outcome  string
	named, rule  string
	network      denial.Network
	control      string
	controlAfter string
}{
	{"socket 2 1 6", "EACCES", "AF_INET SOCK_STREAM socket", "network", denial.NetworkUsed, "socket 1 1 0", "OK"},
	{"socket 10 0x802 0", "EACCES", "AF_INET6 SOCK_DGRAM socket", "network", denial.NetworkUsed, "socket 1 5 0", "OK"},
	{"socket 2 2 0", "EACCES", "AF_INET SOCK_DGRAM socket", "network", denial.NetworkProbed, "socket 1 1 0", "OK"},
	{"socket 16 3 0", "EACCES", "AF_NETLINK SOCK_RAW socket", "network", denial.NetworkListed, "socket 1 1 0", "OK"},
	{"socket 40 1 0", "EACCES", "AF_VSOCK SOCK_STREAM socket", "network", "", "socket 1 1 0", "OK"},
	{"unshare 0x10000000", "EPERM", "CLONE_NEWUSER", "namespaces", "", "unshare 0x200", "OK"},
	{"mount 'none '% 'tmpfs 0 0", "EPERM", "mounts", "mounts", "", "", ""},
	{"keyctl 0 -3 0 0 0", "ENOSYS", "keyrings", "keyrings", "", "", ""},
	{"bpf 0 #72 72", "EPERM", "bpf", "bpf", "", "", ""},
	{"perf_event_open #128 0 -1 -1 0", "EACCES", "perf", "perf", "", "", ""},
	{"setpriority 1 0 1", "EPERM", "processes", "processes", "", "setpriority 0 0 1", "OK"},
}

// TestFilterRecorded: a call that the filter refuses gets the errno that the
// rule says, and stands in the receipt with what it asked for. A call that the
// filter refuses bare does not.
func TestFilterRecorded(t *testing.T) {
	w := newWorld(t)
	receipt := w.at("outside/receipt")
	flags := w.policyFlags("--receipt", receipt)
	for _, c := range refusedCalls {
		ops := [][]string{words(c.op, w.dir), words("clone3 #88 88", w.dir)}
		if c.control != "" {
			ops = append(ops, words(c.control, w.dir))
		}
		got := w.inside(flags, ops...)
		if got[0].outcome != c.outcome || got[1].outcome != "ENOSYS" || c.control != "" && got[2].outcome != c.controlAfter {
			t.Errorf("%s: %+v", c.op, got)
		}
		list := w.denials(receipt)
		if !w.records() {
			if len(list) != 0 {
				t.Errorf("%s: recorded without a broker: %+v", c.op, list)
			}
			continue
		}
		if len(list) != 1 {
			t.Errorf("%s: %d denials: %+v", c.op, len(list), list)
			continue
		}
		d := list[0]
		if d.Call != strings.Fields(c.op)[0] || d.Named != c.named || d.Errno != c.outcome || d.Filter != c.rule || d.Network != c.network || d.PID == 0 || d.Reason == "" || d.Count != 0 {
			t.Errorf("%s: %+v", c.op, d)
		}
	}
	if cost := w.syscallsCost(); strings.Contains(cost, "not recorded") == w.records() {
		t.Errorf("the coverage says %q, and refusals are recorded: %v", cost, w.records())
	}
}

// TestFilterLoop: refused calls in a loop are one denial with their number,
// and what was refused before is still there.
func TestFilterLoop(t *testing.T) {
	w := newWorld(t)
	if !w.records() {
		t.Skip("this kernel has no broker, so refusals of the filter are not recorded")
	}
	const many = 1000
	receipt := w.at("outside/receipt")
	ops := [][]string{words("unshare 0x10000000", w.dir)}
	for range many {
		ops = append(ops, words("socket 2 1 0", w.dir))
	}
	for i, r := range w.inside(w.policyFlags("--receipt", receipt), ops...) {
		if want := map[bool]string{true: "EPERM", false: "EACCES"}[i == 0]; r.outcome != want {
			t.Fatalf("call %d: %s", i, r.outcome)
		}
	}
	list := w.denials(receipt)
	if len(list) != 2 || list[0].Call != "unshare" || list[0].Count != 0 || list[1].Call != "socket" || list[1].Count != many {
		t.Errorf("%+v", list)
	}
}

// denials reads those of a receipt.
func (w *world) denials(receipt string) []denial.Denial {
	b, err := os.ReadFile(receipt)
	w.must(err)
	var r struct{ Denials []denial.Denial }
	w.must(json.Unmarshal(b, &r))
	return r.Denials
}

// records reports whether this kernel can trap calls to a broker: its features
// came with Linux 5.19, as did LANDLOCK_ACCESS_FS_REFER (ABI 2).
func (w *world) records() bool { return landlockABI() >= abiRefer }

// syscallsCost is what the coverage says that the filter costs.
func (w *world) syscallsCost() string {
	w.Helper()
	cmd := w.sandbox(w.policyFlags(), "/bin/true")
	cmd.Args = append([]string{cmd.Args[0], "run", "--json"}, cmd.Args[2:]...)
	for _, l := range decode[answer](w, succeed(w, cmd).stdout).Receipt.Coverage {
		if l.Item == "syscalls" {
			return l.Reason
		}
	}
	w.Error("the coverage says nothing of syscalls")
	return ""
}
