// SPDX-License-Identifier: Apache-2.0

package secctx

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

// recorded is a context as it could have been gathered.
func recorded() *Context {
	one := ID{ID: 1000, Name: "me"}
	ids := func() *IDs { return &IDs{one, one, one, one} }
	folder := func(name string, inode uint64) Component {
		return Component{
			Name: name, Kind: "folder", Object: &Object{inode, "254:0", "0755", ID{}, ID{}}, Attributes: []string{},
			Mount:   &MountAt{22, "/", "ext4", []string{"rw", "relatime"}, []string{"rw"}, name == "/"},
			MayRead: ptr(true), MayWrite: ptr(false), MayExecute: ptr(true),
		}
	}
	file := folder("/srv/f", 4)
	file.Kind, file.MayWrite = "file", ptr(true)
	file.ACL = []ACLEntry{{Tag: "owner", Perm: "rw-"}, {Tag: "user", ID: &one, Perm: "rw-"}, {Tag: "mask", Perm: "rw-"}}
	return &Context{
		Schema: Schema, Taken: Taken{Of: "self", PID: 10, Record: -1},
		Program:      Program{"/usr/bin/x", listOf([]string{"x"}, 9), "/home/me", "/"},
		Identity:     Identity{ids(), ids(), listOf([]ID{{ID: 27, Name: "sudo"}, {ID: 4242, Name: "sockusers"}}, 9), "0022"},
		Capabilities: Capabilities{[]string{"cap_kill"}, []string{"cap_kill"}, []string{}, []string{"cap_kill", "cap_net_raw"}, []string{}, []string{}},
		Confinement:  Confinement{ptr(false), "none", ptr(0), ptr(0), map[string]string{"apparmor": "unconfined"}},
		Namespaces:   map[string]Namespace{"user": {Inode: 1}, "net": {Inode: 2, Owner: ptr(uint64(1))}, "mnt": {Inode: 3, Owner: ptr(uint64(1))}},
		UserNamespace: UserNamespace{
			listOf([]Mapping{{0, 0, 4294967295}}, 9), listOf([]Mapping{{0, 0, 4294967295}}, 9), "allow"},
		Environment: &Environment{*listOf([]string{"HOME", "PATH", "TOKEN"}, 9), map[string]string{"HOME": "aa", "PATH": "bb"}, "salt"},
		Descriptors: listOf([]Descriptor{{FD: 0, Kind: "terminal", Access: "read-write", Reopen: "yes"}, {FD: 1, Kind: "pipe", Access: "write"}, {FD: 5, Kind: "file", Access: "read", Reopen: "yes"}}, 9),
		Mounts: listOf([]Mount{
			{22, 1, "254:0", "/", "/", []string{"rw"}, []string{"rw"}, "ext4", "/dev/root", nil},
			{23, 22, "0:30", "/", "/tmp", []string{"rw", "nosuid"}, []string{"rw"}, "tmpfs", "tmpfs", nil},
		}, 9),
		Paths:    []Path{{Asked: "/srv/f", End: "found", Object: "/srv/f", Components: []Component{folder("/", 2), folder("/srv", 3), file}}},
		Limits:   map[string]Limit{"nofile": {"1024", "4096"}, "core": {"0", "0"}},
		Cgroup:   Cgroup{map[string]string{"": "/a"}, []CgroupLevel{{"", "/a", map[string]string{"pids.max": "max", "pids.events": "max 0", "memory.events": "low 0, max 0, oom 0"}}, {"", "/", map[string]string{"pids.max": "900"}}}},
		Terminal: &Terminal{true, "136:0", "/dev/pts/0", ptr(true)},
		Sockets:  []Socket{{Name: "docker", Variable: "DOCKER_HOST", Path: "/d", State: "present", Listening: ptr(true)}, {Name: "x11", Variable: "DISPLAY", State: "none"}},
		Kernel:   Kernel{"6.1", []string{"capability", "landlock"}, "none", map[string]string{"user.max_user_namespaces": "100"}, nil},
		Unknown:  map[string]Reason{"cgroup.devices": {Why: "never"}},
	}
}

// TestDiff changes one thing at a time: the difference is found, and nothing
// else.
func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(c *Context)
		want   []string // cause and object
	}{
		{"nothing", func(*Context) {}, nil},
		{"what always differs", func(c *Context) {
			c.Taken.PID, c.Program.Executable, c.Program.Arguments = 99, "/y", nil
			c.Mounts.Items[0].ID, c.Mounts.Items[0].Parent, c.Paths[0].Components[0].Mount.ID = 77, 76, 77
			c.Descriptors.Items[1].Target, c.Descriptors.Items[1].Object = "pipe:[7]", &Object{Inode: 7}
			c.Limits["core"] = Limit{"1", "1"}
			c.Cgroup.Paths[""] = "/b"
			c.Environment.Names.Items = append([]string{"OLDPWD", "SHLVL", "_"}, c.Environment.Names.Items...)
			c.Environment.Names.Total += 3
		}, nil},
		{"group lost", func(c *Context) { c.Identity.Groups = listOf([]ID{{ID: 27, Name: "sudo"}}, 9) }, []string{"identity.group_lost 4242 (sockusers)"}},
		{"group gained", func(c *Context) {
			c.Identity.Groups.Items = append(c.Identity.Groups.Items, ID{ID: 5})
			c.Identity.Groups.Total++
		}, []string{"identity.group_gained 5"}},
		{"same name, other number", func(c *Context) { c.Identity.Groups.Items[1].ID = 4343 }, []string{"identity.group_number sockusers"}},
		{"same number, other name", func(c *Context) { c.Identity.Groups.Items[1].Name = "others" }, nil},
		{"user", func(c *Context) { o := ID{ID: 7}; c.Identity.User = &IDs{o, o, o, o} }, []string{"identity.user effective"}},
		{"fsuid alone", func(c *Context) { c.Identity.User.FS = ID{ID: 7} }, []string{"identity.user fs"}},
		{"group", func(c *Context) { o := ID{ID: 7}; c.Identity.Group = &IDs{o, o, o, o} }, []string{"identity.group effective"}},
		{"umask", func(c *Context) { c.Identity.Umask = "0077" }, []string{"umask "}},
		{"capability", func(c *Context) { c.Capabilities.Effective = []string{} }, []string{"capability.lost cap_kill"}},
		{"capability gained", func(c *Context) { c.Capabilities.Effective = []string{"cap_kill", "cap_bpf"} }, []string{"capability.gained cap_bpf"}},
		{"bounding", func(c *Context) { c.Capabilities.Bounding = []string{"cap_kill"} }, []string{"capability.bounding bounding"}},
		{"securebits", func(c *Context) { c.Capabilities.Securebits = []string{"noroot"} }, []string{"securebits "}},
		{"no_new_privs", func(c *Context) { c.Confinement.NoNewPrivs = ptr(true) }, []string{"no_new_privs "}},
		{"seccomp", func(c *Context) { c.Confinement.Seccomp, c.Confinement.SeccompFilters = "filter", ptr(1) }, []string{"seccomp "}},
		{"landlock", func(c *Context) { c.Confinement.LandlockLayers = ptr(1) }, []string{"landlock layers"}},
		{"label", func(c *Context) { c.Confinement.Labels = map[string]string{"apparmor": "docker-default (enforce)"} }, []string{"label apparmor"}},
		{"user namespace", func(c *Context) {
			c.Namespaces["user"] = Namespace{Inode: 9}
			c.UserNamespace.UIDMap, c.UserNamespace.Setgroups = listOf([]Mapping{{0, 1000, 1}}, 9), "deny"
		}, []string{"namespace.user ", "namespace.user net,mnt", "user_namespace.map uid", "user_namespace.setgroups "}},
		{"net namespace", func(c *Context) { c.Namespaces["net"] = Namespace{Inode: 9} }, []string{"namespace net"}},
		{"root", func(c *Context) { c.Program.Root = "/jail" }, []string{"root "}},
		{"cwd", func(c *Context) { c.Program.Cwd = "/" }, []string{"cwd "}},
		{"terminal", func(c *Context) { c.Terminal = &Terminal{} }, []string{"terminal "}},
		{"background", func(c *Context) { c.Terminal.Foreground = ptr(false) }, []string{"terminal foreground"}},
		{"limit", func(c *Context) { c.Limits["nofile"] = Limit{"64", "64"} }, []string{"limit nofile"}},
		{"cgroup", func(c *Context) { c.Cgroup.Levels[0].Values["pids.max"] = "12" }, []string{"cgroup pids.max"}},
		{"cgroup above the tighter one", func(c *Context) { c.Cgroup.Levels[0].Values["pids.max"] = "1000" }, nil},
		{"cgroup refused", func(c *Context) { c.Cgroup.Levels[0].Values["pids.events"] = "max 3" }, []string{"cgroup.refused pids.events"}},
		{"killed for memory", func(c *Context) { c.Cgroup.Levels[0].Values["memory.events"] = "low 0, max 9, oom 2" }, []string{"cgroup.refused memory.events"}},
		{"memory was reclaimed", func(c *Context) { c.Cgroup.Levels[0].Values["memory.events"] = "low 0, max 9, oom 0" }, nil},
		{"environment missing", func(c *Context) { c.Environment.Names = *listOf([]string{"HOME", "PATH"}, 9) }, []string{"environment.missing 1"}},
		{"environment added", func(c *Context) { c.Environment.Names.Items[2] = "ZOKEN" }, []string{"environment.missing 1", "environment.added 1"}},
		{"environment differs", func(c *Context) { c.Environment.Compared["PATH"] = "cc" }, []string{"environment.differs PATH"}},
		{"another salt", func(c *Context) { c.Environment.Compared["PATH"], c.Environment.Salt = "cc", "other" }, nil},
		{"descriptor closed", func(c *Context) { c.Descriptors = listOf(c.Descriptors.Items[:2], 9) }, []string{"descriptor 5"}},
		{"descriptor is another", func(c *Context) { c.Descriptors.Items[0].Kind = "file" }, []string{"descriptor 0"}},
		{"descriptor recorded to", func(c *Context) { c.Descriptors.Items[1].Kind, c.Taken.Record = "file", 1 }, nil},
		{"descriptor reopens", func(c *Context) { c.Descriptors.Items[2].Reopen = "no" }, []string{"descriptor 5"}},
		{"socket gone", func(c *Context) { c.Sockets[0].State = "absent" }, []string{"socket docker"}},
		{"socket is not looked for", func(c *Context) { c.Sockets[1].State = "absent" }, nil},
		{"nobody listens", func(c *Context) { c.Sockets[0].Listening = ptr(false) }, []string{"socket docker"}},
		{"mount options", func(c *Context) { c.Mounts.Items[1].Options = []string{"rw", "nosuid", "noexec"} }, []string{"mount.options /tmp"}},
		{"file system is read-only", func(c *Context) { c.Mounts.Items[1].Super = []string{"ro"} }, []string{"mount.options /tmp"}},
		{"atime", func(c *Context) { c.Mounts.Items[1].Options = []string{"rw", "nosuid", "noatime"} }, nil},
		{"mount missing", func(c *Context) { c.Mounts = listOf(c.Mounts.Items[:1], 9) }, []string{"mount.missing /tmp"}},
		{"mount other", func(c *Context) { c.Mounts.Items[1].Device = "0:99" }, []string{"mount.other /tmp"}},
		{"mount added", func(c *Context) {
			c.Mounts = listOf(append(c.Mounts.Items, Mount{ID: 30, Device: "0:31", Root: "/", Point: "/run", Type: "tmpfs"}), 9)
		}, []string{"mount.added /run"}},
		{"cut table", func(c *Context) { c.Mounts.Items = c.Mounts.Items[:1] }, nil},
		{"path missing", func(c *Context) {
			p := &c.Paths[0]
			p.End, p.Errno, p.Components = "missing", "ENOENT", p.Components[:2]
		}, []string{"path.end /srv/f"}},
		{"path object", func(c *Context) {
			c.Paths[0].Components[1].Object.Inode, c.Paths[0].Components[2].Object.Inode = 33, 34
		}, []string{"path.object /srv"}},
		{"path mount", func(c *Context) {
			for i := range 2 {
				c.Paths[0].Components[i+1].Mount = &MountAt{40, "/srv", "ext4", []string{"ro"}, []string{"rw"}, i == 0}
			}
		}, []string{"path.mount /srv"}},
		{"path owner", func(c *Context) { c.Paths[0].Components[2].Object.Owner = ID{ID: 65534, Unmapped: true} }, []string{"path.owner /srv/f"}},
		{"path mode", func(c *Context) { c.Paths[0].Components[1].Object.Mode = "0700" }, []string{"path.mode /srv"}},
		{"path acl mask", func(c *Context) { c.Paths[0].Components[2].ACL[2].Perm = "---" }, []string{"path.acl /srv/f"}},
		{"path attributes", func(c *Context) { c.Paths[0].Components[2].Attributes = []string{"immutable"} }, []string{"path.attributes /srv/f"}},
		{"path access", func(c *Context) { c.Paths[0].Components[2].MayWrite = ptr(false) }, []string{"path.access /srv/f"}},
		{"path on the way", func(c *Context) { c.Paths[0].Components[1].MayWrite = ptr(true) }, nil},
		{"path search", func(c *Context) { c.Paths[0].Components[1].MayExecute = ptr(false) }, []string{"path.access /srv"}},
		{"sysctl", func(c *Context) { c.Kernel.Sysctls["user.max_user_namespaces"] = "0" }, []string{"sysctl user.max_user_namespaces"}},
		{"kernel", func(c *Context) { c.Kernel.Release = "5.4" }, []string{"kernel release"}},
	} {
		b := recorded()
		c.change(b)
		var got []string
		for _, f := range Diff(recorded(), b).Findings {
			got = append(got, string(f.Cause)+" "+f.Object)
			if f.Why == "" || f.A == f.B {
				t.Errorf("%s: %+v does not say why, or shows no difference", c.name, f)
			}
			if !slices.Contains(Causes(), f.Cause) {
				t.Errorf("%s: %s is not among the causes", c.name, f.Cause)
			}
		}
		if !cmp.Equal(got, c.want) {
			t.Errorf("%s: %s", c.name, cmp.Diff(c.want, got))
		}
	}
}

// TestDiffDoesNotTakeUnknownForZero: a context that knows nothing differs in
// nothing, and the gaps are told.
func TestDiffDoesNotTakeUnknownForZero(t *testing.T) {
	blind := &Context{Schema: Schema, Kernel: Kernel{Release: "6.1"}, Unknown: map[string]Reason{"identity.groups": {Why: "hidden", Errno: "EACCES"}}}
	for _, pair := range [][2]*Context{{recorded(), blind}, {blind, recorded()}} {
		d := Diff(pair[0], pair[1])
		if len(d.Findings) > 0 {
			t.Errorf("found %+v", d.Findings)
		}
		if len(d.NotCompared) != 2 || d.NotCompared[1].Field != "identity.groups" {
			t.Errorf("not compared: %+v", d.NotCompared)
		}
	}
}

// TestDiffOrder: what is most telling comes first.
func TestDiffOrder(t *testing.T) {
	b := recorded()
	b.Identity.Umask, b.Paths[0].Components[1].Object.Mode, b.Confinement.NoNewPrivs = "0077", "0700", ptr(true)
	b.Identity.Groups = listOf([]ID{}, 9)
	var got []string
	for _, f := range Diff(recorded(), b).Findings {
		got = append(got, string(f.Cause))
	}
	if want := []string{"path.mode", "identity.group_lost", "identity.group_lost", "no_new_privs", "umask"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestDecode(t *testing.T) {
	b, err := json.Marshal(recorded())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Decode(bytes.NewReader(b))
	if err != nil || len(Diff(recorded(), c).Findings) > 0 {
		t.Fatalf("%v: a saved context differs from itself: %+v", err, Diff(recorded(), c).Findings)
	}
	for bad, want := range map[string]string{
		"": "schema is 0", "{}": "schema is 0", `{"schema":99}`: "knows 1", "[1]": "must be what", "x": "no JSON", `{"schema":1,"program":{"cwd":"\u001b[2J"}}`: "control characters",
		`{"schema":1,"limits":{"a\u009b":{}}}`: "control characters", `{"schema":"1"}`: "must be what",
	} {
		if _, err := Decode(strings.NewReader(bad)); err == nil || bad != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
