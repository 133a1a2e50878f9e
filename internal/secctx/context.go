// SPDX-License-Identifier: Apache-2.0

package secctx

// Schema is the version of the JSON form. A field that is added does not
// change it; one that goes, or means something else, does.
const Schema = 1

// Context is the security context of one process.
type Context struct {
	Schema int   `json:"schema"`
	Taken  Taken `json:"taken"`

	Program       Program              `json:"program"`
	Identity      Identity             `json:"identity"`
	Capabilities  Capabilities         `json:"capabilities"`
	Confinement   Confinement          `json:"confinement"`
	Namespaces    map[string]Namespace `json:"namespaces,omitempty"`
	UserNamespace UserNamespace        `json:"user_namespace"`
	Environment   *Environment         `json:"environment,omitempty"`
	Descriptors   *List[Descriptor]    `json:"descriptors,omitempty"`
	Mounts        *List[Mount]         `json:"mounts,omitempty"`
	Paths         []Path               `json:"paths,omitempty"`
	Limits        map[string]Limit     `json:"limits,omitempty"`
	Cgroup        Cgroup               `json:"cgroup"`
	Terminal      *Terminal            `json:"terminal,omitempty"`
	Sockets       []Socket             `json:"sockets,omitempty"`
	Kernel        Kernel               `json:"kernel"`

	// Unknown says why something is not there, by the name of its field:
	// "environment", "paths.0.components.3.acl".
	Unknown map[string]Reason `json:"unknown,omitempty"`
}

// Reason says why something could not be read.
type Reason struct {
	// Errno is what the kernel answered ("EACCES"), empty if it was not asked.
	Errno string `json:"errno,omitempty"`
	Why   string `json:"why"`
	// Needs says what it would take, empty if nothing would help.
	Needs string `json:"needs,omitempty"`
}

// Taken says what was looked at, and how. It is no part of the context: two
// contexts that differ here alone are equal.
type Taken struct {
	// Of is "self" (what a program gets that is started where ambit was),
	// "pid", or "started" (a program that ambit started and stopped).
	Of  string `json:"of"`
	PID int    `json:"pid"`
	// Argv is what was started.
	Argv *List[string] `json:"argv,omitempty"`
	// Changed says that the process changed its program or its identity
	// while it was looked at, so that the parts may not fit together.
	Changed bool `json:"changed"`
	// Notes are sentences on how far this context can be trusted.
	Notes []string `json:"notes,omitempty"`
	// Record is the descriptor that this context was written to, where that
	// is not what the process had for itself; -1 is none.
	Record int `json:"record"`
}

// List is a list that may have been cut: it holds the first of Total items.
type List[T any] struct {
	Items []T `json:"items"`
	Total int `json:"total"`
}

// listOf cuts a list.
func listOf[T any](items []T, most int) *List[T] {
	l := &List[T]{Items: items, Total: len(items)}
	if len(items) > most {
		l.Items = items[:most:most]
	}
	if l.Items == nil {
		l.Items = []T{}
	}
	return l
}

// Program is what runs, and where.
type Program struct {
	Executable string        `json:"executable,omitempty"`
	Arguments  *List[string] `json:"arguments,omitempty"`
	Cwd        string        `json:"cwd,omitempty"`
	Root       string        `json:"root,omitempty"`
}

// ID is a user or group number, and its name in the files of the process's
// own root.
type ID struct {
	ID   uint32 `json:"id"`
	Name string `json:"name,omitempty"`
	// Unmapped says that the number stands for one that has none in the
	// user namespace of the reader.
	Unmapped bool `json:"unmapped,omitempty"`
}

// IDs are the four user or group ids of a process (credentials(7)).
type IDs struct {
	Real      ID `json:"real"`
	Effective ID `json:"effective"`
	Saved     ID `json:"saved"`
	FS        ID `json:"fs"`
}

// Identity is who a process is. Numbers are those of the reader's user
// namespace.
type Identity struct {
	User   *IDs      `json:"user,omitempty"`
	Group  *IDs      `json:"group,omitempty"`
	Groups *List[ID] `json:"groups,omitempty"`
	Umask  string    `json:"umask,omitempty"`
}

// Capabilities are the five sets by name, and the secure bits
// (capabilities(7)). They count in the process's own user namespace, and for
// what that one owns.
type Capabilities struct {
	Effective   []string `json:"effective,omitzero"`
	Permitted   []string `json:"permitted,omitzero"`
	Inheritable []string `json:"inheritable,omitzero"`
	Bounding    []string `json:"bounding,omitzero"`
	Ambient     []string `json:"ambient,omitzero"`
	Securebits  []string `json:"securebits,omitzero"`
}

// Confinement is what a process can't get rid of any more.
type Confinement struct {
	NoNewPrivs *bool `json:"no_new_privs,omitempty"`
	// Seccomp is "none", "strict" or "filter".
	Seccomp        string `json:"seccomp,omitempty"`
	SeccompFilters *int   `json:"seccomp_filters,omitempty"`
	LandlockLayers *int   `json:"landlock_layers,omitempty"`
	// Labels are those of the security modules, by their names.
	Labels map[string]string `json:"labels,omitzero"`
}

// Namespace is one namespace of a process.
type Namespace struct {
	Inode uint64 `json:"inode"`
	// ID is never used again, as inode numbers are; 0 is none (before Linux
	// 6.18).
	ID uint64 `json:"id,omitempty"`
	// Owner is the user namespace that owns it, whose capabilities count
	// for it; of a user namespace it is the parent.
	Owner *uint64 `json:"owner,omitempty"`
	// OwnerUID is the user who made a user namespace.
	OwnerUID *uint32 `json:"owner_uid,omitempty"`
}

// UserNamespace says how ids are mapped.
type UserNamespace struct {
	UIDMap    *List[Mapping] `json:"uid_map,omitempty"`
	GIDMap    *List[Mapping] `json:"gid_map,omitempty"`
	Setgroups string         `json:"setgroups,omitempty"`
}

// Mapping maps Count ids from Inside on to those from Outside on, as the
// reader's user namespace numbers them (user_namespaces(7)).
type Mapping struct {
	Inside  uint32 `json:"inside"`
	Outside uint32 `json:"outside"`
	Count   uint32 `json:"count"`
}

// Environment is which variables a process was started with.
type Environment struct {
	Names List[string] `json:"names"`
	// Compared holds salted digests of a few variables that are no secrets,
	// only to tell whether two contexts have the same; see [compared].
	Compared map[string]string `json:"compared,omitempty"`
	// Salt tells which salt: digests of different ones can't be compared.
	Salt string `json:"salt,omitempty"`
}

// Limit is a resource limit: a number, or "unlimited".
type Limit struct {
	Soft string `json:"soft"`
	Hard string `json:"hard"`
}

// Terminal is the controlling terminal.
type Terminal struct {
	Present bool `json:"present"`
	// Device is its number ("136:0"), Name the name that follows from it.
	Device     string `json:"device,omitempty"`
	Name       string `json:"name,omitempty"`
	Foreground *bool  `json:"foreground,omitempty"`
}

// Socket is a socket that programs look for: whether it is there.
type Socket struct {
	Name     string `json:"name"`
	Variable string `json:"variable"`
	// Set says whether the variable is set; Path is then where it points to,
	// or the usual place.
	Set  bool   `json:"set"`
	Path string `json:"path,omitempty"`
	// State is "none" (nothing points to one), "present", "absent",
	// "refused", "not a socket", "elsewhere" (not a path), or "unknown".
	State string `json:"state"`
	// Listening says whether the network namespace lists a listener under
	// this path; what listens in another one is not listed.
	Listening *bool  `json:"listening,omitempty"`
	Errno     string `json:"errno,omitempty"`
}

// Kernel is what the host decides for all of its processes.
type Kernel struct {
	Release  string   `json:"release,omitempty"`
	Modules  []string `json:"modules,omitzero"`
	Lockdown string   `json:"lockdown,omitempty"`
	// Sysctls are the settings that can refuse something, as the reader
	// sees them; Absent are those that this kernel does not have.
	Sysctls map[string]string `json:"sysctls,omitempty"`
	Absent  []string          `json:"absent,omitempty"`
}

// Cgroup is the control group, with the limits on the way to its root.
type Cgroup struct {
	// Paths are the groups by controller; "" is version 2.
	Paths map[string]string `json:"paths,omitempty"`
	// Levels are the groups that could be read, the process's own first.
	Levels []CgroupLevel `json:"levels,omitempty"`
}

// CgroupLevel is the content of the files that limit a group, and of those
// that count what was refused ("pids.events").
type CgroupLevel struct {
	Controller string            `json:"controller"`
	Path       string            `json:"path"`
	Values     map[string]string `json:"values"`
}
