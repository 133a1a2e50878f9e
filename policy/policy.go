// SPDX-License-Identifier: Apache-2.0

// Package policy says what a sandboxed command may do. It is data only: it
// decodes, checks, merges and resolves policies, and knows nothing of how a
// kernel enforces them.
//
// A policy is written as JSON with comments. Several policies (built-in,
// files, command-line flags) are layers: [Resolve] merges them into one
// [Resolved], in which every path is absolute and every variable replaced.
package policy

import "time"

// Policy is one layer, as a user writes it. A field that is absent (nil, or
// the empty string) leaves the decision to the layers below.
type Policy struct {
	// Extends names the built-in policy that this layer starts from:
	// "workspace" (the default policy of a project), "system" (the operating
	// system's programs and libraries only) or "none". The last layer that
	// names one decides. See [Builtin].
	Extends string `json:"extends,omitempty"`

	// ReadPaths are readable and executable, not writable.
	ReadPaths []string `json:"read_paths,omitempty"`
	// WritePaths are readable, executable and writable.
	WritePaths []string `json:"write_paths,omitempty"`
	// BlockedPaths are neither readable nor writable, and win over
	// ReadPaths and WritePaths wherever they are nested. In the two block
	// lists an entry may be a [Pattern].
	BlockedPaths []string `json:"blocked_paths,omitempty"`
	// BlockedWritePaths are readable where a grant covers them, and never
	// writable; they win over WritePaths.
	BlockedWritePaths []string `json:"blocked_write_paths,omitempty"`

	// WorkDir is the command's working directory. A policy that sets it makes
	// it readable, and grants nothing on its parent. The default, the
	// caller's current directory, is where the command starts and grants
	// nothing by itself.
	WorkDir string `json:"work_dir,omitempty"`
	// AllowNetwork opens the network. Absent means no network.
	AllowNetwork *bool `json:"allow_network,omitempty"`
	// PrivateTmp gives the command a temporary folder of its own, made
	// before and removed after the run; TMPDIR names it.
	PrivateTmp *bool `json:"private_tmp,omitempty"`
	// Strict makes a listed path that is missing or unreadable an error
	// instead of a line in the receipt.
	Strict *bool `json:"strict,omitempty"`

	Env     *Env              `json:"env,omitempty"`
	Secrets map[string]Secret `json:"secrets,omitempty"`
	Limits  *Limits           `json:"limits,omitempty"`

	// Unprotect names the protections of the built-in policy "workspace" that
	// do not hold ("git-hooks", see [Protections]), or "all".
	Unprotect []string `json:"unprotect,omitempty"`

	// Accept names coverage items that may stay unenforced on a host that
	// cannot enforce them. Without it such an item stops the run.
	Accept []string `json:"accept,omitempty"`
}

// Env says which environment variables the command gets. Nothing else of the
// caller's environment passes.
type Env struct {
	// Pass lists names taken from the caller's environment. A trailing "*"
	// matches any rest ("LC_*").
	Pass []string `json:"pass,omitempty"`
	// Set gives variables a value; it wins over Pass.
	Set map[string]string `json:"set,omitempty"`
}

// Secret says where the value of a secret variable comes from: exactly one
// field is set. The value itself is never part of a policy.
type Secret struct {
	// File is an absolute path; one trailing newline is cut off.
	File string `json:"file,omitempty"`
	// FD is a descriptor that the caller inherited, read to its end.
	FD *int `json:"fd,omitempty"`
	// Env is a variable of the caller's environment.
	Env string `json:"env,omitempty"`
}

// Limits bounds the command. A nil field sets no limit.
type Limits struct {
	// Timeout is the wall-clock time of the whole command ("90s", "10m").
	Timeout *Duration `json:"timeout,omitempty"`
	// OutputBytes is how many bytes of stdout and, apart from it, of stderr
	// are kept; the rest is discarded and counted.
	OutputBytes *int64 `json:"output_bytes,omitempty"`
	// MemoryBytes bounds the memory.
	MemoryBytes *int64 `json:"memory_bytes,omitempty"`
	// Processes bounds processes and threads.
	Processes *int64 `json:"processes,omitempty"`
	// OpenFiles bounds the descriptors of each process (RLIMIT_NOFILE).
	OpenFiles *int64 `json:"open_files,omitempty"`
	// CPUSeconds bounds the processor time of each process (RLIMIT_CPU).
	CPUSeconds *int64 `json:"cpu_seconds,omitempty"`
	// FileSizeBytes bounds the size of a written file (RLIMIT_FSIZE).
	FileSizeBytes *int64 `json:"file_size_bytes,omitempty"`
}

// Duration is a time.Duration that is written as a string ("90s").
type Duration time.Duration

// Layer is a policy and the name under which errors, receipts and listings
// speak of it ("built-in workspace", "/etc/ambit/policy.json", "--write").
type Layer struct {
	Name   string
	Policy Policy
	// File is the absolute path of the file that the policy was read from, or
	// empty. A run keeps it closed for writing, and refuses one that a command
	// of an earlier run could have changed.
	File string
}

// Kind is what a path rule says of its path.
type Kind string

const (
	Read         Kind = "read"
	Write        Kind = "write"
	Blocked      Kind = "blocked"
	BlockedWrite Kind = "blocked-write"
)

// PathRule is one listed path after resolution.
type PathRule struct {
	// Path is absolute, without doubled slashes, "." and a slash at the end.
	// It may hold any byte but NUL, be or contain a symbolic link, and, if it
	// came from a flag, hold "..": only a walk on the host can resolve both.
	Path string `json:"path"`
	Kind Kind   `json:"kind"`
	// Origin is the name of the layer that listed it.
	Origin string `json:"origin"`
	// Builtin marks rules of a built-in policy: they are "readable or
	// writable where present", so a missing one is not reported, and they
	// never take a right away that another layer gives at the same place or
	// below it. A built-in block holds also for a name that does not exist yet,
	// if the folder that it stands in does.
	Builtin bool `json:"builtin,omitempty"`
	// Pattern says that Path is a pattern: "*", "?" and "**" stand for others
	// in it, and "$*", "$?" and "$${" for "*", "?" and "${". Only blocks are.
	Pattern bool `json:"pattern,omitempty"`
}

// Resolved is the merged policy: the input of the plan.
type Resolved struct {
	Rules        []PathRule // in order of the layers
	WorkDir      string     // absolute
	TmpDir       string     // the private temporary folder; empty without one
	AllowNetwork bool
	PrivateTmp   bool
	Strict       bool
	Env          Env // Pass sorted, without doubles
	Secrets      map[string]Secret
	Limits       Limits
	Accept       []string // sorted, without doubles
}

// Vars are the values that path fields may start with, as "~" or ${HOME},
// ${WORK_DIR} and ${TMPDIR}. Each is absolute, or empty if it is unknown.
type Vars struct {
	Home    string // the home of the caller
	WorkDir string // the default of Policy.WorkDir
	TmpDir  string // the private temporary folder, made or to be made
}
