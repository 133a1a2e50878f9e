// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const recordedStatus = "Name:\tsh\\nGid:\t0\nUmask:\t0027\nState:\tS (sleeping)\nTgid:\t12\nNSpid:\t12\t3\n" +
	"Uid:\t1000\t0\t0\t1000\nGid:\t100\t101\t102\t103\nGroups:\t4 27 4242 \n" +
	"CapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\nCapEff:\t0000000000002000\nCapBnd:\t800001ffffffffff\nCapAmb:\t0000000000000001\n" +
	"NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t3\n"

func TestParseStatus(t *testing.T) {
	s := parseStatus(recordedStatus)
	if s["Name"] != `sh\nGid:	0` || s["Umask"] != "0027" || s["Seccomp_filters"] != "3" {
		t.Errorf("got %v", s)
	}
	for field, want := range map[string][]uint32{"Uid": {1000, 0, 0, 1000}, "Gid": {100, 101, 102, 103}, "Groups": {4, 27, 4242}, "NSpid": {12, 3}} {
		if got, err := s.numbers(field); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: got %v, %v", field, got, err)
		}
	}
	if _, err := s.numbers("None"); err == nil {
		t.Error("a field that is missing is no error")
	}
	eff, err := s.capSet("CapEff")
	if err != nil || !cmp.Equal(eff, []string{"cap_net_raw"}) {
		t.Errorf("got %v, %v", eff, err)
	}
	bnd, _ := s.capSet("CapBnd")
	if len(bnd) != 42 || bnd[40] != "cap_checkpoint_restore" || bnd[41] != "cap_63" {
		t.Errorf("got %v", bnd)
	}
	if inh, _ := s.capSet("CapInh"); inh == nil || len(inh) != 0 {
		t.Errorf("an empty set is %#v: none must not look like unknown", inh)
	}
	if _, err := s.capSet("None"); err == nil {
		t.Error("a set that is missing is no error")
	}
}

func TestParseStat(t *testing.T) {
	for content, want := range map[string]statFile{
		"12 (sh) S 1 12 12 34816 12 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 1 2\n":                 {"S", 1, 12, 34816, 12},
		"12 (a) R 9 9 (x) T 7 8 6 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 1 2\n":              {"T", 7, 8, 0, -1},
		"12 (\n) S 1 12 12 1025 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 18446744073709551615\n": {"S", 1, 12, 1025, -1},
	} {
		if got, err := parseStat(content); err != nil || got != want {
			t.Errorf("%q: got %v, %v", content, got, err)
		}
	}
	for _, content := range []string{"", "12 (sh", "12 (sh) S 1", "12 (sh) S x 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"} {
		if got, err := parseStat(content); err == nil {
			t.Errorf("%q: got %v", content, got)
		}
	}
}

func TestParseMaps(t *testing.T) {
	got, err := parseMap("         0       1000          1\n         1     100000      65536\n")
	if want := []Mapping{{0, 1000, 1}, {1, 100000, 65536}}; err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for id, want := range map[uint32]bool{0: true, 1: true, 65536: true, 65537: false, 4294967295: false} {
		if mapped(got, id) != want {
			t.Errorf("%d: mapped is %v", id, !want)
		}
	}
	if all := []Mapping{{0, 0, 4294967295}}; !mapped(all, 65534) || mapped(all, 4294967295) {
		t.Error("the whole map has all ids but the last")
	}
	for _, bad := range []string{"0 1\n", "0 1 2 3\n", "a b c\n", "0 1 4294967296\n", "-1 0 1\n"} {
		if got, err := parseMap(bad); err == nil {
			t.Errorf("%q: got %v", bad, got)
		}
	}
	if got, err := parseMap(""); err != nil || got == nil || len(got) != 0 {
		t.Errorf("no map yet: got %#v, %v", got, err)
	}
}

func TestParseLimits(t *testing.T) {
	var b strings.Builder
	b.WriteString("Limit                     Soft Limit           Hard Limit           Units     \n")
	for _, l := range limitNames {
		b.WriteString(l[0] + strings.Repeat(" ", 26-len(l[0])) + "1024                 unlimited            files     \n")
	}
	got, err := parseLimits(b.String())
	if err != nil || len(got) != 16 || got["nofile"] != (Limit{"1024", "unlimited"}) || got["rttime"] != got["cpu"] {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parseLimits("Max open files            x                    5 files\n"); err == nil {
		t.Error("limits that are missing are no error")
	}
}

func TestParseMountinfo(t *testing.T) {
	const content = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw,errors=remount-ro\n" +
		`31 22 0:28 /a\040b /mnt/x\012y ro,nosuid master:2 propagate_from:1 - tmpfs a\134b ro,size=4k` + "\n" +
		"32 22 0:29 / /m rw - fuse.x  rw,user_id=0\n"
	got, err := parseMountinfo(content)
	want := []Mount{
		{22, 1, "254:0", "/", "/", []string{"rw", "relatime"}, []string{"rw", "errors=remount-ro"}, "ext4", "/dev/root", []string{"shared:1"}},
		{31, 22, "0:28", "/a b", "/mnt/x\ny", []string{"ro", "nosuid"}, []string{"ro", "size=4k"}, "tmpfs", `a\b`, []string{"master:2", "propagate_from:1"}},
		{32, 22, "0:29", "/", "/m", []string{"rw"}, []string{"rw", "user_id=0"}, "fuse.x", "", []string{}},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	for _, bad := range []string{"22 1 254:0 / / rw\n", "x 1 0:1 / / rw - ext4 d rw\n", "22 1 0:1 / - ext4 d rw\n"} {
		if got, err := parseMountinfo(bad); err == nil {
			t.Errorf("%q: got %v", bad, got)
		}
	}
	m := Mount{Point: "/\x1b[2J", Source: "https://me:hunter2@host/x", Super: []string{"rw", "password=hunter2"}}.shown()
	if m.Point != `/\x1b[2J` || m.Source != "https://me:[hidden]@host/x" || m.Super[1] != "password=[hidden]" {
		t.Errorf("shown as %+v", m)
	}
}

// aclOf makes an attribute.
func aclOf(entries ...[3]uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return b
}

func TestParseACL(t *testing.T) {
	n := &names{users: map[uint32]string{65534: "nobody"}, groups: map[uint32]string{27: "sudo"}}
	const none = ^uint32(0)
	got, err := parseACL(aclOf([3]uint32{1, 6, none}, [3]uint32{2, 6, 65534}, [3]uint32{4, 4, none}, [3]uint32{8, 5, 27}, [3]uint32{16, 0, none}, [3]uint32{32, 0, none}), n.inACL)
	want := []ACLEntry{
		{Tag: "owner", Perm: "rw-"}, {Tag: "user", ID: &ID{ID: 65534, Name: "nobody"}, Perm: "rw-"}, {Tag: "owning group", Perm: "r--"},
		{Tag: "group", ID: &ID{ID: 27, Name: "sudo"}, Perm: "r-x"}, {Tag: "mask", Perm: "---"}, {Tag: "other", Perm: "---"},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
	for _, bad := range [][]byte{nil, {2, 0, 0}, {1, 0, 0, 0}, append(aclOf(), 1), aclOf([3]uint32{3, 7, none})} {
		if got, err := parseACL(bad, n.inACL); err == nil {
			t.Errorf("%v: got %v", bad, got)
		}
	}
}

func TestParseFileCaps(t *testing.T) {
	words := func(w ...uint32) (b []byte) {
		for _, n := range w {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		return b
	}
	root := uint32(1000)
	for _, c := range []struct {
		attribute []byte
		want      *FileCaps
	}{
		{words(0x02000001, 1<<13, 0, 0, 0), &FileCaps{Permitted: []string{"cap_net_raw"}, Inheritable: []string{}, Effective: true}},
		{words(0x03000000, 0, 1, 1<<7, 0, 1000), &FileCaps{Permitted: []string{"cap_bpf"}, Inheritable: []string{"cap_chown"}, RootUID: &root}},
		{words(0x03000000, 0, 1, 1<<7, 0), nil}, {words(0x01000000, 1, 1), nil}, {words(0x04000000, 1, 1, 1, 1), nil}, {nil, nil},
	} {
		got, err := parseFileCaps(c.attribute)
		if (err != nil) != (c.want == nil) || !cmp.Equal(got, c.want) {
			t.Errorf("%v: %v\n%s", c.attribute, err, cmp.Diff(c.want, got))
		}
	}
}

func TestParseCgroup(t *testing.T) {
	got := parseCgroup("9:name=systemd:/\n4:memory:/a:b\n2:cpuacct,cpu:/\n0::/user.slice/x\nbad\n")
	if want := map[string]string{"memory": "/a:b", "cpuacct": "/", "cpu": "/", "": "/user.slice/x"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	for name, want := range map[string][]string{"/a/b": {"/a/b", "/a", "/"}, "/": {"/"}, "/../x": nil, "x": nil} {
		if got := levelsOf(name); !cmp.Equal(got, want) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	for _, c := range []struct{ root, point, name, want string }{
		{"/", "/sys/fs/cgroup", "/a", "/sys/fs/cgroup/a"}, {"/docker/1", "/cg", "/docker/1/x", "/cg/x"},
		{"/docker/1", "/cg", "/docker/1", "/cg"}, {"/docker/1", "/cg", "/docker/12", ""}, {"/docker/1", "/cg", "/docker", ""},
	} {
		if got, _ := below(Mount{Root: c.root, Point: c.point}, c.name); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

func TestParseNames(t *testing.T) {
	got := parseNames("root:x:0:0:root:/root:/bin/sh\n# no\n+::::::\nbad\ntoor:x:0:0::/:\nev\x1bil:x:7:\nlast:x:4294967295:")
	if want := map[uint32]string{0: "root", 7: `ev\x1bil`, 4294967295: "last"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestParseNetTables(t *testing.T) {
	unix := parseUnixTable("Num       RefCount Protocol Flags    Type St Inode Path\n" +
		"0000000000000000: 00000002 00000000 00010000 0001 01 12345 /run/a b.sock\n0000000000000000: 00000003 00000000 00000000 0001 03   678\nodd\n")
	if want := map[uint64]SocketInfo{12345: {Local: "/run/a b.sock", Listening: true}, 678: {}}; !cmp.Equal(unix, want) {
		t.Error(cmp.Diff(want, unix))
	}
	if !listensAt(unix, "/run/a b.sock") || listensAt(unix, "/run/a") || listensAt(unix, "") {
		t.Error("the listener is not told from others")
	}
	inet := parseInetTable("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0 100 0 0 10 0\n" +
		"   1: 0100007F:1F90 0200007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 112 1 0 100 0 0 10 0\n" +
		"   2: 00000000000000000000000001000000:0050 0000000000000000FFFF00000100007F:0051 01 0:0 00:0 0 0 0 113 1\n")
	want := map[uint64]SocketInfo{
		111: {Local: "127.0.0.1:8080", Listening: true}, 112: {Local: "127.0.0.1:8080", Remote: "127.0.0.2:49152"},
		113: {Local: "[::1]:80", Remote: "127.0.0.1:81"},
	}
	if !cmp.Equal(inet, want) {
		t.Error(cmp.Diff(want, inet))
	}
}
