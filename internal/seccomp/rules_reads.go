// SPDX-License-Identifier: Apache-2.0

package seccomp

// readCalls tell what is in extended attributes. The two by descriptor are
// among them for descriptors of access mode 3, which Landlock lets be opened
// on every file (TestAttributes of the broker).
var (
	readCalls       = []call{callGetxattr, callLgetxattr, callFgetxattr, callListxattr, callLlistxattr, callFlistxattr}
	readStructCalls = []call{callGetxattrat, callListxattrat}
)

const (
	readReason = "tells the extended attributes of files that may not be read, which no Landlock right covers"
	readSource = "security_inode_getxattr and security_inode_listxattr have no hook in security/landlock/fs.c"

	watchReason = "tells the names of files in folders that may not be listed, as events, which no Landlock right covers"
	watchSource = "security_path_notify has no hook in security/landlock/fs.c; inotify(7)"
)

// readRules are those of a verdict for what Landlock lets be read of files.
func readRules(v Verdict) []rule {
	switch v {
	case Allow:
		return nil
	case Notify:
		return readNotify
	}
	return readRefuse
}

var readNotify = []rule{
	{calls: readCalls, then: Notify, reason: readReason, source: readSource},
	{calls: []call{callInotifyAddWatch}, then: Notify, reason: watchReason, source: watchSource},
	readsNewest,
}

// Without a broker, the answer is that of a file system without attributes:
// ls and cp -a say "Permission denied" of each file, and fail, at any other.
var readRefuse = []rule{
	{calls: readCalls, errno: EOPNOTSUPP, reason: readReason, source: "getxattr(2), listxattr(2): ENOTSUP; " + readSource},
	{calls: []call{callInotifyAddWatch}, errno: EACCES, reason: watchReason, source: "inotify_add_watch(2): EACCES; " + watchSource},
	readsNewest,
}

var readsNewest = rule{
	calls: readStructCalls, errno: ENOSYS,
	reason: readReason + "; callers fall back on the older calls",
	source: "getxattrat(2), listxattrat(2): since Linux 6.13",
}
