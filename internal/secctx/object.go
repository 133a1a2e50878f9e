// SPDX-License-Identifier: Apache-2.0

package secctx

// Descriptor is an open descriptor.
type Descriptor struct {
	FD int `json:"fd"`
	// Kind is "file", "folder", "link", "pipe", "fifo", "socket", "terminal",
	// "device", "block device", or "anonymous".
	Kind   string `json:"kind,omitempty"`
	Target string `json:"target"`
	// Access is "read", "write", "read-write" or "path".
	Access string   `json:"access,omitempty"`
	Flags  []string `json:"flags,omitempty"`
	Object *Object  `json:"object,omitempty"`
	// Deleted says that the object has no name any more.
	Deleted bool        `json:"deleted,omitempty"`
	Socket  *SocketInfo `json:"socket,omitempty"`
	// Reopen says whether the process could open the object again with the
	// same access: "yes", "no" (see ReopenErrno), or "never" for what has no
	// name to open. It is left out where that can't be told.
	Reopen      string `json:"reopen,omitempty"`
	ReopenErrno string `json:"reopen_errno,omitempty"`
}

// SocketInfo is what a socket is, and what it is connected to.
type SocketInfo struct {
	Protocol  string `json:"protocol,omitempty"`
	Local     string `json:"local,omitempty"`
	Remote    string `json:"remote,omitempty"`
	Listening bool   `json:"listening,omitempty"`
	// PeerUID is the user at the other end of a unix socket.
	PeerUID *uint32 `json:"peer_uid,omitempty"`
}

// Object identifies an object of a file system.
type Object struct {
	Inode  uint64 `json:"inode"`
	Device string `json:"device"`
	Mode   string `json:"mode"`
	Owner  ID     `json:"owner"`
	Group  ID     `json:"group"`
}

// Mount is one line of mountinfo (proc_pid_mountinfo(5)).
type Mount struct {
	ID     int    `json:"id"`
	Parent int    `json:"parent"`
	Device string `json:"device"`
	Root   string `json:"root"`
	Point  string `json:"point"`
	// Options are the mount's own, Super those of the file system.
	Options     []string `json:"options"`
	Super       []string `json:"super"`
	Type        string   `json:"type"`
	Source      string   `json:"source"`
	Propagation []string `json:"propagation,omitempty"`
}

// Path is a name that was asked about, followed step by step from the
// process's own root and working directory.
type Path struct {
	Asked string `json:"asked"`
	// End is "found", "missing", "refused" (the reader may not look), "loop"
	// or "too long".
	End   string `json:"end"`
	Errno string `json:"errno,omitempty"`
	// Object is the name without links, as far as it could be followed.
	Object     string      `json:"object"`
	Components []Component `json:"components"`
}

// Component is one step of a path: a folder on the way, a link, or the object.
type Component struct {
	// Name is where this component stands, without links on the way.
	Name string `json:"name"`
	// Kind is as in [Descriptor].
	Kind   string  `json:"kind"`
	Object *Object `json:"object,omitempty"`
	// Link is what a symbolic link says; Jump that it is one of /proc that
	// leads to an object and not to a name.
	Link string `json:"link,omitempty"`
	Jump bool   `json:"jump,omitempty"`
	// ACL and DefaultACL are left out where there is none.
	ACL        []ACLEntry `json:"acl,omitempty"`
	DefaultACL []ACLEntry `json:"default_acl,omitempty"`
	// Attributes are of "immutable", "append", "verity".
	Attributes []string          `json:"attributes,omitzero"`
	Labels     map[string]string `json:"labels,omitempty"`
	FileCaps   *FileCaps         `json:"file_capabilities,omitempty"`
	Mount      *MountAt          `json:"mount,omitempty"`
	// MayRead, MayWrite and MayExecute are what access(2) says to the
	// process, for the object itself; modules that decide at open alone, as
	// Landlock does, have no say in it.
	MayRead    *bool `json:"may_read,omitempty"`
	MayWrite   *bool `json:"may_write,omitempty"`
	MayExecute *bool `json:"may_execute,omitempty"`
}

// MountAt is the mount that a component is on.
type MountAt struct {
	ID      int      `json:"id"`
	Point   string   `json:"point"`
	Type    string   `json:"type"`
	Options []string `json:"options"`
	Super   []string `json:"super"`
	// Top says that the component is the root of the mount.
	Top bool `json:"top"`
}

// ACLEntry is one entry of an access control list (acl(5)).
type ACLEntry struct {
	// Tag is "owner", "user", "owning group", "group", "mask" or "other".
	Tag string `json:"tag"`
	// ID is whom a "user" or "group" entry is about.
	ID *ID `json:"id,omitempty"`
	// Perm is as ls shows it: "r-x".
	Perm string `json:"perm"`
}

// FileCaps are the capabilities of a program file (capabilities(7)).
type FileCaps struct {
	Permitted   []string `json:"permitted"`
	Inheritable []string `json:"inheritable"`
	// Effective says that a program which can't get them is not executed.
	Effective bool `json:"effective"`
	// RootUID is the root user of the namespace that they count in.
	RootUID *uint32 `json:"root_uid,omitempty"`
}
